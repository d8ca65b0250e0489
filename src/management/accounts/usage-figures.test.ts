import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createMovableClock } from '../../clock.ts'
import { TooManyAtOnce } from '../../errors.ts'
import type { Observation } from '../../reporting/observe.ts'
import { createLoopTurns } from '../../shares/loop-turns.ts'
import type { Span } from '../../store/usage/usage-figures.ts'
import { createUsageFigures, type UsageFiguresParts } from './usage-figures.ts'

const account = {
  id: 'acc_1',
  slug: 'acme',
  plan: 'free',
  requestsPerMinute: null,
  requestsPerMonth: null,
  createdAtMs: Date.UTC(2026, 10, 1),
}

/** A hundred sheets and fifty keys on each of four days, in a store that takes five milliseconds for each question. */
function figuresOfMany() {
  const clock = createMovableClock(Date.UTC(2026, 10, 15))
  const days = ['2026-11-12', '2026-11-13', '2026-11-14', '2026-11-15']
  const sheets = Array.from({ length: 100 }, (_, nth) => `sh_${nth}`)
  const asked: string[] = []
  const isIn =
    ({ from, before }: Span) =>
    (day: string) =>
      day >= from.day && (before === null || day < before.day)
  const ask = async <T>(what: string, answer: T): Promise<T> => {
    clock.advanceMs(5)
    asked.push(what)
    return answer
  }
  const store: UsageFiguresParts['store'] = {
    activityOf: async () => new Map(),
    recentRequests: async () => [],
    usageSince: async () => [],
    endOfSpan: (_account, _table, from) => {
      const day = days.find((one) => one > from.day)
      return ask('end', day === undefined ? null : { day, sheetId: '' })
    },
    usageOfSheets: (_account, some) =>
      ask(
        'sheets',
        days.filter(isIn(some)).flatMap((day) =>
          sheets.flatMap((sheetId) => {
            const count = { day, sheetId, by: 'another key' as const, requests: 25 }
            return [
              { ...count, outcome: 'success' as const, rowsFrom: 'hit' },
              { ...count, outcome: 'rate_limited' as const, rowsFrom: '' },
            ]
          }),
        ),
      ),
    usageOfKeys: (_account, some) =>
      ask(
        'keys',
        days.filter(isIn(some)).flatMap(() =>
          Array.from({ length: 50 }, (_, nth) => ({
            ...{ keyId: `key_${nth}`, outcome: 'success' as const, requests: 100 },
          })),
        ),
      ),
    latenciesIn: () => ask('latencies', new Map([[3, 1]])),
    providerCallsIn: () => ask('calls', new Map([['sh_1', 7]])),
  }
  const seen: Observation[] = []
  const figures = createUsageFigures({
    ...{ store, usage: { flush: async () => {} }, plans: new Map(), clock, turns: createLoopTurns(clock) },
    ...{ shares: { reports_at_once: 1 }, observe: (one: Observation) => void seen.push(one) },
  })
  return { figures, asked, seen }
}

test('figures of many sheets and keys are summed up some days at a time, and others come in between', async () => {
  const { figures, asked } = figuresOfMany()
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
  assert.ok(rounds >= asked.length - 2, `${asked.length} questions in ${rounds} rounds of the loop`)
  assert.deepEqual(report.days, [
    { day: '2026-11-14', success: 2_500, clientError: 0, rateLimited: 2_500, serverError: 0 },
    { day: '2026-11-15', success: 2_500, clientError: 0, rateLimited: 2_500, serverError: 0 },
  ])
  const { month: used, rateLimited, cacheHitShare, providerCalls, bySheet, byKey } = report
  assert.deepEqual(
    [used.used, used.publicUsed, rateLimited, cacheHitShare, providerCalls],
    [10_000, 0, 5_000, 1, 7],
    'of the month also what was before the days that are shown',
  )
  assert.deepEqual([bySheet.size, bySheet.get('sh_1'), byKey.size], [100, { requests: 100, errors: 50 }, 50])
  assert.deepEqual([month.bySheet.get('sh_2'), month.byKey.get('key_3')], [200, 400])
})

test('reports of one account are made one after the other, and who waits for the same shares one', async () => {
  const { figures, asked } = figuresOfMany()
  const wish = { days: 30, sheetId: null, keyId: null }
  await figures.report(account, wish)
  const questionsOfOne = asked.length
  const hundred = () => Array.from({ length: 100 }, () => figures.report(account, wish))
  const first = hundred()
  while (asked.length === questionsOfOne) await new Promise(setImmediate)
  const all = await Promise.all([...first, ...hundred()])
  assert.equal(asked.length, 3 * questionsOfOne, 'who came when it had begun shared the next')
  assert.ok(all.every(({ month }) => month.used === 10_000))

  asked.length = 0
  await Promise.all(Array.from({ length: 100 }, () => figures.thisMonth(account)))
  assert.equal(asked.filter((what) => what === 'keys').length, 5, 'one month of five steps')
})

test('an account has only so many different reports waiting', async () => {
  const { figures, seen } = figuresOfMany()
  const asked = Array.from({ length: 20 }, (_, nth) =>
    figures.report(account, { days: nth + 1, sheetId: null, keyId: null }).then(
      () => 'made',
      (error: unknown) => (error instanceof TooManyAtOnce ? error.share : error),
    ),
  )
  const other = figures.report({ ...account, id: 'acc_2' }, { days: 1, sheetId: null, keyId: null })
  assert.deepEqual((await Promise.all(asked)).sort(), [
    ...Array.from({ length: 9 }, () => 'made'),
    ...Array.from({ length: 11 }, () => 'reports_at_once'),
  ])
  await other
  assert.ok(seen.some(({ event }) => event === 'share_used_up'))
})
