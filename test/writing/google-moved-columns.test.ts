import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { startGoogleGround } from './google-ground.ts'

const header = ['a', 'b']
const rows = [header, ['a:old', 'b:old']]
const atTheWrite = { match: ':batchUpdate', beforeCall: 1 }

for (const [what, edit] of [
  ['moved', { op: 'moveColumn', column: 1, to: 2 }],
  ['inserted', { op: 'insertColumn', column: 1, header: 'new' }],
] as const) {
  test(`a column that was ${what} before the request, right after another addition: each cell under its header`, async (t) => {
    const { sheet, person, standing } = await start(t)
    assert.equal((await sheet.ask('POST', '', { body: { a: 'a:1', b: 'b:1' } })).status, 201)
    await person(edit)
    const { status, body } = await sheet.ask('POST', '', { body: { a: 'a:2', b: 'b:2' } })
    assert.equal(status, 201)
    assert.deepEqual(await standing(4), { a: 'a:2', b: 'b:2' })
    assert.deepEqual([body.rows[0].a, body.rows[0].b, body.warnings], ['a:2', 'b:2', undefined])
  })

  test(`a column that is ${what} in the very moment of the write: put right before the answer`, async (t) => {
    const { sheet, person, standing, rowport } = await start(t)
    await person({ ...edit, ...atTheWrite })
    const sent = [{ a: 'a:1', b: 'b:1' }, { b: 'b:2' }]
    const { status, body } = await sheet.ask('POST', '', { body: sent })
    assert.equal(status, 201)
    assert.deepEqual(await standing(3), { a: 'a:1', b: 'b:1' })
    assert.deepEqual(await standing(4), { a: undefined, b: 'b:2' })
    assert.deepEqual(
      body.rows.map((row: Record<string, unknown>) => [row._row, row.a, row.b]),
      [
        [3, 'a:1', 'b:1'],
        [4, null, 'b:2'],
      ],
    )
    assert.equal(body.warnings, undefined)
    const told = rowport.seen.find(({ event }) => event === 'rows_put_right')
    assert.deepEqual(told && { ...told, sheetId: '' }, {
      event: 'rows_put_right',
      sheetId: '',
      rows: 2,
      isDone: true,
    })
    assert.deepEqual((await sheet.ask('GET', '/3')).body, {
      ...(what === 'inserted' ? { new: null } : {}),
      a: 'a:1',
      b: 'b:1',
    })
  })
}

test('the same when the answer to the addition is lost', async (t) => {
  const { sheet, person, standing, local } = await start(t)
  await local.control('POST', 'faults', { match: ':batchUpdate', kind: 'lost', times: 1 })
  await person({ op: 'moveColumn', column: 1, to: 2, ...atTheWrite })
  const first = await sheet.ask('POST', '', { body: { a: 'a:1', b: 'b:1' }, key: 'k1' })
  assert.deepEqual([first.status, first.body.rows[0]._row], [201, 3])
  assert.deepEqual(await standing(3), { a: 'a:1', b: 'b:1' })
})

test('a column that is gone is told, on both addresses, and the rest is put right', async (t) => {
  const { sheet, person, standing, rowport } = await start(t)
  await person({ op: 'deleteColumn', column: 1, ...atTheWrite })
  const { status, body, headers } = await sheet.ask('POST', '', {
    body: { a: 'a:1', b: 'b:1' },
    key: 'gone-1',
  })
  assert.equal(status, 201)
  assert.deepEqual(body.rows, [{ _row: 3, b: 'b:1' }])
  assert.match(headers.get('x-rowport-warning') ?? '', /column was removed/)
  assert.deepEqual(body.warnings, [headers.get('x-rowport-warning')])
  assert.deepEqual(await standing(3), { a: undefined, b: 'b:1' })
  const again = await sheet.ask('POST', '', { body: { a: 'a:1', b: 'b:1' }, key: 'gone-1' })
  assert.deepEqual(again.body, body, 'and told again')
  assert.ok(rowport.seen.some(({ event }) => event === 'write_raced'))
})

test('where it cannot be put right, because columns move again, the answer shows the row as it stands', async (t) => {
  const { sheet, person } = await start(t)
  await person({ op: 'moveColumn', column: 1, to: 2, ...atTheWrite })
  await person({ op: 'insertColumn', column: 1, header: 'new', match: ':batchUpdate', beforeCall: 2 })
  const { status, body, headers } = await sheet.ask('POST', '', { body: { a: 'a:1', b: 'b:1' } })
  assert.equal(status, 201)
  assert.match(headers.get('x-rowport-warning') ?? '', /columns of the spreadsheet were changed/)
  assert.equal(body.warnings.length, 1)
})

test('the same where columns only swap places again: the answer and its ETag are those of the row as it is', async (t) => {
  const { sheet, person, standing } = await start(t)
  await person({ op: 'moveColumn', column: 1, to: 2, ...atTheWrite })
  await person({ op: 'moveColumn', column: 1, to: 2, match: ':batchUpdate', beforeCall: 2 })
  const { body, headers } = await sheet.ask('POST', '', { body: { a: 'a:1', b: 'b:1' } })
  assert.equal(body.warnings.length, 1)
  const { a, b } = body.rows[0]
  assert.deepEqual({ a, b }, await standing(3))
  assert.equal((await sheet.ask('GET', '/3')).headers.get('etag'), headers.get('etag'))
})

test('a row that slips in while cells are put right: told, and no number that may be the other row', async (t) => {
  const { sheet, person, rowport } = await start(t)
  await person({ op: 'moveColumn', column: 1, to: 2, ...atTheWrite })
  await person({ op: 'insertRow', row: 2, values: ['n1', 'n2'], match: ':batchUpdate', beforeCall: 2 })
  const { status, body, headers } = await sheet.ask('POST', '', { body: { a: 'a:1', b: 'b:1' } })
  assert.equal(status, 201)
  assert.match(headers.get('x-rowport-warning') ?? '', /columns of the spreadsheet were changed/)
  assert.deepEqual([headers.get('location'), headers.get('etag')], [null, null])
  assert.equal(body.rows[0]._row, undefined)
  assert.ok(rowport.seen.some((one) => one.event === 'rows_put_right' && !one.isDone))
})

for (const [what, edit] of [
  ['renamed', { op: 'set', row: 1, column: 2, value: 'bb' }],
  ['written in capitals', { op: 'set', row: 1, column: 2, value: 'B' }],
  ['left without a header', { op: 'set', row: 1, column: 2, value: '' }],
  ['pushed down by a title', { op: 'insertRow', row: 1, values: ['My lamps'] }],
] as const) {
  test(`a column that is ${what} in that moment keeps its values, and the answer tells of it`, async (t) => {
    const { sheet, person } = await start(t)
    await person({ ...edit, ...atTheWrite })
    const { status, headers } = await sheet.ask('POST', '', { body: { a: 'a:1', b: 'b:1' } })
    assert.equal(status, 201)
    assert.match(headers.get('x-rowport-warning') ?? '', /columns of the spreadsheet were changed/)
    assert.deepEqual((await sheet.cells()).at(-1), ['a:1', 'b:1'])
  })
}

for (const [what, edit] of [
  ['one of them is deleted', { op: 'deleteColumn', column: 1 }],
  ['one more comes', { op: 'insertColumn', column: 1, header: 'b' }],
] as const) {
  test(`columns that share a name, and ${what} in that moment: nothing is guessed, and it is told`, async (t) => {
    const { sheet, person } = await start(t, 1, ['a', 'b', 'a'])
    await person({ ...edit, ...atTheWrite })
    const { status, headers } = await sheet.ask('POST', '', { body: { a: 'a:1', b: 'b:1' } })
    assert.equal(status, 201)
    assert.match(headers.get('x-rowport-warning') ?? '', /columns of the spreadsheet were changed/)
    assert.deepEqual((await sheet.cells()).at(-1)?.slice(0, 2), ['a:1', 'b:1'])
  })
}

test('a change of a row whose columns move in that moment, and whose answer is lost: as it stands, and told', async (t) => {
  const { sheet, person, standing, local } = await start(t)
  await local.control('POST', 'faults', { match: ':batchUpdate', kind: 'lost', times: 1 })
  await person({ op: 'moveColumn', column: 1, to: 2, ...atTheWrite })
  const { status, body, headers } = await sheet.ask('PUT', '/2', { body: { a: 'a:new' } })
  assert.equal(status, 200)
  assert.match(headers.get('x-rowport-warning') ?? '', /columns of the spreadsheet were changed/)
  assert.deepEqual(body.data, await standing(2))
})

test('a change of a row whose columns move in that moment is told as it stands', async (t) => {
  const { sheet, person, standing } = await start(t)
  await person({ op: 'moveColumn', column: 1, to: 2, ...atTheWrite })
  const { status, body, headers } = await sheet.ask('PUT', '/2', { body: { a: 'a:new' } })
  assert.equal(status, 200)
  assert.match(headers.get('x-rowport-warning') ?? '', /columns of the spreadsheet were changed/)
  assert.deepEqual(body.data, await standing(2))
})

test('rows that look alike, added at two instances in turn: each caller is told a number of its own', async (t) => {
  const { sheet } = await start(t, 2)
  const numbers: number[] = []
  for (let n = 0; n < 8; n++) {
    const { body, headers } = await sheet.ask('POST', '', { body: { a: 'same' }, instance: n % 2 })
    numbers.push(body.rows[0]._row)
    assert.match(headers.get('location') ?? '', new RegExp(`/${numbers.at(-1)}$`))
  }
  assert.deepEqual(numbers, [3, 4, 5, 6, 7, 8, 9, 10])
})

test('a lost answer, and a person who types the same below: no number is told that may be the other row', async (t) => {
  const { sheet, person, local } = await start(t)
  await person({ op: 'set', row: 3, column: 1, value: 'same', ...atTheWrite })
  await local.control('POST', 'faults', { match: ':batchUpdate', kind: 'lost', times: 1 })
  const { status, body, headers } = await sheet.ask('POST', '', { body: { a: 'same' } })
  assert.equal(status, 201)
  assert.deepEqual(body, {
    success: true,
    message: '1 row(s) added',
    rows_added: 1,
    rows: [{ a: 'same', b: null }],
  })
  assert.deepEqual([headers.get('location'), headers.get('etag')], [null, null])
  assert.equal((await sheet.cells()).filter(([a]) => a === 'same').length, 2)
})

async function start(t: TestContext, instances = 1, columns = header) {
  const { local, newSheet, rowport } = await startGoogleGround(t, { instances })
  const sheet = await newSheet('s', [columns, ...rows.slice(1)])
  const { spreadsheetId } = sheet
  return {
    local,
    rowport,
    sheet,
    async person(edit: object): Promise<void> {
      await local.control('POST', 'edit', { spreadsheetId, tab: 'Items', ...edit })
    },
    /** A row by the names above it. */
    async standing(rowNumber: number): Promise<Record<string, unknown>> {
      const cells = await sheet.cells()
      const row = cells[rowNumber - 1] ?? []
      return Object.fromEntries(header.map((name) => [name, row[cells[0]?.indexOf(name) ?? -1] || undefined]))
    },
  }
}
