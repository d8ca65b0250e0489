import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import type { Cell } from '../../../../sheets/rows/grid.ts'
import { decodeXlsx } from '../read/xlsx.ts'
import { unzip, withPart } from '../workbook.fixture.ts'
import {
  add,
  editWorkbook,
  header,
  rowsAfter,
  rowXmlAfter,
  SHEET,
  update,
  worksheet,
} from './edit.fixture.ts'
import { editXlsx } from './edit.ts'

describe('an update writes its cells', () => {
  test('of every type, and everything reads back', async () => {
    const values: Cell[] = [
      0,
      -1.5,
      1e-300,
      1.7976931348623157e308,
      0.1 + 0.2,
      123456789012345680000,
      true,
      false,
      'text',
      ' two  spaces ',
      '=1+1',
      '007',
      'TRUE',
      '#N/A',
      '2026-11-15',
      '<a> & "b" \'c\' ]]>',
      'line\nbreak\ttab',
      'carriage\r\nreturn\r',
      '_x000D_ _x0041_ snake_x_case _x00',
      '_x0041\u0001',
      'control \u0001\u000b\u001f\uffff\ufffe',
      'ünï 東京 😀',
      '__proto__',
      'x'.repeat(32_767),
    ]
    for (const value of values) {
      const change = update(2, [1, value])
      const { bytes, results } = await editWorkbook(
        { rows: `${header}<row r="2"><c r="A2"><v>1</v></c></row>` },
        change,
      )
      assert.deepEqual(results, [{ kind: 'update', row: [1, value] }])
      assert.deepEqual((await decodeXlsx(bytes, {})).rows[1], [1, value])
    }
    assert.deepEqual(
      await rowsAfter({ rows: `${header}<row r="2"><c r="B2"><v>1</v></c></row>` }, update(2, [1, -0])),
      [
        ['a', 'b'],
        [null, 0],
      ],
    )
  })

  test('in their places among the others, whose text stays', async () => {
    const rows =
      `${header}<row r="2" ht="30" spans="1:3"  customHeight='1'><c r="A2" s="1"><f>1+1</f><v>2</v></c>\n` +
      '<c r="C2" s="2" t="s"><v>0</v></c><!-- kept --></row><row r="3"><c r="A3" t="str"><v>z</v></c></row>'
    const workbook = {
      rows,
      sharedStrings: '<si><r><t>in </t></r><r><t>runs</t></r></si>',
      formats: [0, 0, 0],
    }
    assert.equal(
      await rowXmlAfter(workbook, update(2, [1, 5], [3, 'x'])),
      `${header}<row r="2" ht="30"   customHeight='1'><c r="A2" s="1"><f>1+1</f><v>2</v></c>\n` +
        '<c r="B2"><v>5</v></c><c r="C2" s="2" t="s"><v>0</v></c>' +
        '<c r="D2" t="inlineStr"><is><t xml:space="preserve">x</t></is></c><!-- kept --></row>' +
        '<row r="3"><c r="A3" t="str"><v>z</v></c></row>',
    )
  })

  test('a cell keeps its style, whatever it held and holds', async () => {
    const rows = `${header}<row r="2"><c r="A2" s="1" t="s" cm="1" vm="2"><v>0</v></c><c r="B2" s="2"><v>1</v></c></row>`
    const workbook = { rows, sharedStrings: '<si><t>x</t></si>', formats: [0, '0.00', 4] }
    assert.equal(
      await rowXmlAfter(workbook, update(2, [0, 5], [1, null])),
      `${header}<row r="2"><c r="A2" s="1"><v>5</v></c><c r="B2" s="2"/></row>`,
    )
  })

  test('an empty cell without a style is no cell', async () => {
    const rows = `${header}<row r="2"><c r="A2"><v>1</v></c><c r="B2"><v>2</v></c></row>`
    assert.equal(
      await rowXmlAfter({ rows }, update(2, [0, null], [4, null], [5, ''])),
      `${header}<row r="2"><c r="B2"><v>2</v></c></row>`,
    )
  })

  test('a value that is there already is left as it stands: rich text, a date, a number', async () => {
    const rows =
      `${header}<row r="2"><c r="A2" t="s"><v>0</v></c><c r="B2" s="1"><v>46341</v></c>` +
      '<c r="C2"><v>1.50E1</v></c><c r="D2" s="1"/></row>'
    const workbook = { rows, sharedStrings: '<si><r><t>in </t></r><r><t>runs</t></r></si>', formats: [0, 14] }
    const change = update(2, [0, 'in runs'], [1, '2026-11-15'], [2, 15], [3, null])
    assert.equal(await rowXmlAfter(workbook, change), rows)
  })

  test('a formula is replaced when its column is given, also by the value it has', async () => {
    const rows = `${header}<row r="2"><c r="A2"><f>1+1</f><v>2</v></c><c r="B2"><f>A2</f><v>2</v></c></row>`
    assert.equal(
      await rowXmlAfter({ rows }, update(2, [0, 2])),
      `${header}<row r="2"><c r="A2"><v>2</v></c><c r="B2"><f>A2</f><v>2</v></c></row>`,
    )
  })

  test('a new cell takes the style of its row, else of its column', async () => {
    const cols = '<cols><col min="2" max="3" style="2"/></cols>'
    const workbook = worksheet(
      `${header}<row r="2" s="1" customFormat="1"><c r="A2"><v>1</v></c></row><row r="3" s="1"><c r="A3"><v>1</v></c></row>`,
      cols,
    )
    workbook.formats = [0, '0.00', '0.0']
    assert.equal(
      await rowXmlAfter(workbook, update(2, [1, 5]), update(3, [1, 6], [3, 7])),
      `${header}<row r="2" s="1" customFormat="1"><c r="A2"><v>1</v></c><c r="B2" s="1"><v>5</v></c></row>` +
        '<row r="3" s="1"><c r="A3"><v>1</v></c><c r="B3" s="2"><v>6</v></c><c r="D3"><v>7</v></c></row>',
    )
  })

  test('rows and cells that do not say their number get it', async () => {
    const rows =
      '<row><c><v>1</v></c></row><row/><row><c><v>2</v></c><c r="C3"><v>3</v></c><c><v>4</v></c></row>'
    assert.deepEqual(await rowsAfter({ rows }, update(3, [1, 'x'], [3, 'y']), update(2, [0, 9]), add([5])), [
      [1],
      [9],
      [2, 'x', 3, 'y'],
      [5],
    ])
  })
})

describe('a number in a cell that shows dates', () => {
  const styles = (xfs: string) =>
    `<styleSheet><numFmts count="1"><numFmt numFmtId="164" formatCode="yyyy"/></numFmts><cellXfs count="2">${xfs}</cellXfs><x/></styleSheet>`
  const xfs =
    '<xf numFmtId="0"/><xf applyNumberFormat="1" numFmtId="164" fontId="3" fillId="2"><alignment wrapText="1"/></xf>'
  const rows = `${header}<row r="2"><c r="A2" s="1"><v>46341</v></c><c r="B2" s="1"><v>46342</v></c></row>`
  const workbook = { rows, parts: withPart('xl/styles.xml', { data: styles(xfs) }) }

  test('reads back as the number, in a style that differs in nothing else', async () => {
    const { bytes } = await editWorkbook(workbook, update(2, [0, 5], [1, 7]))
    assert.deepEqual((await decodeXlsx(bytes, {})).rows[1], [5, 7])
    const parts = unzip(bytes)
    const twin = '<xf applyNumberFormat="1" numFmtId="0" fontId="3" fillId="2"><alignment wrapText="1"/></xf>'
    assert.equal(
      String(parts.get('xl/styles.xml')),
      styles(xfs + twin).replace('<cellXfs count="2">', '<cellXfs count="3">'),
    )
    const again = await editXlsx(bytes, undefined, [add([8, '2026-11-15'])])
    assert.ok('bytes' in again)
    assert.deepEqual(
      unzip(again.bytes).get('xl/styles.xml'),
      parts.get('xl/styles.xml'),
      'no twin of the twin',
    )
  })

  test('a twin that is there is used, also by added rows', async () => {
    const twin = '<xf applyNumberFormat="1" numFmtId="0" fontId="3" fillId="2"><alignment wrapText="1"/></xf>'
    const data = styles(xfs + twin)
    const { bytes } = await editWorkbook({ rows, parts: withPart('xl/styles.xml', { data }) }, add([5, 'x']))
    assert.equal(String(unzip(bytes).get('xl/styles.xml')), data)
    assert.match(
      String(unzip(bytes).get(SHEET)),
      /<c r="A3" s="2"><v>5<\/v><\/c><c r="B3" s="1" t="inlineStr">/,
    )
  })

  test('also where the style of all cells without one is a date', async () => {
    const data = styles('<xf numFmtId="14"/>')
    const changes = [update(2, [2, 5]), add([null, 6])]
    const plain = `${header}<row r="2"><c r="A2"><v>46341</v></c></row>`
    const { bytes } = await editWorkbook(
      { rows: plain, parts: withPart('xl/styles.xml', { data }) },
      ...changes,
    )
    assert.deepEqual((await decodeXlsx(bytes, {})).rows.slice(1), [
      ['2026-11-15', null, 5],
      [null, 6],
    ])
  })

  test('text and booleans need no other style', async () => {
    const { bytes } = await editWorkbook(workbook, update(2, [0, '2026-01-01'], [1, true]))
    assert.deepEqual((await decodeXlsx(bytes, {})).rows[1], ['2026-01-01', true])
    assert.match(String(unzip(bytes).get(SHEET)), /<c r="B2" s="1" t="b"><v>1<\/v>/)
  })
})
