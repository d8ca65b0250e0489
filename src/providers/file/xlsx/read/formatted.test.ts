import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { test } from 'node:test'
import { buildWorkbook } from '../workbook.fixture.ts'
import { decodeXlsx } from './xlsx.ts'

test('as displayed, every cell is the text its format shows', async () => {
  const formats = [0, 4, 9, 14, 22, '[$€-407] 0.00', '@" kg"', 27, 49]
  const cells = [
    '<c s="1"><v>1234.5</v></c>',
    '<c s="2"><v>0.25</v></c>',
    '<c s="3"><v>46341</v></c>',
    '<c s="4"><v>46341.395833333336</v></c>',
    '<c s="5"><v>5</v></c>',
    '<c s="6" t="s"><v>0</v></c>',
    '<c s="6" t="inlineStr"><is><t>5</t></is></c>',
    '<c s="7"><v>46341</v></c>',
    '<c s="8"><v>7</v></c>',
    '<c t="b"><v>1</v></c>',
    '<c t="b"><v>0</v></c>',
    '<c t="e"><v>#N/A</v></c>',
    '<c t="d"><v>2026-11-15</v></c>',
    '<c><v>0.30000000000000004</v></c>',
    '<c t="str"><f>A1</f><v> x </v></c>',
    '<c s="1"/>',
    '<c s="99"><v>5</v></c>',
  ]
  const bytes = buildWorkbook({
    rows: `<row r="1">${cells.join('')}</row>`,
    sharedStrings: '<si><t>7</t></si>',
    formats,
  })
  const { rows } = await decodeXlsx(bytes, { values: 'formatted' })
  assert.deepEqual(rows, [
    [
      '1,234.50',
      '25%',
      '11/15/2026',
      '11/15/2026 9:30',
      '€ 5.00',
      '7 kg',
      '5 kg',
      '2026-11-15',
      '7',
      'TRUE',
      'FALSE',
      '#N/A',
      '2026-11-15',
      '0.3',
      ' x ',
      null,
      '5',
    ],
  ])
  const typed = await decodeXlsx(bytes, { values: 'typed' })
  assert.deepEqual(typed, await decodeXlsx(bytes, {}))
  assert.equal(typed.rows[0]?.[0], 1234.5)
})

test('a date that is written as text is displayed by its format, as the same date written as a number', async () => {
  const shownOf = async (cells: string[], uses1904: boolean) => {
    const bytes = buildWorkbook({
      rows: `<row r="1">${cells.join('')}</row>`,
      formats: [0, 14, 'd mmm yy h:mm', '[h]:mm', '0.00'],
      workbookProperties: `<workbookPr date1904="${uses1904}"/>`,
    })
    return (await decodeXlsx(bytes, { values: 'formatted' })).rows[0]
  }
  const cells = [
    '<c s="1" t="d"><v>2014-02-14T08:27:49</v></c>',
    '<c s="2" t="d"><v>2014-02-14T08:27:49Z</v></c>',
    '<c s="3" t="d"><v>09:30:00</v></c>',
    '<c s="4" t="d"><v>2014-02-14</v></c>',
    '<c s="0" t="d"><v>2014-02-14</v></c>',
    '<c s="1" t="d"><v>soon</v></c>',
  ]
  const expected = ['2/14/2014', '14 Feb 14 8:27', '9:30', '2014-02-14', '2014-02-14', 'soon']
  assert.deepEqual(await shownOf(cells, false), expected)
  assert.deepEqual(await shownOf(cells, true), expected)
  // Excel's first day, as it writes it in Strict workbooks.
  const early = ['<c s="1" t="d"><v>1899-12-31</v></c>', '<c s="1" t="d"><v>1900-03-01</v></c>']
  assert.deepEqual(await shownOf(early, false), ['1/1/1900', '3/1/1900'])
  assert.deepEqual(await shownOf(early, true), ['1899-12-31', '1900-03-01'])
})

test('a workbook written by openpyxl, as displayed', async () => {
  const bytes = readFileSync(new URL('../fixtures/openpyxl.xlsx', import.meta.url))
  const { rows } = await decodeXlsx(bytes, { values: 'formatted' })
  assert.ok(rows.flat().every((cell) => cell === null || typeof cell === 'string'))
  assert.deepEqual(rows[1]?.slice(0, 3), ['1', 'Ärger & <b>', '15/11/2026'])
})
