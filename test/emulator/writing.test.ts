import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type Request, row, startBatchBench, text } from './batch-bench.ts'

test('a batch gives back what it left behind, and of that what the fields ask for', async (t) => {
  const bench = await startBatchBench(t, [
    ['name', 'day', 'at', 'both', 'next'],
    ['tea', '2026-11-15', '09:30:00', '2026-11-15 09:30:00', '=B2+1'],
  ])
  const fields =
    'replies,updatedSpreadsheet.sheets.data.rowData.values(userEnteredValue,effectiveValue,formattedValue,effectiveFormat.numberFormat.type,userEnteredFormat)'
  const answer = await bench.batch(
    [
      {
        appendCells: {
          sheetId: 0,
          fields: 'userEnteredValue',
          rows: [{ values: [text('=1+1'), { userEnteredValue: { formulaValue: '=1+1' } }] }],
        },
      },
    ],
    { includeSpreadsheetInResponse: true, responseRanges: ['Items!A2:E3'] },
    fields,
  )
  assert.deepEqual(Object.keys(answer).sort(), ['replies', 'updatedSpreadsheet'])
  const [before, added, ...none] = answer.updatedSpreadsheet?.sheets?.[0]?.data?.[0]?.rowData ?? []
  assert.equal(none.length, 0)
  assert.deepEqual(
    before?.values?.map((cell) => [cell.effectiveFormat?.numberFormat?.type, cell.formattedValue]),
    [
      [undefined, 'tea'],
      ['DATE', '2026-11-15'],
      ['TIME', '9:30:00'],
      ['DATE_TIME', '2026-11-15 9:30:00'],
      ['DATE', '2026-11-16'],
    ],
  )
  assert.equal(before?.values?.[1]?.effectiveValue?.numberValue, 46341)
  assert.equal(before?.values?.[1]?.userEnteredFormat?.numberFormat?.type, 'DATE')
  assert.deepEqual(before?.values?.[4]?.userEnteredFormat, undefined)
  assert.deepEqual(
    added?.values?.map(({ userEnteredValue, effectiveValue, formattedValue }) => ({
      userEnteredValue,
      effectiveValue,
      formattedValue,
    })),
    [
      {
        userEnteredValue: { stringValue: '=1+1' },
        effectiveValue: { stringValue: '=1+1' },
        formattedValue: '=1+1',
      },
      { userEnteredValue: { formulaValue: '=1+1' }, effectiveValue: { numberValue: 2 }, formattedValue: '2' },
    ],
  )
})

test('grid data in the answer of a batch: without fields only when asked for, without ranges of all tabs', async (t) => {
  const bench = await startBatchBench(t, [['name'], ['tea']])
  const request = { deleteDimension: { range: row(1) } }
  const plain = await bench.batch([request], { includeSpreadsheetInResponse: true })
  assert.equal(plain.updatedSpreadsheet?.sheets?.[0]?.properties?.title, 'Items')
  assert.equal(plain.updatedSpreadsheet?.sheets?.[0]?.data, undefined)
  const full = await bench.batch([{ addSheet: { properties: { title: 'More' } } }], {
    includeSpreadsheetInResponse: true,
    responseIncludeGridData: true,
  })
  assert.deepEqual(
    full.updatedSpreadsheet?.sheets?.map(({ data }) => data?.[0]?.rowData?.length),
    [1, undefined],
  )
  const silent = await bench.batch([request], { responseIncludeGridData: true })
  assert.equal(silent.updatedSpreadsheet, undefined)
})

test('appendCells goes below the last row with data, grows rows and never columns', async (t) => {
  const bench = await startBatchBench(t, [
    ['name', 'price'],
    ['tea', 3],
    ['', '=IF(1=2,1,"")'],
  ])
  const append = (...values: object[]): Request => ({
    appendCells: { sheetId: 0, fields: 'userEnteredValue', rows: [{ values }] },
  })
  await bench.batch([append(text('coffee'))])
  assert.deepEqual(await bench.values(), [['name', 'price'], ['tea', 3], [], ['coffee']])

  await bench.control('POST', 'edit', {
    spreadsheetId: bench.spreadsheetId,
    tab: 'Items',
    op: 'set',
    row: 1000,
    column: 'Z',
    value: 'last',
  })
  await bench.batch([append(text('beyond'))])
  assert.deepEqual(await bench.values('Items!A1001:A1001'), [['beyond']])
  assert.equal((await bench.dump()).tabs[0]?.rowCount, 1001)

  const wide = Array.from({ length: 27 }, () => text('x'))
  await bench.refuses(
    [append(text('first')), append(...wide)],
    'Invalid requests[1].appendCells: Attempting to write column: 26, beyond the last requested column of: 25',
  )
  await bench.batch([{ appendDimension: { sheetId: 0, dimension: 'COLUMNS', length: 1 } }, append(...wide)])
  assert.deepEqual(await bench.values('Items!AA1002'), [['x']])
})

test('updateCells stays inside the grid, touches only the named fields, and clears what is not given', async (t) => {
  const bench = await startBatchBench(t, [
    ['name', 'day', 'sum'],
    ['tea', '2026-11-15', '=1+1'],
  ])
  const { batch, values, refuses } = bench
  const update = (more: object): Request => ({ updateCells: { fields: 'userEnteredValue', ...more } })
  const start = (rowIndex: number, columnIndex = 0) => ({ start: { sheetId: 0, rowIndex, columnIndex } })

  await batch([update({ ...start(1), rows: [{ values: [text('007'), { userEnteredValue: null }] }] })])
  assert.deepEqual(await values('Items!A2:C2'), [['007', '', 2]])
  await batch([
    update({ ...start(1, 1), rows: [{ values: [{ userEnteredValue: { numberValue: 46342 } }] }] }),
  ])
  const { data } = await bench.sheetsApi.spreadsheets.values.get({
    spreadsheetId: bench.spreadsheetId,
    range: 'Items!B2',
  })
  assert.deepEqual(data.values, [['2026-11-16']])
  await batch([
    update({
      ...start(1, 1),
      fields: 'userEnteredValue,userEnteredFormat.numberFormat',
      rows: [{ values: [{ userEnteredValue: { numberValue: 5 } }] }],
    }),
  ])
  assert.deepEqual(await values('Items!B2'), [[5]])
  const range = { sheetId: 0, startRowIndex: 1, endRowIndex: 2, startColumnIndex: 0, endColumnIndex: 3 }
  await batch([update({ range, rows: [{ values: [text('only')] }] })])
  assert.deepEqual(await values('Items!A2:C2'), [['only']])

  await refuses(
    [update({ range, rows: [{ values: [text('a')] }, { values: [text('b')] }] })],
    'Invalid requests[0].updateCells: Attempting to write row: 2, beyond the last requested row of: 1',
  )
  await refuses(
    [update({ ...start(999), rows: [{ values: [text('a')] }, { values: [text('b')] }] })],
    'Invalid requests[0].updateCells: Attempting to write row: 1000, beyond the last requested row of: 999',
  )
  await refuses(
    [update({ ...start(1000), rows: [{ values: [text('a')] }] })],
    /Attempting to write row: 1000/,
  )
  await refuses(
    [update({ ...start(0, 26), rows: [{ values: [text('a')] }] })],
    /Attempting to write column: 26/,
  )
  await refuses([update({ ...start(0), rows: [{ values: [text('a')] }], fields: '' })], /At least one field/)
  const wrong = { userEnteredValue: { stringValue: 5 } }
  await refuses([update({ ...start(0), rows: [{ values: [wrong] }] })], /\(TYPE_STRING\), 5$/)
})

test('the last row that is not frozen cannot be deleted; frozen ones that go are frozen no more', async (t) => {
  const bench = await startBatchBench(t, [['name'], ['tea'], ['coffee']])
  const grid = (gridProperties: object, fields: string): Request => ({
    updateSheetProperties: { properties: { sheetId: 0, gridProperties }, fields },
  })
  await bench.batch([grid({ rowCount: 3 }, 'gridProperties.rowCount')])
  const all = { deleteDimension: { range: { sheetId: 0, dimension: 'ROWS', startIndex: 0, endIndex: 3 } } }
  await bench.refuses(
    [all],
    "Invalid requests[0].deleteDimension: You can't delete all the rows on the sheet.",
  )
  await bench.batch([grid({ frozenRowCount: 1 }, 'gridProperties.frozenRowCount')])
  const below = { deleteDimension: { range: { sheetId: 0, dimension: 'ROWS', startIndex: 1, endIndex: 3 } } }
  await bench.refuses(
    [below],
    'Invalid requests[0].deleteDimension: Sorry, it is not possible to delete all non-frozen rows.',
  )
  await bench.batch([{ deleteDimension: { range: row(0) } }])
  const { data } = await bench.sheetsApi.spreadsheets.get({ spreadsheetId: bench.spreadsheetId })
  assert.equal(data.sheets?.[0]?.properties?.gridProperties?.frozenRowCount, undefined)
})

test('cells and workbooks have a size that no request goes beyond', async (t) => {
  const bench = await startBatchBench(t, [['name']])
  const long = 'x'.repeat(50_001)
  const message = 'Your input contains more than the maximum of 50000 characters in a single cell.'
  const rows = [{ values: [text(long)] }]
  const fields = 'userEnteredValue'
  await bench.refuses(
    [{ updateCells: { start: { sheetId: 0 }, rows, fields } }],
    `Invalid requests[0].updateCells: ${message}`,
  )
  await bench.refuses(
    [{ appendCells: { sheetId: 0, rows, fields } }],
    `Invalid requests[0].appendCells: ${message}`,
  )
  await bench.batch([{ appendCells: { sheetId: 0, rows: [{ values: [text(long.slice(1))] }], fields } }])

  const grow: Request = { appendDimension: { sheetId: 0, dimension: 'ROWS', length: 383_616 } }
  const limit =
    'This action would increase the number of cells in the workbook above the limit of 10000000 cells.'
  await bench.refuses([grow], `Invalid requests[0].appendDimension: ${limit}`)
  await bench.batch([{ appendDimension: { sheetId: 0, dimension: 'ROWS', length: 383_615 } }])
  await bench.refuses([{ addSheet: {} }], `Invalid requests[0].addSheet: ${limit}`)
  await bench.refuses(
    [{ insertDimension: { range: row(0) } }],
    `Invalid requests[0].insertDimension: ${limit}`,
  )
})

test('formulas go on meaning their own row when people insert, delete and sort', async (t) => {
  const bench = await startBatchBench(t, [
    ['name', 'price', 'double'],
    ['tea', 3, '=B2*2'],
    ['coffee', 4, '=B3*2'],
    ['all', '=SUM(B2:B3)', '=B2'],
  ])
  const edit = { spreadsheetId: bench.spreadsheetId, tab: 'Items' }
  await bench.control('POST', 'edit', { ...edit, op: 'insertRow', row: 2, values: ['milk', 1, '=B2*2'] })
  assert.deepEqual((await bench.values()).slice(1), [
    ['milk', 1, 2],
    ['tea', 3, 6],
    ['coffee', 4, 8],
    ['all', 7, 3],
  ])
  await bench.batch([{ deleteDimension: { range: row(2) } }])
  assert.deepEqual((await bench.values()).slice(1), [
    ['milk', 1, 2],
    ['coffee', 4, 8],
    ['all', 4, '#REF! (Reference does not exist.)'],
  ])
  await bench.batch([{ deleteDimension: { range: row(3) } }])
  await bench.control('POST', 'edit', { ...edit, op: 'sort', column: 'A' })
  assert.deepEqual((await bench.values()).slice(1), [
    ['coffee', 4, 8],
    ['milk', 1, 2],
  ])
  const { data } = await bench.sheetsApi.spreadsheets.values.get({
    spreadsheetId: bench.spreadsheetId,
    range: 'Items!C2:C3',
    valueRenderOption: 'FORMULA',
  })
  assert.deepEqual(data.values, [['=B2*2'], ['=B3*2']])
})

test('a person inserts, moves and deletes columns: cells go along, and formulas with them', async (t) => {
  const bench = await startBatchBench(t, [
    ['name', 'price', 'double'],
    ['tea', 3, '=B2*2'],
  ])
  const edit = { spreadsheetId: bench.spreadsheetId, tab: 'Items' }
  await bench.control('POST', 'edit', { ...edit, op: 'insertColumn', column: 'B', header: 'note' })
  assert.deepEqual(await bench.values(), [
    ['name', 'note', 'price', 'double'],
    ['tea', '', 3, 6],
  ])
  await bench.control('POST', 'edit', { ...edit, op: 'deleteColumn', column: 2 })
  await bench.control('POST', 'edit', { ...edit, op: 'moveColumn', column: 1, to: 2 })
  assert.deepEqual((await bench.values())[0], ['price', 'name', 'double'])
  await bench.control('POST', 'edit', { ...edit, op: 'moveColumn', column: 2, to: 1 })
  assert.deepEqual((await bench.values())[0], ['name', 'price', 'double'])
})
