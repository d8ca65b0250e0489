import assert from 'node:assert/strict'
import { accountWithSheet, newAccount } from '../records.fixture.ts'
import type { StoreTest } from '../store-test.fixture.ts'
import type { RecentRequestRecord, UsageBatch, UsageCount } from './usage-figures.ts'

const none: UsageBatch = { counts: [], latencies: [], providerCalls: [], activity: [], recent: [] }
const day = '2026-11-15'

function request(sheetId: string, nth: number): RecentRequestRecord {
  return {
    id: String(nth).padStart(6, '0'),
    sheetId,
    keyId: nth % 2 === 0 ? 'key_1' : null,
    atMs: nth,
    method: 'GET',
    operation: 'list_rows',
    status: 200,
    code: null,
    rowsFrom: 'hit',
    durationMs: 1.234,
  }
}

export function usageFiguresContract(of: StoreTest): void {
  of('figures add up, by day, sheet, key, outcome and source, however many add at once', async (store) => {
    const { account, sheet } = await accountWithSheet(store)
    const count = { accountId: account.id, sheetId: sheet.id, keyId: 'key_1', requests: 2 }
    const batch: UsageBatch = {
      ...none,
      counts: [
        { ...count, day, outcome: 'success', rowsFrom: 'hit' },
        { ...count, day, outcome: 'rate_limited', rowsFrom: '' },
        { ...count, day: '2026-11-14', outcome: 'success', rowsFrom: 'hit' },
      ],
      latencies: [
        { ...count, day, bucket: 4 },
        { ...count, day, keyId: '', bucket: 4 },
        { ...count, day, bucket: 17 },
      ],
      providerCalls: [{ sheetId: sheet.id, day, calls: 3 }],
    }
    const others = { ...batch, counts: batch.counts.toReversed(), latencies: batch.latencies.toReversed() }
    await Promise.all(Array.from({ length: 10 }, (_, n) => store.addUsage(n % 2 === 0 ? batch : others)))
    const today = (await store.usageSince(account.id, day)).sort((one, other) =>
      one.outcome.localeCompare(other.outcome),
    )
    assert.deepEqual(today, [
      { ...count, day, outcome: 'rate_limited', rowsFrom: '', requests: 20 },
      { ...count, day, outcome: 'success', rowsFrom: 'hit', requests: 20 },
    ])
    assert.equal((await store.usageSince(account.id, '2026-11-14')).length, 3)
    const paged: UsageCount[] = []
    for (;;) {
      const page = await store.usageSince(account.id, '', { after: paged.at(-1) ?? null, rows: 2 })
      paged.push(...page)
      if (page.length < 2) break
    }
    assert.deepEqual(paged, await store.usageSince(account.id, ''), 'page by page it is the same')
    const all = { sheetId: '', keyId: '' }
    const since = { from: { day, sheetId: '' }, before: null }
    const dayBefore = { from: { day: '2026-11-14', sheetId: '' }, before: since.from }
    assert.equal((await store.latenciesIn(account.id, dayBefore, all)).size, 0)
    assert.deepEqual(await store.usageOfSheets(account.id, dayBefore, 'key_1'), [
      {
        ...{ day: '2026-11-14', sheetId: sheet.id, outcome: 'success', rowsFrom: 'hit' },
        ...{ by: 'the key', requests: 20 },
      },
    ])
    assert.deepEqual(
      [...(await store.latenciesIn(account.id, since, all))],
      [
        [4, 40],
        [17, 20],
      ],
    )
    const ofKey = { sheetId: sheet.id, keyId: 'key_1' }
    assert.deepEqual(
      [...(await store.latenciesIn(account.id, since, ofKey))],
      [
        [4, 20],
        [17, 20],
      ],
    )
    assert.deepEqual(
      [...(await store.providerCallsIn(account.id, { from: day, before: null }))],
      [[sheet.id, 30]],
    )
    assert.equal((await store.providerCallsIn(account.id, { from: '2026-11-14', before: day })).size, 0)

    const other = await newAccount(store, 'other')
    assert.deepEqual(await store.usageSince(other.id, ''), [])
    assert.equal(
      (await store.latenciesIn(other.id, { from: { day: '', sheetId: '' }, before: null }, ofKey)).size,
      0,
    )
    assert.equal((await store.providerCallsIn(other.id, { from: '', before: null })).size, 0)

    await store.forgetUsageBefore(day, 10)
    assert.equal((await store.usageSince(account.id, '')).length, 2)
  })

  of('what was counted is summed up by sheet and by key, about so many rows together', async (store) => {
    const { account } = await accountWithSheet(store)
    const counts: UsageCount[] = ['2026-11-11', '2026-11-13', '2026-11-14', day].flatMap((ofDay, at) =>
      ['', 'key_1', 'key_2'].flatMap((keyId) =>
        Array.from({ length: at === 2 ? 3 : 1 }, (_, nth) => ({
          ...{ accountId: account.id, day: ofDay, sheetId: `sh_${nth}`, keyId },
          ...{ outcome: 'success' as const, rowsFrom: 'miss', requests: 5 },
        })),
      ),
    )
    await store.addUsage({ ...none, counts })
    const endOf = (ofDay: string, sheetId: string, rows: number) =>
      store.endOfSpan(account.id, 'usage_day', { day: ofDay, sheetId }, rows)
    assert.equal(await endOf('2026-11-11', '', 100), null)
    assert.deepEqual(await endOf('2026-11-11', '', 6), { day: '2026-11-14', sheetId: 'sh_0' })
    assert.deepEqual(await endOf('2026-11-14', 'sh_0', 6), { day: '2026-11-14', sheetId: 'sh_2' })
    assert.deepEqual(
      await endOf('2026-11-14', 'sh_1', 1),
      { day: '2026-11-14', sheetId: 'sh_2' },
      'one at least',
    )
    assert.equal(await endOf(day, 'sh_0', 1), null)
    assert.equal(await store.endOfSpan(account.id, 'latency_day', { day: '', sheetId: '' }, 1), null)
    const days = { from: { day: '2026-11-13', sheetId: '' }, before: { day, sheetId: '' } }
    const ofSheets = await store.usageOfSheets(account.id, days, 'key_2')
    assert.deepEqual(
      ofSheets.map(({ day: ofDay, sheetId, by, requests }) => [ofDay, sheetId, by, requests].join()).sort(),
      ['2026-11-13,sh_0', '2026-11-14,sh_0', '2026-11-14,sh_1', '2026-11-14,sh_2'].flatMap((of) =>
        ['another key', 'no key', 'the key'].map((by) => `${of},${by},5`),
      ),
    )
    const ofKeys = await store.usageOfKeys(account.id, days, { sheetId: '', keyId: '' })
    assert.deepEqual(ofKeys.map(({ keyId, requests }) => [keyId, requests]).sort(), [
      ['', 20],
      ['key_1', 20],
      ['key_2', 20],
    ])
    const ofOne = await store.usageOfKeys(account.id, days, { sheetId: 'sh_1', keyId: 'key_1' })
    assert.deepEqual(ofOne, [{ keyId: 'key_1', outcome: 'success', requests: 5 }])
  })

  of('what is too old goes a few rows at a time', async (store) => {
    const { account, sheet } = await accountWithSheet(store)
    const count = { accountId: account.id, sheetId: sheet.id, keyId: '', requests: 1 }
    const old = Array.from({ length: 25 }, (_, nth) => ({ ...count, day: '2025-01-01', bucket: nth }))
    await store.addUsage({
      ...none,
      counts: [{ ...count, day, outcome: 'success', rowsFrom: 'hit' }],
      latencies: [...old, { ...count, day, bucket: 50 }],
      providerCalls: [{ sheetId: sheet.id, day: '2025-01-01', calls: 1 }],
    })
    const all = { from: { day: '', sheetId: '' }, before: null }
    const left = async () => (await store.latenciesIn(account.id, all, { sheetId: '', keyId: '' })).size
    assert.equal(await store.forgetUsageBefore(day, 10), true)
    assert.equal(await left(), 16)
    assert.equal(await store.forgetUsageBefore(day, 10), true)
    assert.equal(await store.forgetUsageBefore(day, 10), false)
    assert.equal(await left(), 1)
    assert.equal((await store.usageSince(account.id, '')).length, 1)
    assert.equal((await store.providerCallsIn(account.id, { from: '', before: null })).size, 0)
  })

  of('what belongs to nobody any more is left out, and the rest is kept', async (store, _clock, database) => {
    const { account, sheet } = await accountWithSheet(store)
    const count = { day, keyId: '', outcome: 'success', rowsFrom: 'hit', requests: 1 } as const
    await store.addUsage({
      counts: [
        { ...count, accountId: 'acc_gone', sheetId: sheet.id },
        { ...count, accountId: account.id, sheetId: 'sh_gone' },
      ],
      latencies: [{ accountId: 'acc_gone', day, sheetId: '', keyId: '', bucket: 1, requests: 1 }],
      providerCalls: [{ sheetId: 'sh_gone', day, calls: 1 }],
      activity: [{ sheetId: 'sh_gone', firstRequestAtMs: 1, lastRequestAtMs: 1, health: null }],
      recent: [request('sh_gone', 1), request(sheet.id, 2)],
    })
    const counts = await store.usageSince(account.id, day)
    assert.deepEqual(
      counts.map(({ sheetId }) => sheetId),
      ['sh_gone'],
      'what a sheet was asked for stays in the sum of its account',
    )
    assert.equal((await store.recentRequests(sheet.id, 10)).length, 1)
    for (const table of ['latency_day', 'provider_day', 'sheet_activity'] as const) {
      assert.deepEqual(await database.kysely.selectFrom(table).selectAll().execute(), [], table)
    }
  })

  of(
    'of a sheet, the first and the last request and the last word of its provider are known',
    async (store) => {
      const { account, sheet } = await accountWithSheet(store)
      const { id: sheetId } = sheet
      assert.equal((await store.activityOf(account.id)).size, 0)
      const add = (first: number | null, last: number | null, health: [string | null, number] | null) =>
        store.addUsage({
          ...none,
          activity: [
            {
              sheetId,
              firstRequestAtMs: first,
              lastRequestAtMs: last,
              health: health && { failureReason: health[0], atMs: health[1] },
            },
          ],
        })
      const now = async () => (await store.activityOf(account.id)).get(sheetId)
      await add(null, null, ['the file is gone', 20])
      const failed = { failureReason: 'the file is gone', atMs: 20 }
      assert.deepEqual(await now(), { firstRequestAtMs: null, lastRequestAtMs: null, health: failed })
      await add(30, 40, null)
      assert.deepEqual(await now(), { firstRequestAtMs: 30, lastRequestAtMs: 40, health: failed })
      await add(25, 35, [null, 10])
      assert.deepEqual(await now(), { firstRequestAtMs: 25, lastRequestAtMs: 40, health: failed }, 'old news')
      await add(50, 60, [null, 50])
      const well = { failureReason: null, atMs: 50 }
      assert.deepEqual(await now(), { firstRequestAtMs: 25, lastRequestAtMs: 60, health: well })
    },
  )

  of(
    'the last five hundred requests of a sheet are kept, the newest first',
    async (store, _clock, database) => {
      const { sheet } = await accountWithSheet(store)
      const all = Array.from({ length: 650 }, (_, nth) => request(sheet.id, nth))
      await store.addUsage({ ...none, recent: all.slice(0, 30) })
      await store.addUsage({ ...none, recent: all.slice(30).toReversed() })
      assert.deepEqual(await store.recentRequests(sheet.id, 1_000), all.slice(150).toReversed())
      assert.deepEqual(await store.recentRequests(sheet.id, 3), all.slice(-3).toReversed())
      const rows = await database.kysely.selectFrom('recent_request').select('id').execute()
      assert.equal(rows.length, 500)
    },
  )

  of('a deleted sheet takes its keys’ rights with it', async (store, _clock, database) => {
    const { account, sheet } = await accountWithSheet(store)
    const only = await store.createKey({
      accountId: account.id,
      sheetId: sheet.id,
      name: 'only',
      mode: 'live',
      scope: 'read',
      hash: 'only',
      shownStart: 'a',
      shownEnd: 'z',
    })
    await store.addUsage({ ...none, recent: [request(sheet.id, 1)] })
    await store.deleteSheet(sheet.id)
    assert.equal(await store.sheetById(sheet.id), null)
    const key = await store.findKey(only.id)
    assert.ok(key && key.revokedAtMs !== null, 'it must not become a key for all sheets')
    assert.equal(await store.lookUpKey('only'), null)
    assert.deepEqual(await database.kysely.selectFrom('recent_request').selectAll().execute(), [])
    const again = await store.createSheet({ ...sheet, slug: sheet.slug })
    assert.ok(typeof again === 'object')
    assert.notEqual(again.id, sheet.id)
  })
}
