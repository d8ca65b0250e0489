import assert from 'node:assert/strict'
import type { TestContext } from 'node:test'
import { createSpreadsheet } from '../emulator/google-clients.ts'
import { startLocalGoogle } from '../emulator/harness.ts'
import { tool } from './install-tools.ts'

/**
 * The npm package that most programs for Google Sheets use, told nothing: only the host is another one, its paths are as it writes
 * them. Goes through its everyday methods, and answers with how many it called.
 */
export async function driveGoogleSpreadsheet(t: TestContext): Promise<{ methods: number; requests: number }> {
  const google = await startLocalGoogle(t, { settings: { autoConsent: {} } })
  const spreadsheetId = await createSpreadsheet(google)
  const { access_token: token } = await google.tokens('ada@example.com')
  const { GoogleSpreadsheet } = await tool('google-spreadsheet')
  const plainFetch = globalThis.fetch
  let requests = 0
  globalThis.fetch = async (input, init) => {
    requests++
    const request = new Request(input, init)
    const url = request.url.replace(/^https:\/\/(?:sheets|www)\.googleapis\.com/, google.url)
    const body = request.body === null ? undefined : await request.text()
    const { method, headers } = request
    return plainFetch(url, { method, headers, ...(body !== undefined && { body }) })
  }
  t.after(() => {
    globalThis.fetch = plainFetch
  })
  let methods = 0
  /** Named by what it does, so that a failure says which. */
  const step = async <T>(name: string, act: () => Promise<T>): Promise<T> => {
    methods++
    return act().catch((error: Error) => {
      throw new Error(`${name}: ${error.message}`, { cause: error })
    })
  }

  const doc = new GoogleSpreadsheet(spreadsheetId, { token })
  await step('loadInfo', () => doc.loadInfo())
  assert.equal(doc.title, 'Shop')
  await step('updateProperties', () => doc.updateProperties({ title: 'Renamed' }))
  assert.equal(doc.title, 'Renamed')
  const header = ['numbers', 'letters', '', 'col1', 'col2', 'col3']
  const wish = {
    title: 'Rows & more',
    headerValues: header,
    gridProperties: { rowCount: 15, columnCount: 12 },
  }
  const sheet = await step<Sheet>('addSheet', () => doc.addSheet(wish))
  const values = ['0', '1', '2', '3', '4'].map((n) => [n, String.fromCharCode(65 + Number(n))])
  await step('addRows', () => sheet.addRows(values))
  const rows = await step<Row[]>('getRows', () => sheet.getRows())
  assert.deepEqual(
    rows.map((row) => row.get('numbers')),
    ['0', '1', '2', '3', '4'],
  )
  const paged = await step<Row[]>('getRows, a page', () => sheet.getRows({ offset: 2, limit: 2 }))
  assert.deepEqual(
    paged.map((row) => row.get('letters')),
    ['C', 'D'],
  )
  const typed = await step<Row>('addRow', () => sheet.addRow({ col1: 'true' }))
  assert.equal(typed.get('col1'), 'TRUE')
  const raw = await step<Row>('addRow, raw', () => sheet.addRow({ col1: 'true' }, { raw: true }))
  assert.equal(raw.get('col1'), 'true')
  await step('addRows, inserted', () => sheet.addRows([{ numbers: '9' }], { insert: true }))
  const [row] = rows
  assert.ok(row)
  row.set('col1', 1)
  row.set('col2', 2)
  row.set('col3', '=D2+E2')
  await step('save a row', () => row.save())
  assert.equal(row.get('col3'), '3')
  await step('delete a row', () => (rows[1] as Row).delete())
  await step('setHeaderRow', () => sheet.setHeaderRow(['numbers', 'letters', 'note', 'col1', 'col2', 'col3']))

  await step('loadCells', () => sheet.loadCells('A1:F6'))
  const cell = sheet.getCell(2, 2)
  cell.value = 'written'
  cell.textFormat = { bold: true }
  cell.note = 'a note'
  sheet.getCellByA1('F2').formula = '=HYPERLINK("https://example.com/?a=1", "link")'
  await step('saveUpdatedCells', () => sheet.saveUpdatedCells())
  await step('loadCells again', () => sheet.loadCells(['A1:C4', 'F2']))
  assert.equal(sheet.getCell(2, 2).value, 'written')
  assert.equal(sheet.getCellByA1('F2').hyperlink, 'https://example.com/?a=1')

  const range = { startRowIndex: 0, endRowIndex: 4, startColumnIndex: 0, endColumnIndex: 3 }
  const own = { sheetId: sheet.sheetId, ...range }
  await step('mergeCells', () => sheet.mergeCells({ ...range, startRowIndex: 6, endRowIndex: 8 }))
  await step('unmergeCells', () => sheet.unmergeCells({ ...range, startRowIndex: 6, endRowIndex: 8 }))
  const border = { style: 'SOLID', width: 1, color: { red: 0, green: 0, blue: 0 } }
  await step('updateBorders', () =>
    sheet.updateBorders(range, { top: border, bottom: border, innerHorizontal: border }),
  )
  const { filter } = await step<{ filter: { filterViewId: number } }>('addFilterView', () =>
    sheet.addFilterView({ title: 'Mine', range: own }),
  )
  const { filterViewId } = filter
  await step('updateFilterView', () => sheet.updateFilterView({ filterViewId, title: 'Ours' }, 'title'))
  await step('duplicateFilterView', () => sheet.duplicateFilterView(filterViewId))
  await step('deleteFilterView', () => sheet.deleteFilterView(filterViewId))
  const rule = {
    ranges: [own],
    booleanRule: { condition: { type: 'NUMBER_GREATER', values: [{ userEnteredValue: '1' }] }, format: {} },
  }
  await step('addConditionalFormatRule', () => sheet.addConditionalFormatRule(rule, 0))
  await step('updateConditionalFormatRule', () => sheet.updateConditionalFormatRule({ index: 0, rule }))
  await step('deleteConditionalFormatRule', () => sheet.deleteConditionalFormatRule(0))
  const { bandedRange } = await step<{ bandedRange: { bandedRangeId: number } }>('addBanding', () =>
    sheet.addBanding({ range: own, rowProperties: {} }),
  )
  const { bandedRangeId } = bandedRange
  await step('updateBanding', () =>
    sheet.updateBanding({ bandedRangeId, rowProperties: {} }, 'rowProperties'),
  )
  await step('deleteBanding', () => sheet.deleteBanding(bandedRangeId))
  await step('setBasicFilter', () => sheet.setBasicFilter({ range: { sheetId: sheet.sheetId } }))
  await step('clearBasicFilter', () => sheet.clearBasicFilter())
  await step('autoResizeDimensions', () =>
    sheet.autoResizeDimensions('COLUMNS', { startIndex: 0, endIndex: 2 }),
  )
  await step('setDataValidation', () =>
    sheet.setDataValidation(
      { ...own, startRowIndex: 9, endRowIndex: 10 },
      { condition: { type: 'BOOLEAN', values: [] } },
    ),
  )
  const named = await step<{ namedRange: { namedRangeId: string } }>('addNamedRange', () =>
    doc.addNamedRange('Mine', own),
  )
  await step('deleteNamedRange', () => doc.deleteNamedRange(named.namedRange.namedRangeId))

  const other = await step<Sheet>('addSheet', () =>
    doc.addSheet({ title: 'Text', headerValues: ['a', 'b', 'c'] }),
  )
  await step('addRows', () =>
    other.addRows([
      ['  x  y ', '1', 'q'],
      ['z', '2', 'q'],
      ['z', '2', 'q'],
      ['u,v', '3', 'q'],
    ]),
  )
  const at = { startRowIndex: 1, endRowIndex: 5, startColumnIndex: 0, endColumnIndex: 3 }
  await step('trimWhitespace', () => other.trimWhitespace(at))
  await step('deleteDuplicates', () => other.deleteDuplicates(at))
  await step('findReplace', () =>
    other.findReplace('q', 'found', { allSheets: false, sheetId: other.sheetId }),
  )
  const texts = await step<Row[]>('getRows', () => other.getRows())
  assert.deepEqual(
    texts.map((each) => [each.get('a'), each.get('c')]),
    [
      ['x y', 'found'],
      ['z', 'found'],
      ['u,v', 'found'],
    ],
  )
  await step('textToColumns', () =>
    other.textToColumns(
      { startRowIndex: 3, endRowIndex: 4, startColumnIndex: 0, endColumnIndex: 1 },
      'COMMA',
    ),
  )
  await step('pasteData', () => other.pasteData({ rowIndex: 6, columnIndex: 0 }, '1,2\n3,4', ','))
  await step('autoFill', () =>
    other.autoFill({
      source: { startRowIndex: 6, endRowIndex: 8, startColumnIndex: 0, endColumnIndex: 1 },
      dimension: 'ROWS',
      fillLength: 2,
    }),
  )
  await step('loadCells', () => other.loadCells('A1:C10'))
  assert.deepEqual(
    [6, 7, 8, 9].map((line) => other.getCell(line, 0).value),
    [1, 3, 5, 7],
  )
  assert.deepEqual([other.getCell(3, 0).value, other.getCell(3, 1).value], ['u', 'v'])
  await step('randomizeRange', () => other.randomizeRange({ ...at, endRowIndex: 4 }))
  await step('sortRange', () => other.sortRange(at, [{ dimensionIndex: 0, sortOrder: 'ASCENDING' }]))
  await step('insertDimension', () => other.insertDimension('ROWS', { startIndex: 1, endIndex: 2 }, false))
  await step('deleteRows', () => other.deleteRows(1, 2))
  await step('copyToSpreadsheet', () => other.copyToSpreadsheet(spreadsheetId))
  await step('duplicate', () => other.duplicate({ title: 'Twice' }))
  await step('clear', () => other.clear('A2:C4'))
  await step('clearRows', () => sheet.clearRows())
  await step('delete a sheet', () => other.delete())
  await step('a batch with holes', () =>
    doc._makeBatchUpdateRequest([
      null,
      { updateSpreadsheetProperties: { properties: { title: 'End' }, fields: 'title' } },
      null,
    ]),
  )
  await step('delete', () => doc.delete())
  return { methods, requests }
}

interface Row {
  get(name: string): unknown
  set(name: string, value: unknown): void
  save(): Promise<void>
  delete(): Promise<void>
}

// biome-ignore lint/suspicious/noExplicitAny: What others' packages export, their own types would say.
type Sheet = any
