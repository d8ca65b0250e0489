import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createMovableClock } from '../../clock.ts'
import { createLoopTurns } from '../../shares/loop-turns.ts'
import type { UsageCount, UsagePage } from '../../store/usage/usage-figures.ts'
import { createUsageFigures } from './usage-figures.ts'

test('figures of many sheets and keys are read a page at a time, and others come in between', async () => {
  const clock = createMovableClock(Date.UTC(2026, 10, 15))
  const counts: UsageCount[] = Array.from({ length: 5_000 }, (_, n) => ({
    accountId: 'acc_1',
    day: '2026-11-14',
    sheetId: `sh_${n % 100}`,
    keyId: `key_${Math.floor(n / 100)}`,
    outcome: n % 2 === 0 ? 'success' : 'rate_limited',
    rowsFrom: n % 2 === 0 ? 'hit' : '',
    requests: 2,
  }))
  const asked: number[] = []
  const store = {
    activityOf: async () => new Map(),
    recentRequests: async () => [],
    async usageSince(_accountId: string, _fromDay: string, page?: UsagePage) {
      clock.advanceMs(5)
      const begin = page?.after ? counts.indexOf(page.after) + 1 : 0
      const rows = counts.slice(begin, begin + (page?.rows ?? counts.length))
      asked.push(rows.length)
      return rows
    },
    latenciesSince: async () => new Map([[3, 1]]),
    providerCallsSince: async () => new Map([['sh_1', 7]]),
  }
  const usage = { flush: async () => {} }
  const turns = createLoopTurns(clock)
  const figures = createUsageFigures({ store, usage, plans: new Map(), clock, turns })
  const account = {
    id: 'acc_1',
    slug: 'acme',
    plan: 'free',
    requestsPerMinute: null,
    requestsPerMonth: null,
    createdAtMs: Date.UTC(2026, 10, 1),
  }

  let rounds = 0
  let isOver = false
  const round = () => {
    rounds++
    if (!isOver) setImmediate(round)
  }
  setImmediate(round)
  const report = await figures.report(account, { days: 2, sheetId: null, keyId: null })
  const month = await figures.thisMonth(account)
  isOver = true
  assert.ok(Math.max(...asked) <= 1_000, `${Math.max(...asked)} rows in one go`)
  assert.ok(rounds >= asked.length - 2, `${asked.length} pages in ${rounds} rounds of the loop`)
  assert.deepEqual(report.days, [
    { day: '2026-11-14', success: 5_000, clientError: 0, rateLimited: 5_000, serverError: 0 },
    { day: '2026-11-15', success: 0, clientError: 0, rateLimited: 0, serverError: 0 },
  ])
  const { month: used, rateLimited, cacheHitShare, providerCalls, bySheet, byKey } = report
  assert.deepEqual(
    [used.used, used.publicUsed, rateLimited, cacheHitShare, providerCalls],
    [5_000, 0, 5_000, 1, 7],
  )
  assert.deepEqual([bySheet.size, bySheet.get('sh_1'), byKey.size], [100, { requests: 100, errors: 100 }, 50])
  assert.deepEqual([month.bySheet.get('sh_2'), month.byKey.get('key_3')], [100, 200])
})
