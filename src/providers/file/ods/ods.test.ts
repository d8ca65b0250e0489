import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { describe, test } from 'node:test'
import { ProviderFailure } from '../../../sheets/provider-failure.ts'
import { zip } from '../xlsx/workbook.fixture.ts'
import { decodeOds, listOdsTabs } from './ods.ts'

const mimetype = 'application/vnd.oasis.opendocument.spreadsheet'
const namespaces =
  'xmlns:office="urn:o" xmlns:table="urn:t" xmlns:text="urn:x" xmlns:style="urn:s" xmlns:calcext="urn:c"'
const styles =
  '<office:automatic-styles><style:style style:name="ta1" style:family="table"><style:table-properties table:display="true"/></style:style>' +
  '<style:style style:name="ta2" style:family="table"><style:table-properties table:display="false"/></style:style></office:automatic-styles>'

const table = (name: string, rows: string, style = 'ta1') =>
  `<table:table table:name="${name}" table:style-name="${style}"><table:table-column/>${rows}</table:table>`
const row = (...cells: string[]) => `<table:table-row>${cells.join('')}</table:table-row>`
const text = (words: string) =>
  `<table:table-cell office:value-type="string" calcext:value-type="string"><text:p>${words}</text:p></table:table-cell>`
const typed = (type: string, attribute: string, value: string, shown: string, more = '') =>
  `<table:table-cell${more} office:value-type="${type}" office:${attribute}="${value}" calcext:value-type="${type}"><text:p>${shown}</text:p></table:table-cell>`

function ods(tables: string, more: { name: string; data: string }[] = []): Uint8Array {
  const content = `<?xml version="1.0"?><office:document-content ${namespaces}>${styles}<office:body><office:spreadsheet>${tables}</office:spreadsheet></office:body></office:document-content>`
  return zip([{ name: 'mimetype', data: mimetype }, { name: 'content.xml', data: content }, ...more])
}

const cells = [
  text('words'),
  typed('float', 'value', '1234.5', '1,234.50'),
  typed('percentage', 'value', '0.25', '25%'),
  typed('currency', 'value', '9.5', '€9.50'),
  typed('date', 'date-value', '2026-11-15', '15 Nov 2026'),
  typed('date', 'date-value', '2026-11-15T09:30:00.250', '15 Nov 2026 09:30'),
  typed('time', 'time-value', 'PT09H30M00S', '09:30'),
  typed('time', 'time-value', 'PT26H30M00S', '26:30'),
  typed('boolean', 'boolean-value', 'true', 'TRUE'),
  typed('float', 'value', '0', '#DIV/0!', ' table:formula="of:=1/0"'),
]

test('cells are typed, or as they are displayed', async () => {
  const bytes = ods(table('One', row(...cells)))
  assert.deepEqual((await decodeOds(bytes, {})).rows, [
    [
      'words',
      1234.5,
      0.25,
      9.5,
      '2026-11-15',
      '2026-11-15T09:30:00.250',
      '09:30:00',
      '26:30:00',
      true,
      '#DIV/0!',
    ],
  ])
  assert.deepEqual((await decodeOds(bytes, { values: 'formatted' })).rows, [
    [
      'words',
      '1,234.50',
      '25%',
      '€9.50',
      '15 Nov 2026',
      '15 Nov 2026 09:30',
      '09:30',
      '26:30',
      'TRUE',
      '#DIV/0!',
    ],
  ])
})

test('what repeats is written out, and empty rows at the end cost nothing', async () => {
  const many =
    '<table:table-row table:number-rows-repeated="1048573"><table:table-cell table:number-columns-repeated="16384"/></table:table-row>'
  const bytes = ods(
    table(
      'One',
      row(text('a'), text('b')) +
        '<table:table-row table:number-rows-repeated="2"><table:table-cell table:number-columns-repeated="2" office:value-type="float" office:value="7"><text:p>7</text:p></table:table-cell><table:table-cell table:number-columns-repeated="16382"/></table:table-row>' +
        `<table:table-row-group>${row('<table:table-cell/>', '<table:covered-table-cell/>', text('c'))}</table:table-row-group>${many}`,
    ),
  )
  assert.deepEqual((await decodeOds(bytes, {})).rows, [
    ['a', 'b'],
    [7, 7],
    [7, 7],
    [null, null, 'c'],
  ])
})

test('texts keep their spaces, lines and links, and leave comments out', async () => {
  const rich =
    '<table:table-cell office:value-type="string"><office:annotation><text:p>a comment</text:p></office:annotation>' +
    '<text:p>one<text:s text:c="3"/><text:span>two</text:span><text:tab/><text:a>link</text:a></text:p><text:p>next<text:line-break/>line</text:p></table:table-cell>'
  assert.deepEqual((await decodeOds(ods(table('One', row(rich))), {})).rows, [
    ['one   two\tlink\nnext\nline'],
  ])
})

test('tabs are listed without a look at what they hold', async () => {
  const more =
    '<table:table-row table:number-rows-repeated="6000"><table:table-cell table:number-columns-repeated="1000" office:value-type="float" office:value="1"/></table:table-row>'
  const bytes = ods(table('Full', more))
  assert.deepEqual(await listOdsTabs(bytes), ['Full'])
  await assert.rejects(decodeOds(bytes, {}), /too large to be served/)
})

test('tabs by their names; the first visible one without', async () => {
  const bytes = ods(
    table('Hidden', row(text('h')), 'ta2') + table('First', row(text('f'))) + table('Second', row(text('s'))),
  )
  assert.deepEqual(await listOdsTabs(bytes), ['First', 'Second'])
  assert.deepEqual((await decodeOds(bytes, {})).rows, [['f']])
  assert.deepEqual((await decodeOds(bytes, { tab: 'second' })).rows, [['s']])
  assert.deepEqual((await decodeOds(bytes, { tab: 'Hidden' })).rows, [['h']])
  await assert.rejects(
    decodeOds(bytes, { tab: 'None' }),
    /no tab named "None"; its tabs are "First", "Second"/,
  )
})

describe('what cannot be read is refused in words', () => {
  const full = (rows: number, columns: number) =>
    `<table:table-row table:number-rows-repeated="${rows}"><table:table-cell table:number-columns-repeated="${columns}" office:value-type="float" office:value="1"/></table:table-row>`
  const refused: [what: string, bytes: Uint8Array, why: RegExp][] = [
    [
      'a password',
      ods('', [{ name: 'META-INF/manifest.xml', data: '<manifest><encryption-data/></manifest>' }]),
      /password/,
    ],
    ['no tabs', ods(''), /no visible tab/],
    ['a bomb of rows', ods(table('One', full(1_000_000, 1_000))), /too large/],
    ['a bomb of columns', ods(table('One', full(1, 99_999_999))), /too large|columns/],
    [
      'a text document',
      zip([{ name: 'mimetype', data: 'application/vnd.oasis.opendocument.text' }]),
      /not an OpenDocument/,
    ],
    ['a cut one', ods(table('One', '<table:table-row>')).slice(0, 200), /incomplete|damaged/],
    ['no ZIP', Buffer.from('hello'), /not an Excel workbook/],
  ]
  for (const [what, bytes, why] of refused) {
    test(what, () =>
      assert.rejects(
        decodeOds(bytes, {}),
        (error) => error instanceof ProviderFailure && why.test(error.message),
      ),
    )
  }
})

test('one that LibreOffice wrote', async () => {
  const bytes = readFileSync(new URL('../xlsx/fixtures/opendocument.ods', import.meta.url))
  const { rows } = await decodeOds(bytes, {})
  assert.ok(rows.length > 0)
})
