import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { LocalGoogle } from '../emulator/harness.ts'
import { startGoogleGround } from './google-ground.ts'

const header = ['id', 'n']

test('additions, an update and a deletion on Google, as on any sheet', async (t) => {
  const { newSheet } = await startGoogleGround(t)
  const sheet = await newSheet('s', [header, ['a', 1]])
  const added = await sheet.ask('POST', '', { body: [{ id: 'b', n: 2 }, { id: 'c' }] })
  assert.equal(added.status, 201)
  assert.deepEqual(added.body.rows, [
    { _row: 3, id: 'b', n: 2 },
    { _row: 4, id: 'c', n: null },
  ])
  const before = await sheet.ask('GET', '/3')
  const ifMatch = before.headers.get('etag') ?? ''
  const updated = await sheet.ask('PUT', '/3', { body: { n: 20 }, ifMatch })
  assert.deepEqual(updated.body.data, { id: 'b', n: 20 })
  assert.equal((await sheet.ask('DELETE', '/3', { ifMatch })).status, 412, 'it is not that row any more')
  const deleted = await sheet.ask('DELETE', '/2')
  assert.deepEqual(deleted.body.data, { id: 'a', n: 1 })
  assert.deepEqual((await sheet.ask('GET')).body, [
    { id: 'b', n: 20 },
    { id: 'c', n: null },
  ])
  assert.equal((await sheet.ask('PUT', '/9', { body: { n: 1 } })).status, 404)
})

test('what comes at the same time goes to Google together', async (t) => {
  const { newSheet, local } = await startGoogleGround(t)
  const sheet = await newSheet('s', [header])
  const answers = await Promise.all(
    Array.from({ length: 60 }, (_, n) => sheet.ask('POST', '', { body: { id: `row ${n}`, n } })),
  )
  assert.ok(answers.every(({ status }) => status === 201))
  const numbers = answers.map(({ body }) => body.rows[0]._row).sort((one, other) => one - other)
  assert.deepEqual(
    numbers,
    Array.from({ length: 60 }, (_, at) => at + 2),
    'each has a number of its own',
  )
  for (const { body } of answers) {
    const [{ _row, id }] = body.rows
    assert.equal((await sheet.cells())[_row - 1]?.[0], id, 'and its row stands there')
  }
  const { calls } = await local.control<{ calls: { path: string }[] }>('GET', 'calls')
  assert.ok(calls.filter(({ path }) => path.endsWith(':batchUpdate')).length < 15)
})

test('a change costs one read: of its row, at the moment at which it is written', async (t) => {
  const { newSheet, local } = await startGoogleGround(t)
  const rows = Array.from({ length: 40 }, (_, n) => [`row ${n + 2}`, n])
  const sheet = await newSheet('s', [header, ...rows])
  const callsSince = await countCalls(local)
  await sheet.ask('PATCH', '/2', { body: { n: 0 } })
  // The first looks for markers that others left, as well.
  assert.deepEqual(await callsSince(), { read: 2, write: 1 })
  const { headers } = await sheet.ask('GET', '/9')
  await callsSince()
  const ifMatch = headers.get('etag') ?? ''
  assert.equal((await sheet.ask('PATCH', '/9', { body: { n: 1 }, ifMatch })).status, 200)
  assert.deepEqual(await callsSince(), { read: 1, write: 1 })
  assert.equal((await sheet.ask('PUT', '/9', { body: { n: 2 }, ifMatch })).status, 412)
  assert.deepEqual(await callsSince(), { read: 1, write: 0 })
  assert.equal((await sheet.ask('DELETE', '/10')).status, 200)
  assert.deepEqual(await callsSince(), { read: 1, write: 1 })
  const gone = await sheet.ask('DELETE', '/41')
  assert.equal(gone.status, 404)
  assert.match(JSON.stringify(gone.body), /last row with data is 40/)
})

test('rows that are named by what they hold cost one read: of that column, and of the rows', async (t) => {
  const { newSheet, local } = await startGoogleGround(t)
  const rows = Array.from({ length: 400 }, (_, n) => [n % 7 ? `row ${n + 2}` : n + 2, n])
  const sheet = await newSheet('s', [header, ...rows])
  // A smaller one is read as a whole by one call.
  await sheet.batchUpdate({ appendDimension: { sheetId: 0, dimension: 'ROWS', length: 1_500 } })
  await sheet.ask('PATCH', '/2', { body: { n: 0 } })
  await sheet.ask('GET', '?q=x')
  await sheet.ask('POST', '', { body: { id: 'first', n: 1 } })
  const callsSince = await countCalls(local)
  const changed = await sheet.ask('PATCH', '/by/id/ROW%209', { body: { n: -1 } })
  assert.deepEqual([changed.status, changed.body.row], [404, undefined], 'it is the number 9')
  await callsSince()
  assert.equal((await sheet.ask('PATCH', '/by/id/9', { body: { n: -1 } })).body.row, 9)
  assert.deepEqual(await callsSince(), { read: 1, write: 1 })
  const body = Array.from({ length: 100 }, (_, n) => ({ id: n % 2 ? `row ${n * 4 + 3}` : `new ${n}`, n }))
  const upserted = await sheet.ask('POST', '?upsert=id', { body })
  assert.equal(upserted.status, 201)
  assert.deepEqual(await callsSince(), { read: 1, write: 1 })
  const cells = await sheet.cells()
  for (const [at, { id, n }] of body.entries()) {
    const inSheet = cells.filter(([own]) => own === id)
    assert.deepEqual(inSheet, [[id, n]], `row ${at} of the request`)
  }
  assert.equal((await sheet.ask('DELETE', '/by/id/first')).status, 200)
  assert.equal((await sheet.cells()).length, cells.length - 1)
})

test('a person who sorts between the read of a column and that of rows: the row that was named is changed', async (t) => {
  const { newSheet, local } = await startGoogleGround(t)
  const rows = Array.from({ length: 30 }, (_, n) => [`row ${n + 2}`, n])
  const sheet = await newSheet('s', [header, ...rows])
  await sheet.batchUpdate(soTallThatReadsAreApart)
  await sheet.ask('GET')
  await sheet.ask('POST', '', { body: { id: 'first', n: 1 } })
  for (const [at, match] of ['values:batchGetByDataFilter', ':getByDataFilter'].entries()) {
    const { spreadsheetId } = sheet
    const edit = { op: 'sort', column: 2, descending: at === 0, match, beforeCall: 1 }
    await local.control('POST', 'edit', { spreadsheetId, tab: 'Items', ...edit })
    const callsSince = await countCalls(local)
    const changed = await sheet.ask('PATCH', '/by/id/row%205', { body: { n: 100 + at } })
    assert.ok((await callsSince()).read > 1, 'reads that an edit can come between')
    assert.deepEqual([changed.status, changed.body.data], [200, { id: 'row 5', n: 100 + at }])
    const cells = await sheet.cells()
    assert.deepEqual(
      cells.filter(([, n]) => typeof n === 'number' && n >= 100),
      [['row 5', 100 + at]],
    )
  }
})

for (const isTall of [false, true])
  test(`a date is no number, ${isTall ? 'also where only the values of its column are read' : 'where its column is read with formats'}`, async (t) => {
    const { newSheet } = await startGoogleGround(t)
    const sheet = await newSheet('s', [
      ['day', 'n'],
      [45_000, 1],
      ['x', 2],
    ])
    if (isTall) await sheet.batchUpdate(soTallThatReadsAreApart)
    await sheet.batchUpdate({
      updateCells: {
        start: { sheetId: 0, rowIndex: 1, columnIndex: 0 },
        rows: [
          { values: [{ userEnteredFormat: { numberFormat: { type: 'DATE', pattern: 'yyyy-mm-dd' } } }] },
        ],
        fields: 'userEnteredFormat.numberFormat',
      },
    })
    await sheet.ask('GET')
    assert.equal((await sheet.ask('PATCH', '/3', { body: { n: 3 } })).status, 200)
    await sheet.ask('POST', '', { body: { day: 'first' } })
    assert.equal((await sheet.ask('PATCH', '/by/day/45000', { body: { n: 9 } })).status, 404)
    assert.equal((await sheet.ask('PATCH', '/by/day/2023-03-15', { body: { n: 9 } })).body.row, 2)
    assert.equal((await sheet.ask('POST', '?upsert=day', { body: { day: 45_000, n: 3 } })).status, 201)
  })

test('of a small sheet that is read, the answer of a write shows the whole: readers need no read of their own', async (t) => {
  const { newSheet, local, rowport } = await startGoogleGround(t)
  const sheet = await newSheet('s', [
    [...header, 'sum'],
    ['a', 1],
    ['b', 2],
  ])
  await sheet.batchUpdate({
    updateCells: {
      start: { sheetId: 0, rowIndex: 1, columnIndex: 2 },
      rows: [{ values: [{ userEnteredValue: { formulaValue: '=SUM(B2:B100)' } }] }],
      fields: 'userEnteredValue',
    },
  })
  await sheet.ask('PATCH', '/3', { body: { n: 2 } })
  await sheet.ask('GET')
  const callsSince = await countCalls(local)
  assert.equal((await sheet.ask('PATCH', '/3', { body: { n: 20 } })).status, 200)
  assert.deepEqual(await callsSince(), { read: 1, write: 1 })
  const { body, headers } = await sheet.ask('GET')
  assert.deepEqual(
    body,
    [
      { id: 'a', n: 1, sum: 21 },
      { id: 'b', n: 20, sum: null },
    ],
    'also what is computed from it elsewhere',
  )
  assert.equal(headers.get('cache-status'), 'rowport; hit')
  assert.equal((await sheet.ask('POST', '', { body: { id: 'c', n: 3 } })).status, 201)
  assert.equal((await sheet.ask('DELETE', '/3')).status, 200)
  await callsSince()
  assert.deepEqual((await sheet.ask('GET')).body, [
    { id: 'a', n: 1, sum: 4 },
    { id: 'c', n: 3, sum: null },
  ])
  assert.deepEqual(await callsSince(), { read: 0, write: 0 })
  // What a person does since is seen when it must be, as after any read.
  await sheet.batchUpdate({
    deleteDimension: { range: { sheetId: 0, dimension: 'ROWS', startIndex: 2, endIndex: 3 } },
  })
  rowport.clock.advanceMs(11_000)
  assert.deepEqual((await sheet.ask('GET')).body, [{ id: 'a', n: 1, sum: 1 }])
})

test('deletions go together with other changes, and each means the row that has its number then', async (t) => {
  const { newSheet, local } = await startGoogleGround(t)
  const names = Array.from({ length: 60 }, (_, n) => `row ${n + 2}`)
  const sheet = await newSheet('s', [header, ...names.map((name) => [name, 0])])
  await local.control('POST', 'settings', { latencyMs: 20 })
  const callsSince = await countCalls(local)
  const answers = await Promise.all(
    Array.from({ length: 30 }, (_, n) =>
      n % 3 === 0
        ? sheet.ask('DELETE', `/${2 + n}`)
        : sheet.ask('PATCH', `/${2 + n}`, { body: { n: 100 + n } }),
    ),
  )
  assert.ok(answers.every(({ status }) => status === 200))
  const { write } = await callsSince()
  assert.ok(write <= 8, `${write} writes for 30 changes`)
  const cells = await sheet.cells()
  const deleted = answers.filter((_, n) => n % 3 === 0).map(({ body }) => body.data.id)
  assert.equal(new Set(deleted).size, 10, 'each took another row')
  assert.deepEqual(
    cells.slice(1).map(([name]) => name),
    names.filter((name) => !deleted.includes(name)),
    'and these are the ones that went',
  )
  for (const [n, { body }] of answers.entries()) {
    if (n % 3 === 0 || deleted.includes(body.data.id)) continue
    const row = cells.find(([name]) => name === body.data.id)
    assert.ok(row && Number(row[1]) >= 100, `${body.data.id} was changed`)
    assert.equal(body.data.n, 100 + n)
  }
})

/** Calls of Sheets since it was asked for the last time. */
async function countCalls(local: LocalGoogle): Promise<() => Promise<{ read: number; write: number }>> {
  const calls = async () => {
    const all = await local.control<{ calls: { kind: string; service: string }[] }>('GET', 'calls')
    return all.calls.filter(({ service }) => service === 'sheets')
  }
  let already = (await calls()).length
  return async () => {
    const since = (await calls()).slice(already)
    already += since.length
    const count = (kind: string) => since.filter((call) => call.kind === kind).length
    return { read: count('read'), write: count('write') }
  }
}

test('one row that the spreadsheet will not have does not fail those beside it', async (t) => {
  const { newSheet, local } = await startGoogleGround(t)
  const sheet = await newSheet('s', [header])
  await local.control('POST', 'settings', { strictValidation: true })
  await sheet.batchUpdate({
    setDataValidation: {
      range: { sheetId: 0, startRowIndex: 1, startColumnIndex: 1, endColumnIndex: 2 },
      rule: { strict: true, condition: { type: 'NUMBER_LESS', values: [{ userEnteredValue: '100' }] } },
    },
  })
  const wanted = Array.from({ length: 20 }, (_, at) => ({ id: `row ${at}`, n: at === 7 ? 1_000 : at }))
  const answers = await Promise.all(wanted.map((body) => sheet.ask('POST', '', { body })))
  answers.forEach(({ status, body }, at) => {
    assert.equal(status, at === 7 ? 502 : 201, JSON.stringify(body))
  })
  assert.match(JSON.stringify(answers[7]?.body), /breaks a rule that the owner set/)
  const ids = (await sheet.cells()).slice(1).map(([id]) => id)
  assert.deepEqual(
    ids.sort(),
    wanted
      .filter((_, at) => at !== 7)
      .map(({ id }) => id)
      .sort(),
  )
})

test('a row that a person moved between reading and writing is judged again', async (t) => {
  const { newSheet, local } = await startGoogleGround(t)
  const sheet = await newSheet('s', [header, ['a', 1], ['b', 2]])
  const seen = await sheet.ask('GET', '/3')
  const { spreadsheetId } = sheet
  // After the read that `If-Match` is judged on, before the last look.
  const edit = { op: 'insertRow', row: 2, values: ['person', 0], beforeCall: 1, match: ':getByDataFilter' }
  await local.control('POST', 'edit', { spreadsheetId, tab: 'Items', ...edit })
  const ifMatch = seen.headers.get('etag') ?? ''
  assert.equal((await sheet.ask('PUT', '/3', { body: { n: 5 }, ifMatch })).status, 412)
  assert.deepEqual(await sheet.cells(), [header, ['person', 0], ['a', 1], ['b', 2]])
})

test('access that is withdrawn is told as such, and the write is not tried blindly', async (t) => {
  const { newSheet, local } = await startGoogleGround(t)
  const sheet = await newSheet('s', [header])
  await local.control('POST', 'grants/ada@example.com/revoke')
  const { status, body } = await sheet.ask('POST', '', { body: { id: 'a' } })
  assert.equal(status, 503)
  assert.equal(body.code, 'token_expired')
})

const soTallThatReadsAreApart = { appendDimension: { sheetId: 0, dimension: 'ROWS', length: 60_000 } }
