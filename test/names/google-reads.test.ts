import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import type { LocalGoogle } from '../emulator/harness.ts'
import { done } from '../harness.ts'
import { patienceMs, times } from '../soak.ts'
import { type GoogleSheet, startGoogleGround } from '../writing/google-ground.ts'

const rowsThere = times(5_000, 100_000)
const rowsSent = 1_000
const rowsAtOnce = 10_000
const tallRows = 20_000
const oneOfEach = ['read', 'write']
/** Where a column has so many cells that two small reads are there sooner. */
const twoReads = ['read', 'read', 'write']
const expected = rowsThere > 52_000 ? twoReads : oneOfEach

test('an upsert of 1,000 rows, half of which are there, is one read and one write at Google', {
  timeout: patienceMs,
}, async (t) => {
  const { sheet, callsOf } = await largeSheet(t, ['id', 'name', 'price'], (n) => [`row ${n}`, `N ${n}`, n])
  const sent = Array.from({ length: rowsSent }, (_, n) => ({
    id: n % 2 ? `row ${n * 4}` : `new ${n}`,
    name: 'Sent',
    price: n / 4,
  }))
  const { calls, status } = await callsOf('POST', '?upsert=id', sent)
  assert.deepEqual([status, calls], [201, expected])
  const cells = await sheet.cells()
  assert.equal(cells.length, 2 + rowsThere + rowsSent / 2)
  const byId = new Map(cells.map((row) => [row[0], row]))
  assert.equal(byId.size, cells.length)
  for (const { id, name, price } of sent) assert.deepEqual(byId.get(id), [id, name, price])
})

test('changes and deletions by a value, and additions under a key column, are one read and one write as well', {
  timeout: patienceMs,
}, async (t) => {
  const header = ['name', 'price', 'id']
  const { sheet, sheets, callsOf } = await largeSheet(t, header, (n) => [`N ${n}`, n, `row ${n}`])
  const changed = await callsOf('PATCH', '/by/id/row%207', { price: 1.5 })
  assert.deepEqual([changed.status, changed.calls], [200, expected])
  const deleted = await callsOf('DELETE', '/by/id/row%209')
  assert.deepEqual([deleted.status, deleted.calls], [200, expected])
  done(await sheets.change('acme', 'orders', { keyColumn: 'id' }))
  const added = await callsOf('POST', '', { id: 'x', price: 2 })
  assert.deepEqual([added.status, added.calls], [201, expected])
  const cells = await sheet.cells()
  assert.deepEqual(
    ['row 7', 'row 9', 'x'].map((id) => cells.find((row) => row[2] === id)),
    [['N 7', 1.5, 'row 7'], undefined, ['', 2, 'x']],
  )
})

test('in a very tall tab the column is read without formats, beside its rows: two reads at the same time', async (t) => {
  const { sheet, local } = await startGround(t)
  await sheet.batchUpdate({ appendDimension: { sheetId: 0, dimension: 'ROWS', length: 60_000 } })
  await addRows(sheet, 20, (n) => [`row ${n}`, n])
  const callsOf = await countingFrom(sheet, local)
  const { calls, status } = await callsOf('PATCH', '/by/id/row%207', { n: 1.5 })
  assert.deepEqual([status, calls.toSorted()], [200, twoReads])
  assert.deepEqual((await sheet.cells())[8], ['row 7', 1.5])
})

test('upserts of many rows in a very tall tab, one after the other, are two reads each though nobody reads the tab in between', async (t) => {
  const { sheet, local } = await startGround(t, ['id', 'name', 'price'])
  await sheet.batchUpdate({ appendDimension: { sheetId: 0, dimension: 'ROWS', length: 60_000 } })
  await addRows(sheet, tallRows, (n) => [`row ${n}`, `Name ${n}`.padEnd(60), n])
  const callsOf = await countingFrom(sheet, local)
  const rowOf = (round: number, id: string) => ({ id, name: `Round ${round}`, price: round })
  for (let round = 0; round < 3; round++) {
    const sent = Array.from({ length: rowsSent }, (_, n) =>
      rowOf(round, n % 2 ? `row ${round * rowsSent + n}` : `new ${round} ${n}`),
    )
    const upserted = await callsOf('POST', '?upsert=id', sent)
    const told = [upserted.status, upserted.calls.toSorted()]
    assert.deepEqual(told, [201, twoReads], `upsert ${round}`)
    const more = Array.from({ length: rowsSent / 4 }, (_, n) => rowOf(round, `more ${round} ${n}`))
    const added = await callsOf('POST', '', more)
    assert.deepEqual([added.status, added.calls], [201, oneOfEach], `addition ${round}`)
  }
  // What was written by all of them is known, and so is what people write: it is read and logged before it is written over.
  await sheet.batchUpdate({ deleteDimension: { range: rowsRange(1, 2) } })
  const moved = await callsOf('POST', '?upsert=id', [rowOf(9, 'row 5'), rowOf(9, 'new 0 0')])
  assert.equal(moved.status, 200)
  const cells = await sheet.cells()
  assert.equal(cells.length, 2 + tallRows - 1 + 3 * (rowsSent / 2 + rowsSent / 4))
  for (const id of ['row 5', 'new 0 0'])
    assert.deepEqual(
      cells.filter(([its]) => its === id),
      [[id, 'Round 9', 9]],
    )
})

async function largeSheet(t: TestContext, header: string[], rowOf: (n: number) => unknown[]) {
  const { sheet, local, rowport } = await startGround(t, header)
  await addRows(sheet, rowsThere, rowOf)
  return { sheet, sheets: rowport.workshop.sheets, callsOf: await countingFrom(sheet, local) }
}

async function startGround(t: TestContext, header = ['id', 'n']) {
  // A busy machine is no ration that made a write wait, after which it would look again.
  const { newSheet, ...ground } = await startGoogleGround(t, { speed: 0.02 })
  return { ...ground, sheet: await newSheet('orders', [header]) }
}

async function addRows(sheet: GoogleSheet, count: number, rowOf: (n: number) => unknown[]): Promise<void> {
  for (let from = 0; from < count; from += rowsAtOnce) {
    const length = Math.min(rowsAtOnce, count - from)
    const rows = Array.from({ length }, (_, at) => ({ values: rowOf(from + at).map(entered) }))
    await sheet.batchUpdate({ appendCells: { sheetId: 0, rows, fields: 'userEnteredValue' } })
  }
}

/** With a copy in memory, as after any read, and one write done: the first one in a process also looks for what others left. */
async function countingFrom(sheet: GoogleSheet, local: LocalGoogle) {
  assert.equal((await sheet.ask('GET', '?q=row%207&limit=1')).status, 200)
  assert.equal((await sheet.ask('POST', '', { body: { id: 'first' } })).status, 201)
  const allCalls = async () => (await local.control('GET', 'calls')).calls as { kind: string }[]
  return async (method: string, path: string, body?: object) => {
    const before = (await allCalls()).length
    const { status } = await sheet.ask(method, path, { body })
    return { status, calls: (await allCalls()).slice(before).map(({ kind }) => kind) }
  }
}

function entered(value: unknown): object {
  return { userEnteredValue: typeof value === 'number' ? { numberValue: value } : { stringValue: value } }
}

function rowsRange(startIndex: number, endIndex: number): object {
  return { sheetId: 0, dimension: 'ROWS', startIndex, endIndex }
}
