import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import type { Change } from '../../../../../sheets/change.ts'
import { decodeXlsx } from '../../read/xlsx.ts'
import { unzip, zip } from '../../workbook.fixture.ts'
import { formula, sheet, workbook } from '../deletion.fixture.ts'
import { SHEET } from '../edit.fixture.ts'
import { editXlsx } from '../edit.ts'
import { precedentsOf } from './precedents.ts'

const OTHER = 'xl/worksheets/sheet1.xml'
const change = (rowNumber: number, columnIndex: number, value: number): Change => ({
  kind: 'update',
  rowNumber,
  cells: [{ columnIndex, value }],
})

async function edited(bytes: Uint8Array, ...changes: Change[]) {
  const outcome = await editXlsx(bytes, undefined, changes)
  assert.ok('bytes' in outcome, JSON.stringify(outcome))
  const parts = new Map([...unzip(outcome.bytes)].map(([name, data]) => [name, String(data)]))
  return { ...outcome, parts }
}

/** Names in the first row, from B on. */
const names = (columns: string) => Array.from(columns, (column) => `<c r="${column}1"><v>1</v></c>`).join('')

/** The cells of a part whose formulas say that they have to be calculated. */
function markedIn(part: string | undefined): string[] {
  return Array.from((part ?? '').matchAll(/<c r="([A-Z]+\d+)"[^>]*><f ca="1"/g), ([, cell]) => cell ?? '')
}

describe('what rests on a changed cell is marked', () => {
  const rows = {
    1: names('BC'),
    2: formula('B2', 'A2*2') + formula('C2', 'B2+1'),
    3: formula('B3', 'A3*2') + formula('C3', 'B3+1'),
    4: formula('B4', 'SUM(A2:A10)'),
    5: formula('B5', 'PI()*2'),
  }

  test('directly, through others, and on other tabs; and nothing else', async () => {
    const others = [
      { name: 'Other', rows: sheet({ 1: formula('B1', 'SUM(Data!C:C)'), 2: formula('B2', 'A1+1') }) },
    ]
    const { parts, results, bytes } = await edited(workbook(sheet(rows), others), change(3, 0, 1000))
    assert.deepEqual(markedIn(parts.get(SHEET)), ['B3', 'C3', 'B4'])
    assert.deepEqual(markedIn(parts.get(OTHER)), ['B1'])
    assert.match(parts.get('xl/workbook.xml') ?? '', /<calcPr fullCalcOnLoad="1" calcCompleted="0"\/>/)
    assert.deepEqual(results[0]?.stale, { columns: [1, 2], cells: 4 })
    const own = await decodeXlsx(bytes, {})
    assert.deepEqual(
      own.stale,
      new Map([
        [2, new Set([1, 2])],
        [3, new Set([1])],
      ]),
    )
    assert.deepEqual((await decodeXlsx(bytes, { tab: 'Other' })).stale, new Map([[0, new Set([1])]]))
    assert.deepEqual((await decodeXlsx(bytes, { values: 'formatted' })).stale, own.stale)
  })

  test('again, where other results were outdated before', async () => {
    const first = await edited(workbook(sheet(rows)), change(3, 0, 1000))
    const second = await edited(first.bytes, change(2, 5, 1))
    assert.equal(second.results[0]?.stale, undefined)
    assert.deepEqual(markedIn(second.parts.get(SHEET)), ['B3', 'C3', 'B4'])
    const third = await edited(first.bytes, change(3, 5, 1))
    assert.deepEqual(third.results[0]?.stale, { columns: [1, 2], cells: 0 }, 'the row shows them')
  })

  test('not by a value that is there already', async () => {
    const { parts, results } = await edited(workbook(sheet(rows)), change(3, 0, 3))
    assert.deepEqual(markedIn(parts.get(SHEET)), [])
    assert.equal(results[0]?.stale, undefined)
  })

  test('by rows that are added and deleted', async () => {
    const added = await edited(workbook(sheet({ 4: formula('B4', 'SUM(A:A)') })), {
      kind: 'add',
      rows: [[1]],
    })
    assert.deepEqual(added.results[0]?.stale, { columns: [], cells: 1 })
    const deleted = await edited(workbook(sheet(rows)), { kind: 'delete', rowNumber: 7 })
    assert.deepEqual(markedIn(deleted.parts.get(SHEET)), ['B4'])
    assert.match(deleted.parts.get(SHEET) ?? '', /<f ca="1">SUM\(A2:A9\)/)
    const others = [{ name: 'Other', rows: sheet({ 1: formula('B1', 'SUM(Data!A5:A9)') }) }]
    const beside = await edited(workbook(sheet(), others), { kind: 'delete', rowNumber: 7 })
    assert.match(beside.parts.get(OTHER) ?? '', /<f ca="1">SUM\(Data!A5:A8\)/)
  })

  test('by a row that goes, where a result says which row a cell is in', async () => {
    const places = {
      4: formula('B4', 'ROW()'),
      8: formula('B8', 'ROW()') + formula('C8', 'A8*2'),
      9: formula('B9', 'ROW(A3)') + formula('C9', 'ROW(A9)*2'),
      10: formula('B10', 'COLUMN()'),
    }
    const others = [
      { name: 'Other', rows: sheet({ 1: formula('B1', 'ROW()'), 2: formula('B2', 'MAX(ROW(Data!C8:C9))') }) },
    ]
    const { parts } = await edited(workbook(sheet(places), others), { kind: 'delete', rowNumber: 5 })
    assert.deepEqual(markedIn(parts.get(SHEET)), ['B7', 'B8', 'C8'])
    assert.deepEqual(markedIn(parts.get(OTHER)), ['B2'])
  })

  test('where two tabs have a name for themselves', async () => {
    const names =
      '<definedNames><definedName name="Price" localSheetId="0">Data!$A$3</definedName>' +
      '<definedName name="Price" localSheetId="1">Data!$A$9</definedName></definedNames>'
    const bytes = workbook(sheet({ 7: formula('B7', 'Price*2') }), [], [], names)
    assert.deepEqual(markedIn((await edited(bytes, change(3, 0, 1000))).parts.get(SHEET)), ['B7'])
  })

  test('shared and array formulas, names, and what cannot be told', async () => {
    const odd = {
      2: '<c r="B2"><f t="shared" ref="B2:B4" si="0">A2*2</f><v>0</v></c>',
      3: '<c r="B3"><f t="shared" si="0"/><v>0</v></c>',
      4: '<c r="B4"><f t="shared" si="0"/><v>0</v></c>',
      5: '<c r="B5"><f t="array" ref="B5:C6" ca="0">A3:A4*2</f><v>0</v></c><c r="C5"><v>0</v></c>',
      7: formula('B7', 'Price*2') + formula('C7', 'INDIRECT("A"&3)'),
      8: formula('C8', 'Orders[[#This Row],[Price]]*2'),
      9: formula('B9', 'Unknown+1') + formula('C9', 'IF(TRUE,"A3",#N/A)'),
      10: formula('B10', 'Orders[Price]'),
    }
    const names = '<definedNames><definedName name="PRICE">Data!$A$3</definedName></definedNames>'
    const { parts } = await edited(workbook(sheet(odd), [], [], names), change(3, 0, 1000))
    const text = parts.get(SHEET) ?? ''
    assert.deepEqual(markedIn(text), ['B3', 'B7', 'C7', 'B9', 'B10'])
    assert.match(text, /<f t="array" ref="B5:C6" ca="1">/)
  })

  test('a chain of five thousand, upwards and downwards, in time', async () => {
    const last = 5_000
    const row = (number: number) =>
      `<row r="${number}"><c r="A${number}"><v>1</v></c>` +
      `${formula(`B${number}`, number === 2 ? 'A2' : `B${number - 1}+A${number}`)}` +
      `${formula(`C${number}`, number === last ? `A${last}` : `C${number + 1}+1`)}` +
      `${formula(`D${number}`, `SUM(A$2:A${number})`)}</row>`
    const rowsText = Array.from({ length: last - 1 }, (_, at) => row(at + 2)).join('')
    const text = `<worksheet><sheetData><row r="1"><c r="A1"><v>0</v></c></row>${rowsText}</sheetData></worksheet>`
    const startMs = performance.now()
    const { results } = await edited(workbook(text), change(2, 0, 5), change(last, 0, 5))
    assert.equal(results[0]?.stale?.cells, 3 * (last - 1))
    assert.ok(performance.now() - startMs < 20_000)
  })
})

test('a tab that cannot be looked through makes every result one that may be outdated', async () => {
  const others = [
    { name: 'Broken', rows: '<worksheet><sheetData><row><c><f>A1</f>' },
    { name: 'Third', rows: sheet({ 1: formula('B1', '1+1'), 2: formula('B2', 'Broken!A1') }) },
  ]
  const bytes = workbook(sheet(), others)
  const { parts, bytes: after } = await edited(bytes, change(3, 0, 1000))
  assert.match(parts.get('xl/workbook.xml') ?? '', /calcCompleted="false"/)
  const { rows, stale } = await decodeXlsx(after, { tab: 'Third' })
  assert.deepEqual(
    stale,
    new Map([
      [0, new Set([1])],
      [1, new Set([1])],
    ]),
  )
  assert.deepEqual([rows[0], rows[1]], [[1, 0], [2]], 'what rests on that tab has lost its result')
})

test('a formula that was never calculated is known to be empty for that reason', async () => {
  // As XML libraries and openpyxl write it; and one whose result is an empty text.
  for (const none of ['', '<v></v>', '<v/>', '<v> </v>']) {
    const cells = `<c r="B2"><f>A2*2</f>${none}</c><c r="C2" t="str"><f>""</f><v></v></c>`
    const bytes = workbook(sheet({ 1: names('BC'), 2: cells }))
    assert.deepEqual((await decodeXlsx(bytes, {})).stale, new Map([[1, new Set([1])]]), none)
    const { results } = await edited(bytes, change(2, 5, 1))
    assert.deepEqual(results[0]?.stale, { columns: [1], cells: 0 }, none)
  }
  const filling = '<c r="B2"><f t="array" ref="B2:C3">A2:B3</f><v></v></c><c r="C2"/>'
  const { stale } = await decodeXlsx(workbook(sheet({ 2: filling })), {})
  assert.deepEqual([...(stale?.keys() ?? [])], [1, 2])
})

describe('an outdated result is not left in the file, as programs that do not calculate would take it for true', () => {
  test('of a number, a text, a truth and an error, here and on other tabs', async () => {
    const cells =
      `${formula('B3', 'A3*2')}<c r="C3" s="0" t="str"><f>A3&amp;"x"</f><v>3x</v></c>` +
      '<c r="D3" t="b"><f>A3>1</f><v>1</v></c><c t="e" r="E3"><f>A3/0</f><v>#DIV/0!</v></c>' +
      '<c r="F3" t="inlineStr"><f>A3&amp;""</f><is><t>3</t></is></c><c r="G3"><v>7</v></c>'
    const others = [{ name: 'Other', rows: sheet({ 2: formula('B2', 'Data!A3') }) }]
    const { parts, bytes, results } = await edited(
      workbook(sheet({ 1: names('BCDEFG'), 3: cells }), others),
      change(3, 0, 1000),
    )
    assert.match(
      parts.get(SHEET) ?? '',
      /<c r="B3"><f ca="1">A3\*2<\/f><\/c><c r="C3" s="0"><f ca="1">A3&amp;"x"<\/f><\/c><c r="D3"><f ca="1">A3>1<\/f><\/c><c r="E3"><f ca="1">A3\/0<\/f><\/c><c r="F3"><f ca="1">A3&amp;""<\/f><\/c><c r="G3"><v>7<\/v>/,
    )
    assert.match(parts.get(OTHER) ?? '', /<c r="B2"><f ca="1">Data!A3<\/f><\/c>/)
    const row = [1000, null, null, null, null, null, 7]
    const read = await decodeXlsx(bytes, {})
    assert.deepEqual(read.rows[2], row)
    const formulas = [1, 2, 3, 4, 5]
    assert.deepEqual(results[0], {
      kind: 'update',
      row,
      stale: { columns: formulas, cells: 6 },
      lost: { formulas },
    })
    // Another program may drop the marks, and the results are missing still.
    const dropped = zip(
      [...unzip(bytes)].map(([name, data]) => ({
        name,
        data: String(data).replaceAll(' ca="1"', '').replace(' calcCompleted="0"', ''),
      })),
    )
    assert.deepEqual((await decodeXlsx(dropped, {})).stale, new Map([[2, new Set([1, 2, 3, 4, 5])]]))
  })

  test('in all cells that one formula fills', async () => {
    const filled = {
      5: '<c r="B5"><f t="array" ref="B5:C6">A3:A4*2</f><v>6</v></c><c r="C5"><v>6</v></c><c r="D5"><v>1</v></c>',
      6: '<c r="B6"><v>8</v></c><c r="C6"><v>8</v></c>',
    }
    const { bytes } = await edited(workbook(sheet(filled)), change(3, 0, 1000))
    const { rows, stale } = await decodeXlsx(bytes, {})
    assert.deepEqual([rows[4], rows[5]], [[5, null, null, 1], [6]])
    assert.deepEqual(
      stale,
      new Map([
        [4, new Set([1, 2])],
        [5, new Set([1, 2])],
      ]),
    )
  })

  test('but the name of a column stays', async () => {
    const header = '<c r="B1" t="str"><f>"Sum "&amp;A3</f><v>Sum 3</v></c>'
    const { rows, stale } = await decodeXlsx(
      (await edited(workbook(sheet({ 1: header })), change(3, 0, 9))).bytes,
      {},
    )
    assert.deepEqual(rows[0], [1, 'Sum 3'])
    assert.deepEqual(stale, new Map([[0, new Set([1])]]))
  })

  test('a row that only had results is still not written over', async () => {
    const bytes = workbook(
      sheet({ 10: '' }).replace(
        '</sheetData>',
        `<row r="11">${formula('A11', 'SUM(A2:A10)')}</row></sheetData>`,
      ),
    )
    const first = await edited(bytes, change(3, 0, 9))
    const second = await edited(first.bytes, { kind: 'add', rows: [[12]] })
    assert.match(second.parts.get(SHEET) ?? '', /<f ca="1">SUM\(A2:A10\)<\/f><\/c><\/row><row r="12">/)
  })
})

const NAMES = {
  formulas: new Map([
    ['rate', 'Data!$B$1'],
    ['loop', 'loop+1'],
    ['from', 'Data!$C$2'],
    ['to', 'Data!$C$9'],
    ['keys', 'Data!$A$2:$A$9'],
    ['left', 'Data!A$5'],
  ]),
  tabs: new Set(['own', 'data', 'jan', 'dec']),
}

/** Whether a formula of another tab rests on a cell of `Data`, by row and column. */
function restsOn(formulaText: string, row: number, column: number): boolean {
  const { ranges, isUnclear } = precedentsOf(formulaText, 'own', 7, NAMES)
  const isThere = ({ tab, firstRow, lastRow, firstColumn, lastColumn }: (typeof ranges)[number]): boolean =>
    (tab === 'data' || tab === '*') &&
    firstRow <= row &&
    row <= lastRow &&
    firstColumn <= column &&
    column <= lastColumn
  return isUnclear || ranges.some(isThere)
}

test('a range of two references, however they are written, is all that is between them', () => {
  const formulas = [
    'SUM(Data!C2:Data!C9)',
    'SUM(Data!C2 : C9)',
    'SUM((Data!C2):Data!C9)',
    'SUM(Data!C2:(Data!C9))',
    'SUM(from:to)',
    'SUM(Data!C2:to)',
    'SUM(from:Data!C9)',
    'SUM(IF(TRUE,Data!C2,Data!C3):Data!C9)',
    'SUM(CHOOSE(1,Data!C2,Data!D2):Data!C9)',
    'SUM(INDEX(Data!C:C,2):INDEX(Data!C:C,9))',
    "SUM('Data'!C2:'Data'!C9)",
    'SUM(Data!$C$9:Data!$C$2)',
  ]
  for (const text of formulas) assert.ok(restsOn(text, 5, 3), text)
  for (const text of ['SUM(Data!C2:Data!C9)', 'SUM(from:to)']) assert.ok(!restsOn(text, 10, 3), text)
})

test('a range that a function stretches is as large as the one it goes by', () => {
  const formulas = [
    'SUMIF(Data!A2:A9,">102",Data!C2:C3)',
    'SUMIF(Data!A2:A9,">102",Data!C2)',
    'sumif(Data!A2:A9,">102",Data!$C$2:$C$3)',
    'AVERAGEIF(Data!A2:A9,">102",Data!C2:C3)',
    'SUMIF(Data!A:A,">102",Data!C1)',
    'SUMIF(Data!A2:A9,">102",from)',
    'SUMIF(keys,">102",Data!C2:C3)',
    'SUMIF(Data!A2:A9,">102",(Data!C2))',
    'SUMIF(Data!A2:A9,">102",INDEX(Data!C2:C3,1))',
    'SUMIF(Data!A2:A9,">102",Data!C2:D2)',
    'SUM(SUMIF(Data!A2:A9,{101,107},Data!C2:C3))',
    'SUMIF(Data!A2:A9,SUMIF(Data!A2:A9,1,Data!C2),Data!B2)',
    'LOOKUP(104,Data!A2:A9,Data!C2:C3)',
    'LOOKUP(104,Data!A2:H2,Data!C2)',
  ]
  for (const text of formulas) assert.ok(restsOn(text, 7, 3), text)
  const others = [
    'SUMIF(Data!A2:A6,1,Data!C2)',
    'SUMIF(Data!A2:A9,Data!C2,Data!B2:B9)',
    'SUMIF(Data!A2:B9,Data!C2)',
  ]
  for (const text of others) assert.ok(!restsOn(text, 7, 3), text)
})

test('hostile formulas and names are looked at in time', () => {
  const startMs = performance.now()
  const deep = precedentsOf('SUMIF('.repeat(1300), 'own', 7, NAMES)
  assert.equal(deep.isUnclear, true)
  const formulas = new Map(
    Array.from({ length: 300 }, (_, at) => [
      `n${at}_`,
      Array.from({ length: 300 }, (_, to) => `n${to}_`).join('+'),
    ]),
  )
  assert.equal(precedentsOf('n1_', 'own', 7, { formulas, tabs: new Set() }).isUnclear, true)
  assert.ok(performance.now() - startMs < 5000)
})

test('what a formula looks at', () => {
  const cases: [formula: string, ranges: string[], isUnclear: boolean][] = [
    ['A1+$B$2', ['own 1:1 1:1', 'own 2:2 2:2'], false],
    ['SUM(A1:B9,Other!C:C)', ['own 1:9 1:2', 'other 1:1048576 3:3'], false],
    ['Jan:Dec!A1', ['* 1:1 1:1'], false],
    ['[1]Data!A1+1', [], false],
    ['rate*2', ['data 1:1 2:2'], false],
    ['loop', [], true],
    ['"A1"&TRUE&#REF!&1E+05', [], false],
    ['_xlfn.XLOOKUP(A1,B:B,C:C)', ['own 1:1 1:1', 'own 1:1048576 2:2', 'own 1:1048576 3:3'], false],
    ["'my ''tab'!A1", ["my 'tab 1:1 1:1"], false],
    ['Orders[[#This Row],[Price]]', ['own 7:7 1:16384'], false],
    ['SUM(Orders[Price])', [], true],
    ['OFFSET(A1,1,0)', ['own 1:1 1:1'], true],
    ['left', ['data 5:5 1:16384'], false],
    ['LOG10(A1)', ['own 1:1 1:1'], false],
  ]
  for (const [text, ranges, isUnclear] of cases) {
    const found = precedentsOf(text, 'own', 7, NAMES)
    const shown = found.ranges.map(
      ({ tab, firstRow, lastRow, firstColumn, lastColumn }) =>
        `${tab} ${firstRow}:${lastRow} ${firstColumn}:${lastColumn}`,
    )
    assert.deepEqual([shown, found.isUnclear], [ranges, isUnclear], text)
  }
})

test('a row is told its columns with outdated results once each, and only those with a name', async () => {
  const array = (cell: string, ref: string) => `<c r="${cell}"><f t="array" ref="${ref}">A3:A4*2</f></c>`
  const cells = array('B3', 'B1:XFD1048576') + array('C3', 'C3:D9') + array('D3', 'B3:XFD3')
  const bytes = workbook(sheet({ 1: names('BD'), 3: cells }))
  const { results } = await edited(bytes, change(3, 0, 1000))
  assert.deepEqual(results[0]?.stale?.columns, [1, 3])
})
