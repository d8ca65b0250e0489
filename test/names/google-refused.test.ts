import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { done } from '../harness.ts'
import { type GoogleSheet, startGoogleGround } from '../writing/google-ground.ts'

test('whoever is told that no row has a key reads again, and is not shown the row that a person has deleted', async (t) => {
  const sheet = await keyedSheet(t)
  await sheet.batchUpdate(deleteRow(5))
  assert.equal((await sheet.ask('PATCH', '/by/id/row%205', { body: { n: 1 } })).status, 404)
  assert.equal((await sheet.ask('GET', '/by/id/row%205')).status, 404)
  await sheet.batchUpdate(deleteRow(5))
  assert.equal((await sheet.ask('DELETE', '/by/id/row%206')).status, 404)
  assert.ok(!(await ids(sheet)).includes('row 6'))
})

test('whoever is told that a key is there already reads again, and is shown the row that has it', async (t) => {
  const sheet = await keyedSheet(t)
  await sheet.batchUpdate(writeId(4, 'new'))
  const added = await sheet.ask('POST', '', { body: { id: 'new', n: 1 } })
  assert.deepEqual([added.status, added.body.code], [409, 'row_exists'])
  assert.equal((await sheet.ask('GET', '/by/id/new')).status, 200)
  await sheet.batchUpdate(writeId(6, 'other'))
  assert.equal((await sheet.ask('PATCH', '/by/id/row%203', { body: { id: 'other' } })).status, 409)
  assert.ok((await ids(sheet)).includes('other'))
})

test('whoever is told that several rows have a value reads again, and is shown all of them', async (t) => {
  const sheet = await keyedSheet(t)
  await sheet.batchUpdate(writeId(4, 'row 9'))
  const changed = await sheet.ask('PATCH', '/by/id/row%209', { body: { n: 1 } })
  assert.deepEqual([changed.status, changed.body.code], [409, 'ambiguous_row'])
  assert.equal((await sheet.ask('GET', '/by/id/row%209')).status, 409)
  await sheet.batchUpdate(writeId(5, 'row 8'))
  assert.equal((await sheet.ask('POST', '?upsert=id', { body: { id: 'row 8', n: 1 } })).status, 409)
  assert.equal((await sheet.ask('GET', '/by/id/row%208')).status, 409)
})

test('a refusal that the copy of readers agrees with takes no look at the whole tab', async (t) => {
  const { newSheet, local } = await startGoogleGround(t)
  const sheet = await newSheet('orders', [['id', 'n'], ...rows()])
  await sheet.ask('GET', '?q=row')
  const readsOf = async () =>
    ((await local.control('GET', 'calls')).calls as { kind: string; query: string }[]).filter(
      ({ kind }) => kind === 'read',
    )
  await sheet.ask('PATCH', '/by/id/nobody', { body: { n: 1 } })
  const before = (await readsOf()).length
  assert.equal((await sheet.ask('PATCH', '/by/id/nobody', { body: { n: 1 } })).status, 404)
  const [look, ...others] = (await readsOf()).slice(before)
  assert.deepEqual(others, [])
  // What only a write must know: those who read the whole tab for readers do not ask for it.
  assert.match(look?.query ?? '', /userEnteredValue/)
})

/** With a copy in memory, which readers are shown for as long as the test takes. */
async function keyedSheet(t: TestContext): Promise<GoogleSheet> {
  const { newSheet, rowport } = await startGoogleGround(t)
  const sheet = await newSheet('orders', [['id', 'n'], ...rows()])
  done(await rowport.workshop.sheets.change('acme', 'orders', { keyColumn: 'id', cacheSeconds: 600 }))
  assert.equal((await sheet.ask('GET', '?q=row')).status, 200)
  return sheet
}

function rows(): unknown[][] {
  return Array.from({ length: 30 }, (_, at) => [`row ${at + 2}`, at])
}

async function ids(sheet: GoogleSheet): Promise<string[]> {
  return ((await sheet.ask('GET')).body as { id: string }[]).map(({ id }) => id)
}

function deleteRow(row: number): object {
  const range = { sheetId: 0, dimension: 'ROWS', startIndex: row - 1, endIndex: row }
  return { deleteDimension: { range } }
}

function writeId(row: number, id: string): object {
  return {
    updateCells: {
      start: { sheetId: 0, rowIndex: row - 1, columnIndex: 0 },
      rows: [{ values: [{ userEnteredValue: { stringValue: id } }] }],
      fields: 'userEnteredValue',
    },
  }
}
