import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ProviderFailure } from '../../../../sheets/provider-failure.ts'
import type { Cell } from '../../../../sheets/rows/grid.ts'
import { buildWorkbook, type TestWorkbook, withPart, workbookParts, zip } from '../workbook.fixture.ts'
import { decodeXlsx, listXlsxTabs } from './xlsx.ts'

async function rowsOf(workbook: TestWorkbook, tab?: string): Promise<Cell[][]> {
  return (await decodeXlsx(buildWorkbook(workbook), tab === undefined ? {} : { tab })).rows
}

/** The value of A1 when the sheet holds this one cell. */
async function cellOf(cell: string, workbook: TestWorkbook = {}): Promise<Cell | undefined> {
  return (await rowsOf({ ...workbook, rows: `<row r="1">${cell}</row>` }))[0]?.[0]
}

test('numbers', async () => {
  assert.equal(await cellOf('<c r="A1"><v>42</v></c>'), 42)
  assert.equal(await cellOf('<c r="A1" t="n"><v> -1.5E-3 </v></c>'), -0.0015)
  assert.equal(await cellOf('<c r="A1"><v>9007199254740993</v></c>'), 9007199254740992)
  assert.ok(Object.is(await cellOf('<c r="A1"><v>-0</v></c>'), 0))
})

test('what is no number stays the text it is', async () => {
  for (const text of ['0x10', 'NaN', 'Infinity', '1e999', '1,5', '12 34']) {
    assert.equal(await cellOf(`<c r="A1"><v>${text}</v></c>`), text)
  }
})

test('percentages and amounts are plain numbers', async () => {
  const formats = [9, 10, 44, '0.0%', '[$€-407] #,##0.00']
  for (const style of formats.keys()) {
    assert.equal(await cellOf(`<c r="A1" s="${style}"><v>0.25</v></c>`, { formats }), 0.25)
  }
})

test('booleans and errors', async () => {
  assert.equal(await cellOf('<c r="A1" t="b"><v>1</v></c>'), true)
  assert.equal(await cellOf('<c r="A1" t="b"><v>0</v></c>'), false)
  assert.equal(await cellOf('<c r="A1" t="b"><v>true</v></c>'), true)
  assert.equal(await cellOf('<c r="A1" t="e"><v>#N/A</v></c>'), '#N/A')
  assert.equal(await cellOf('<c r="A1" t="e"><v>#DIV/0!</v></c>'), '#DIV/0!')
})

test('a formula gives its last result, with its type', async () => {
  assert.equal(await cellOf('<c r="A1"><f>1+1</f><v>2</v></c>'), 2)
  assert.equal(await cellOf('<c r="A1" t="str"><f>"a"&amp;"b"</f><v>ab</v></c>'), 'ab')
  assert.equal(await cellOf('<c r="A1" t="str"><f>TEXT(50,"0000")</f><v>0050</v></c>'), '0050')
  assert.equal(await cellOf('<c r="A1" t="b"><f>TRUE()</f><v>1</v></c>'), true)
  assert.equal(await cellOf('<c r="A1" t="e"><f>NA()</f><v>#N/A</v></c>'), '#N/A')
  assert.equal(
    await cellOf('<c r="A1" s="1"><f>TODAY()</f><v>46341</v></c>', { formats: [0, 14] }),
    '2026-11-15',
  )
})

test('a formula without a result, an empty text and a formatted empty cell are empty', async () => {
  for (const empty of [
    '<c r="A1"><f>1+1</f></c>',
    '<c r="A1"><f>1+1</f><v/></c>',
    '<c r="A1" t="str"><f>""</f><v></v></c>',
    '<c r="A1" t="inlineStr"><is><t></t></is></c>',
    '<c r="A1" t="s"/>',
    '<c r="A1" t="b"/>',
    '<c r="A1" t="e"/>',
    '<c r="A1" t="d"/>',
    '<c r="A1" s="1"/>',
  ]) {
    const rows = await rowsOf({ rows: `<row r="1">${empty}<c r="B1"><v>1</v></c></row>`, formats: [0, 14] })
    assert.deepEqual(rows, [[null, 1]], empty)
  }
})

test('dates, date-times, times and durations by the format of the cell', async () => {
  const formats = [0, 14, 22, 20, 46, 'yyyy-mm-dd', '0.00']
  const rows = await rowsOf({
    formats,
    rows: `<row r="1">${formats.map((_, style) => `<c s="${style}"><v>46341.395833333336</v></c>`).join('')}</row>`,
  })
  assert.deepEqual(rows[0], [
    46341.395833333336,
    '2026-11-15',
    '2026-11-15T09:30:00',
    '09:30:00',
    '1112193:30:00',
    '2026-11-15',
    46341.395833333336,
  ])
})

test('a cell without a style has the first style of the workbook', async () => {
  assert.equal(await cellOf('<c r="A1"><v>46341</v></c>', { formats: [14] }), '2026-11-15')
})

test('a style that is not there is no date', async () => {
  for (const style of ['7', '-1', 'x', '__proto__', '1.5']) {
    assert.equal(await cellOf(`<c r="A1" s="${style}"><v>46341</v></c>`, { formats: [14] }), 46341)
  }
})

test('a format code in the file wins over the built-in format of its id', async () => {
  const styles =
    '<styleSheet><numFmts><numFmt numFmtId="14" formatCode="0.00"/></numFmts><cellStyleXfs><xf numFmtId="22"/></cellStyleXfs>' +
    '<cellXfs><xf numFmtId="14"/></cellXfs><dxfs><dxf><numFmt numFmtId="14" formatCode="d"/></dxf></dxfs></styleSheet>'
  const parts = withPart('xl/styles.xml', { data: styles })
  assert.equal(await cellOf('<c r="A1"><v>46341</v></c>', { parts }), 46341)
})

test('the 1904 date system', async () => {
  for (const flag of ['1', 'true']) {
    const workbookProperties = `<workbookPr date1904="${flag}"/>`
    const cell = '<c r="A1"><v>44879</v></c>'
    assert.equal(await cellOf(cell, { workbookProperties, formats: [14] }), '2026-11-15')
  }
  assert.equal(
    await cellOf('<c r="A1"><v>44879</v></c>', {
      workbookProperties: '<workbookPr date1904="0"/>',
      formats: [14],
    }),
    '2022-11-14',
  )
})

test('ISO date cells', async () => {
  assert.equal(await cellOf('<c r="A1" t="d"><v>2026-11-15</v></c>'), '2026-11-15')
  assert.equal(await cellOf('<c r="A1" t="d"><v>2026-11-15T09:30:00Z</v></c>'), '2026-11-15T09:30:00')
  const shownAsDate = '<c r="A1" t="d"><v>2026-11-15T00:00:00</v></c>'
  assert.equal(await cellOf(shownAsDate, { formats: [14] }), '2026-11-15')
})

test('shared strings: plain, in runs, without phonetic runs, with spaces, with escapes', async () => {
  const items: [xml: string, text: string][] = [
    ['<si><t>plain</t></si>', 'plain'],
    ['<si><t xml:space="preserve">  two  spaces </t></si>', '  two  spaces '],
    ['<si><t>0050</t></si>', '0050'],
    ['<si><r><t>one </t></r><r><rPr><b/></rPr><t>two</t></r></si>', 'one two'],
    ['<si><t>東京</t><rPh sb="0" eb="2"><t>トウキョウ</t></rPh><phoneticPr fontId="1"/></si>', '東京'],
    ['<si><r><t>東</t></r><rPh sb="0" eb="1"><t>トウ</t></rPh><r><t>京</t></r></si>', '東京'],
    ['<si><t>a_x000D__x000A_b</t></si>', 'a\r\nb'],
    ['<si><t>_x005F_x000D_</t></si>', '_x000D_'],
    ['<si><t>_x00e9__X0041_ _x41_ snake_x_case</t></si>', 'é_X0041_ _x41_ snake_x_case'],
    ['<si><t>_xD83D__xDE00_ _xD83D_</t></si>', '😀 \uFFFD'],
    ['<si><r><t>_x00</t></r><r><t>41_</t></r></si>', '_x0041_'],
    ['<si><t>&lt;a&gt; &amp;amp; &#65;&#x1F600; &quot;&apos;</t></si>', '<a> &amp; A😀 "\''],
    ['<si><t>&#xD83D;&#xDE00; &#xD83D;</t></si>', '😀 \uFFFD'],
    ['<si><t><![CDATA[<&amp;>]]> and<!-- not this --> more</t></si>', '<&amp;> and more'],
    ['<si><t>line\r\nbreak\rtwice</t></si>', 'line\nbreak\ntwice'],
    ['<si><t>&#13;kept</t></si>', '\rkept'],
    ['<si><t>__proto__</t></si>', '__proto__'],
  ]
  const rows = await rowsOf({
    sharedStrings: items.map(([xml]) => xml).join(''),
    rows: items.map((_, index) => `<row><c t="s"><v>${index}</v></c></row>`).join(''),
  })
  assert.deepEqual(
    rows.map(([cell]) => cell),
    items.map(([, text]) => text),
  )
})

test('an empty shared string is an empty cell and keeps its place among the others', async () => {
  const sharedStrings = '<si/><si><t/></si><si><t>third</t></si>'
  const rows = '<row r="1"><c t="s"><v>0</v></c><c t="s"><v>1</v></c><c t="s"><v>2</v></c></row>'
  assert.deepEqual(await rowsOf({ sharedStrings, rows }), [[null, null, 'third']])
})

test('inline strings', async () => {
  const cells = [
    '<c t="inlineStr"><is><t>plain</t></is></c>',
    '<c t="inlineStr"><is><r><t>in </t></r><r><t>runs</t></r><rPh sb="0" eb="1"><t>no</t></rPh></is></c>',
    '<c><is><t> no type </t></is></c>',
    '<c t="inlineStr"><is><t>a_x0009_b</t></is></c>',
    '<c t="str"><v>c_x0009_d</v></c>',
    '<c t="inlineStr"><v>no item</v></c>',
  ]
  assert.deepEqual(await rowsOf({ rows: `<row r="1">${cells.join('')}</row>` }), [
    ['plain', 'in runs', ' no type ', 'a\tb', 'c\td', 'no item'],
  ])
})

test('gaps between rows and cells are empty, and the grid ends with the last value', async () => {
  const rows =
    '<row r="2"><c r="C2"><v>1</v></c><c r="F2" s="0"/></row><row r="4" hidden="1"><c r="A4"><v>2</v></c></row>' +
    '<row r="9"><c r="A9" s="0"/></row>'
  assert.deepEqual(await rowsOf({ rows }), [[], [null, null, 1], [], [2]])
})

test('rows and cells without a reference follow the one before', async () => {
  const rows = '<row><c><v>1</v></c><c r="C1"><v>2</v></c><c><v>3</v></c></row><row><c><v>4</v></c></row>'
  assert.deepEqual(await rowsOf({ rows }), [[1, null, 2, 3], [4]])
})

test("a cell's own reference decides, also against its row and out of order", async () => {
  const rows =
    '<row><c r="B3"><v>1</v></c><c><v>2</v></c></row><row><c r="A1"><v>3</v></c></row><row r="2"><c r="a2"><v>4</v></c></row>'
  assert.deepEqual(await rowsOf({ rows }), [[3], [4], [null, 1, 2]])
})

test('of two values for one cell the last counts', async () => {
  const rows =
    '<row r="1"><c r="A1"><v>1</v></c><c r="A1"><v>2</v></c></row><row r="1"><c r="B1"><v>3</v></c></row>'
  assert.deepEqual(await rowsOf({ rows }), [[2, 3]])
})

test('the last cell of a sheet', async () => {
  const { rows } = await decodeXlsx(
    buildWorkbook({ rows: '<row r="1048576"><c r="XFD1048576"><v>1</v></c></row>' }),
    {},
  )
  assert.equal(rows.length, 1_048_576)
  assert.equal(rows[1_048_575]?.length, 16_384)
  assert.equal(rows[1_048_575]?.[16_383], 1)
  assert.deepEqual(rows[0], [])
})

test('a sheet without values has no rows', async () => {
  assert.deepEqual(await rowsOf({ rows: '' }), [])
})

test('elements around the cells are not taken for cells', async () => {
  const worksheet =
    '<worksheet><row r="1"><c r="A1"><v>0</v></c></row><sheetData><row r="1"><c r="A1"><extLst><ext><v>0</v></ext></extLst>' +
    '<v>1<x>0</x></v> 0 </c></row></sheetData><x><row r="3"><c r="A3"><v>0</v></c></row></x><extLst><ext><row r="5"><c r="A5"><v>0</v></c></row></ext></extLst></worksheet>'
  assert.deepEqual(await rowsOf({ tabs: [{ name: 'S', rows: worksheet }] }), [[1]])
})

test('strict OOXML, prefixed elements, UTF-16 and a byte order mark', async () => {
  const workbook: TestWorkbook = {
    rows: '<row r="1"><c r="A1" t="s"><v>0</v></c><c r="B1" s="1"><v>46341</v></c></row>',
    sharedStrings: '<si><t>Größe</t></si>',
    formats: [0, 14],
  }
  const expected = [['Größe', '2026-11-15']]
  assert.deepEqual(await rowsOf({ ...workbook, strict: true }), expected)
  assert.deepEqual(await rowsOf({ ...workbook, prefix: 'x' }), expected)
  for (const encode of [
    (text: string) => Buffer.from(`\uFEFF${text}`, 'utf8'),
    (text: string) => Buffer.from(`\uFEFF${text}`, 'utf16le'),
    (text: string) => Buffer.from(`\uFEFF${text}`, 'utf16le').swap16(),
  ]) {
    const parts = workbookParts(workbook).map((part) => ({ ...part, data: encode(String(part.data)) }))
    assert.deepEqual((await decodeXlsx(zip(parts), {})).rows, expected)
  }
})

test('parts found by another case, a backslash, a stored entry, 64-bit sizes', async () => {
  const workbook: TestWorkbook = { rows: '<row r="1"><c r="A1"><v>1</v></c></row>' }
  const parts = workbookParts(workbook)
  for (const changed of [
    parts.map((part) => ({ ...part, name: part.name.toUpperCase() })),
    parts.map((part) => ({ ...part, name: part.name.replaceAll('/', '\\') })),
    parts.map((part) => ({ ...part, stored: true })),
    parts.map((part) => ({ ...part, zip64: true })),
    parts.filter(({ name }) => !/styles|sharedStrings|Content_Types/.test(name)),
    parts.map((part) => ({
      ...part,
      data: String(part.data).replace('"worksheets/', '"./media/../worksheets/'),
    })),
    parts.map((part) => ({
      ...part,
      data: String(part.data).replace(
        '<Relationship ',
        '<Relationship Id="rId0" Type="x/officeDocument" TargetMode="External" Target="http://localhost/"/><Relationship ',
      ),
    })),
  ]) {
    assert.deepEqual((await decodeXlsx(zip(changed), {})).rows, [[1]])
  }
})

const tabs = [
  { name: 'Chart', rows: '<chartsheet/>', type: 'chartsheet' },
  { name: 'Secret', rows: '<row r="1"><c><v>1</v></c></row>', state: 'hidden' },
  { name: 'Deep', rows: '<row r="1"><c><v>2</v></c></row>', state: 'veryHidden' },
  { name: 'Größe & "Co"', rows: '<row r="1"><c><v>3</v></c></row>' },
  { name: '__proto__', rows: '<row r="1"><c><v>4</v></c></row>' },
  { name: 'ORDERS', rows: '<row r="1"><c><v>5</v></c></row>' },
  { name: 'Orders', rows: '<row r="1"><c><v>6</v></c></row>' },
  { name: 'a_x0009_b', rows: '' },
]

test('the first visible worksheet is served unless another tab is named', async () => {
  assert.deepEqual(await rowsOf({ tabs }), [[3]])
  assert.deepEqual(await rowsOf({ tabs }, '__proto__'), [[4]])
  assert.deepEqual(await rowsOf({ tabs }, 'Orders'), [[6]])
  assert.deepEqual(await rowsOf({ tabs }, 'orders'), [[5]])
  assert.deepEqual(await rowsOf({ tabs }, 'Secret'), [[1]])
  assert.deepEqual(await rowsOf({ tabs }, 'Deep'), [[2]])
})

test('the tabs are the visible worksheets in their order', async () => {
  assert.deepEqual(await listXlsxTabs(buildWorkbook({ tabs })), [
    'Größe & "Co"',
    '__proto__',
    'ORDERS',
    'Orders',
    'a\tb',
  ])
})

test('an unknown tab is answered with the names of the visible ones, not all of a thousand', async () => {
  await assert.rejects(rowsOf({ tabs }, 'Nope'), (error) => {
    assert.ok(error instanceof ProviderFailure)
    assert.equal(
      error.message,
      'the workbook has no tab named "Nope"; its tabs are "Größe & "Co"", "__proto__", "ORDERS", "Orders", "a\tb"',
    )
    return true
  })
  const many = Array.from({ length: 1000 }, (_, index) => ({ name: `${'😀'.repeat(100)}${index}`, rows: '' }))
  await assert.rejects(rowsOf({ tabs: many }, 'x'.repeat(10_000)), (error) => {
    assert.ok(error instanceof ProviderFailure)
    assert.ok(error.message.length < 1200)
    assert.ok(error.message.isWellFormed())
    assert.match(error.message, / and 990 more$/)
    return true
  })
  for (const name of ['constructor', 'toString', '']) {
    await assert.rejects(rowsOf({ tabs }, name), ProviderFailure)
  }
})

test('a chart sheet cannot be served', async () => {
  await assert.rejects(rowsOf({ tabs }, 'Chart'), ProviderFailure)
})
