import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createChangeLog } from '../../src/changes/change-log.ts'
import { compare } from '../../src/changes/compare/compare-job.ts'
import type { Decoding } from '../../src/sheets/reading/decoding.ts'
import { buildSnapshot } from '../../src/sheets/rows/build-snapshot.ts'
import type { Logged } from '../../src/sheets/sheet-log.ts'
import { createSqlStore } from '../../src/store/sql/sql-store.ts'
import { openSimulatedStore } from './simulation/simulated-store.ts'

test('while a write is on its way, rows that a person changed have no place, those of the log keep theirs, and afterwards both have one', async (t) => {
  const { store, time, sheet, log } = await start(t)
  const [former, present] = [1, 2].map((n) => buildSnapshot({ rows: [['id'], [`row ${n}`]] }))
  assert.ok(former && present)
  assert.equal((await look(former))?.seq, 0)
  const { id: sheetId, accountId, source } = sheet
  const ids = await store.beginSending({
    ...{ source, fence: 'fence', place: '{}', changes: null },
    operations: [{ id: null, accountId, sheetId, answer: '' }],
  })
  assert.ok(Array.isArray(ids))
  assert.equal(await look(present), null)
  assert.equal((await look(former))?.seq, 0, 'who follows from there misses nothing')
  await store.dropOperations(ids)
  assert.equal((await look(present))?.seq, 1)
  assert.equal((await store.loggedChanges(sheetId, 0, 1_000)).length, 1)

  async function look(rows: typeof former): Promise<Logged | null> {
    const begun = await log.beforeLook(sheet)
    assert.ok(begun && rows)
    let isOver = false
    const looked = log.afterLook(begun, sheet, rows, null).finally(() => {
      isOver = true
    })
    await time.run(() => isOver)
    return looked
  }
})

test('a look that began before others logged more and wrote the rows anew has their place, and not the one it began at', async (t) => {
  const { store, sheet, log } = await start(t)
  const [former, present] = [1, 2].map((n) => buildSnapshot({ rows: [['id'], [`row ${n}`]] }))
  assert.ok(former && present)
  const first = await log.beforeLook(sheet)
  assert.ok(first)
  assert.equal((await log.afterLook(first, sheet, former, null))?.seq, 0)

  const begun = await log.beforeLook(sheet)
  const position = await store.changeLogOf(sheet.id)
  assert.ok(begun && position)
  const seen = { since: [], keyColumn: null, unplaced: null, mustReset: false, wantsState: true }
  const { chunks, state } = compare({ ...seen, known: former, next: present })
  const { id: sheetId, accountId, source } = sheet
  const toLog = chunks.map((chunk) => ({ ...chunk, atMs: 0, identity: '' }))
  const { contentHash } = present
  const rows = { chunks: toLog, identity: '', state, contentHash }
  assert.equal(await store.logSeen({ sheetId, accountId, source, position, ...rows }), 1)

  // It has nothing in memory, as after a start.
  assert.equal((await log.afterLook(begun, sheet, present, null))?.seq, 1)
})

test('after a start, rows that are as they were are known by their hash, and those that the log has are not read', async (t) => {
  const { store, sheet, log, statesRead } = await start(t)
  const [first, second] = [1, 2].map((n) => buildSnapshot({ rows: [['id'], [`row ${n}`]] }))
  assert.ok(first && second)
  const look = async (rows: typeof first) => {
    const begun = await log.beforeLook(sheet)
    assert.ok(begun)
    return (await log.afterLook(begun, sheet, rows, null))?.seq
  }
  assert.equal(await look(first), 0)
  assert.equal(await look(first), 0)
  assert.equal(statesRead(), 0)
  assert.equal(await look(second), 1)
  assert.equal(statesRead(), 1)
  assert.equal(await look(second), 1)
  assert.equal(await look(first), 2, 'what was once so is no longer')
  assert.equal(statesRead(), 2)

  // A write of ours goes on without looking at all rows.
  const { id: sheetId, accountId, source } = sheet
  const chunk = {
    entries: '[{"kind":"updated","row":2,"after":"{\\"id\\":\\"row 2\\"}"}]',
    count: 1,
    atMs: 0,
  }
  const [id = ''] = (await store.beginSending({
    ...{ source, fence: 'fence', place: '{}' },
    operations: [{ id: null, accountId, sheetId, answer: '' }],
    changes: { chunks: [chunk], identity: '', sheetId, accountId, isPlaced: true, after: null },
  })) as string[]
  await store.finishApplied(source, [{ id, answer: null }], { sheetId, outcome: 'as_begun' })
  assert.equal(await look(second), 3)
  assert.equal(statesRead(), 3)
  assert.equal(await look(second), 3)
  assert.equal(statesRead(), 3)
})

async function start(t: Parameters<typeof openSimulatedStore>[0]) {
  const { database, time, newSheet } = await openSimulatedStore(t)
  let statesRead = 0
  const whole = createSqlStore(database, time)
  const store = {
    ...whole,
    loggedState(sheetId: string) {
      statesRead++
      return whole.loggedState(sheetId)
    },
  }
  const { sheet } = await newSheet(null)
  const log = createChangeLog({
    turns: { next: () => undefined },
    ...{ store, decoding: null as unknown as Decoding, clock: time, observe() {} },
    following: { noteChange() {} },
    retention: { noteBytes() {} },
    timers: time,
  })
  return { store, time, sheet, log, statesRead: () => statesRead }
}
