import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createMovableClock } from '../clock.ts'
import type { Observation } from '../reporting/observe.ts'
import { createLoopTurns } from '../shares/loop-turns.ts'
import type { UsageBatch, UsageCount } from '../store/usage/usage-figures.ts'
import { createUsage } from './usage.ts'

const startMs = Date.UTC(2026, 10, 15, 23, 59, 59)

function answered(more: Partial<Extract<Observation, { event: 'request_answered' }>> = {}): Observation {
  return {
    event: 'request_answered',
    operation: 'list_rows',
    form: 'a',
    method: 'GET',
    status: 200,
    code: null,
    rowsFrom: 'hit',
    durationMs: 2,
    accountId: 'acc_1',
    sheetId: 'sh_1',
    keyId: 'key_1',
    ...more,
  }
}

function start(sheets = 1_000) {
  const clock = createMovableClock(startMs)
  const saved: UsageBatch[] = []
  const store = {
    isAway: false,
    async addUsage(batch: UsageBatch) {
      if (store.isAway) throw new Error('away')
      saved.push(batch)
    },
    forgetUsageBefore: async () => false,
  }
  return {
    clock,
    saved,
    store,
    usage: createUsage({ store, clock, turns: createLoopTurns(clock), shares: { sheets } }),
  }
}

test('requests are counted by day, sheet, key, outcome and source; those of strangers are not', async () => {
  const { usage, clock, saved } = start()
  for (let n = 0; n < 1_000; n++) usage.observe(answered())
  usage.observe(answered({ status: 304 }))
  usage.observe(answered({ status: 429, code: 'rate_limited', rowsFrom: null }))
  usage.observe(answered({ status: 429, code: 'usage_limit_exceeded', rowsFrom: null }))
  usage.observe(answered({ status: 502, code: 'google_api_error', rowsFrom: null, keyId: null }))
  usage.observe(answered({ status: 401, accountId: null, sheetId: null, keyId: null }))
  clock.advanceMs(1_000)
  usage.observe(answered({ sheetId: null, operation: 'list_sheets', rowsFrom: null }))
  await usage.close()
  assert.equal(saved.length, 1)
  const told = saved[0]?.counts.map(({ day, sheetId, keyId, outcome, rowsFrom, requests }) =>
    [day, sheetId, keyId, outcome, rowsFrom, requests].join(' '),
  )
  assert.deepEqual(told?.sort(), [
    '2026-11-15 sh_1  server_error  1',
    '2026-11-15 sh_1 key_1 client_error  1',
    '2026-11-15 sh_1 key_1 not_modified hit 1',
    '2026-11-15 sh_1 key_1 rate_limited  1',
    '2026-11-15 sh_1 key_1 success hit 1000',
    '2026-11-16  key_1 success  1',
  ])
  assert.equal(
    saved[0]?.latencies.reduce((sum, { requests }) => sum + requests, 0),
    1_005,
  )
})

test('the newest hundred requests of a sheet are kept, in their order, however many come', async () => {
  const { usage, clock, saved } = start()
  for (let n = 0; n < 5_000; n++) {
    usage.observe(answered({ status: 200 + (n % 7), durationMs: n }))
    if (n % 3 === 0) clock.advanceMs(1)
  }
  await usage.close()
  const recent = saved[0]?.recent ?? []
  assert.deepEqual(
    recent.map(({ durationMs }) => durationMs),
    Array.from({ length: 100 }, (_, n) => 4_900 + n),
  )
  const ids = recent.map(({ id }) => id)
  assert.deepEqual(ids, ids.toSorted(), 'ids sort as time went')
  assert.deepEqual(saved[0]?.activity, [
    { sheetId: 'sh_1', firstRequestAtMs: startMs, lastRequestAtMs: clock.nowMs() - 0, health: null },
  ])
})

test('of many sheets in use the newest requests are written a part at a time, first those that somebody looks at', async () => {
  const { usage, saved } = start()
  const [sheets, each] = [200, 60]
  for (let n = 0; n < sheets * each; n++)
    usage.observe(answered({ sheetId: `sh_${n % sheets}`, durationMs: n }))
  const written = () => saved.splice(0).flatMap(({ recent }) => recent)
  await usage.flush('sh_199')
  const first = written()
  assert.ok(first.length >= 5_000 && first.length < 5_000 + each, `${first.length} rows`)
  assert.deepEqual(new Set(first.slice(0, each).map(({ sheetId }) => sheetId)), new Set(['sh_199']))
  // One that is written has the next turn behind those that wait.
  usage.observe(answered({ sheetId: 'sh_0', durationMs: -1 }))
  await usage.flush()
  const second = written()
  assert.ok(second.every(({ durationMs, sheetId }) => durationMs !== -1 && sheetId !== 'sh_199'))
  await usage.close()
  const last = written()
  assert.equal(last.at(-1)?.durationMs, -1)
  const all = [...first, ...second, ...last].map(({ durationMs }) => durationMs)
  assert.equal(all.length, sheets * each + 1, 'nothing is left behind at the end')
  assert.equal(new Set(all).size, all.length, 'and nothing is written twice')
})

test('what the provider last said of a sheet is what is kept', async () => {
  const { usage, saved } = start()
  const failed = { event: 'provider_failed', provider: 'file', action: 'read', cause: null } as const
  const fetched = { event: 'sheet_fetched', provider: 'file', outcome: 'loaded', rows: 1 } as const
  usage.observe({ ...fetched, sheetId: 'sh_1', bytes: 1, durationMs: 1 })
  usage.observe({ ...failed, sheetId: 'sh_1', reason: 'the file is gone' })
  usage.observe({ ...failed, sheetId: 'sh_2', reason: 'the file is gone' })
  usage.observe({ ...fetched, sheetId: 'sh_2', bytes: 1, durationMs: 1 })
  await usage.close()
  const health = new Map(saved[0]?.activity.map((one) => [one.sheetId, one.health?.failureReason]))
  assert.deepEqual(
    [...health],
    [
      ['sh_1', 'the file is gone'],
      ['sh_2', null],
    ],
  )
  assert.deepEqual(
    saved[0]?.providerCalls.map(({ calls }) => calls),
    [1, 1],
  )
})

test('what the store did not take is not lost, and nothing is written twice', async () => {
  const { usage, store, saved } = start()
  store.isAway = true
  usage.observe(answered())
  await assert.rejects(usage.flush())
  usage.observe(answered())
  await assert.rejects(usage.flush())
  store.isAway = false
  usage.observe(answered())
  await Promise.all([usage.flush(), usage.flush(), usage.flush()])
  await usage.close()
  const total = saved.flatMap(({ counts }) => counts).reduce((sum, { requests }) => sum + requests, 0)
  assert.equal(total, 3)
})

test('what many keys asked of many sheets is written a little at a time, and others come in between', async () => {
  const { usage, clock, store, saved } = start()
  const { addUsage } = store
  store.addUsage = async (batch) => {
    clock.advanceMs(5)
    await addUsage(batch)
  }
  const [sheets, keys] = [40, 40]
  for (let n = 0; n < 2 * sheets * keys; n++) {
    usage.observe(answered({ sheetId: `sh_${n % sheets}`, keyId: `key_${Math.floor(n / sheets) % keys}` }))
  }
  let rounds = 0
  let isOver = false
  const round = () => {
    rounds++
    if (!isOver) setImmediate(round)
  }
  setImmediate(round)
  await usage.flush()
  isOver = true
  await usage.close()
  for (const { counts, latencies, activity, recent } of saved) {
    const rows = counts.length + latencies.length + activity.length + recent.length
    assert.ok(rows <= 256, `${rows} rows in one go`)
  }
  assert.ok(
    saved.length > 1 && rounds >= saved.length - 1,
    `${saved.length} batches in ${rounds} rounds of the loop`,
  )
  const sum = (of: (batch: UsageBatch) => { requests: number }[]) =>
    saved.flatMap(of).reduce((total, { requests }) => total + requests, 0)
  assert.equal(
    sum(({ counts }) => counts),
    2 * sheets * keys,
  )
  assert.equal(
    sum(({ latencies }) => latencies),
    2 * sheets * keys,
  )
})

test('a store that fails in the middle gets the rest later, and nothing twice', async () => {
  const { usage, store, saved } = start()
  for (let n = 0; n < 3_000; n++) usage.observe(answered({ sheetId: `sh_${n}` }))
  const { addUsage } = store
  let batches = 0
  store.addUsage = async (batch) => {
    if (++batches === 5) throw new Error('away')
    await addUsage(batch)
  }
  await assert.rejects(usage.flush(), /away/)
  usage.observe(answered())
  await usage.close()
  const counts = saved.flatMap((batch) => batch.counts)
  assert.equal(new Set(counts.map(({ sheetId }) => sheetId)).size, 3_000)
  assert.equal(
    counts.reduce((total, { requests }) => total + requests, 0),
    3_001,
  )
})

test('keys and sheets that are made anew all day do not fill the store: beyond some they are counted together', async () => {
  const { usage, saved } = start(2)
  const requests = 3_000
  for (let n = 0; n < requests; n++) {
    const keyId = n % 10 === 0 ? null : `key_${n}`
    usage.observe(answered({ sheetId: `sh_${n < 1_000 ? n % 2 : n}`, keyId }))
    if (n % 500 === 0) await usage.flush()
  }
  usage.observe(answered({ accountId: 'acc_2', sheetId: 'sh_other', keyId: 'key_other' }))
  await usage.close()
  const counts = saved.flatMap((batch) => batch.counts)
  const pairs = new Set(counts.map(({ accountId, sheetId, keyId }) => [accountId, sheetId, keyId].join()))
  assert.ok(pairs.size <= 43, `${pairs.size} pairs`)
  assert.ok(pairs.has('acc_2,sh_other,key_other'), 'others are told as ever')
  const sumOf = (isMeant: (count: UsageCount) => boolean) =>
    counts.filter(isMeant).reduce((sum, count) => sum + count.requests, 0)
  assert.equal(
    sumOf(({ accountId }) => accountId === 'acc_1'),
    requests,
    'none is lost',
  )
  assert.equal(
    sumOf(({ keyId }) => keyId === ''),
    requests / 10,
    'nor taken for one without a key',
  )
  assert.ok(sumOf(({ sheetId }) => sheetId === 'sh_0') > 300, 'sheets are told for longer than keys')
  for (const { counts: together } of saved) {
    const names = together.map(({ requests: _requests, ...count }) => Object.values(count).join())
    assert.equal(new Set(names).size, names.length, 'PostgreSQL adds to a row once in a statement')
  }
})
