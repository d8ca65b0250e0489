import assert from 'node:assert/strict'
import { test } from 'node:test'
import { insertLines, removeLines } from '../dimensions.ts'
import { cellAt, newSheet, putCell, type Sheet, type Spreadsheet } from '../model.ts'
import { newSpreadsheet } from '../spreadsheet/new-spreadsheet.ts'
import { movedByRows } from './formula-references.ts'

/** A formula far below and to the right of what it points at, on the sheet itself and on another one. */
function spreadsheetWith(formula: string): { spreadsheet: Spreadsheet; sheet: Sheet; seen: () => string[] } {
  const spreadsheet = newSpreadsheet('S', 'Shop', 'ada@example.com')
  const sheet = newSheet(1, 'My items')
  const other = newSheet(2, 'Other')
  spreadsheet.sheets = [sheet, other]
  putCell(other, 0, 0, { entered: { formulaValue: formula } })
  putCell(sheet, 0, 25, { entered: { formulaValue: formula } })
  const seen = () =>
    spreadsheet.sheets.map((one) => {
      const entered = cellAt(one, 0, one === sheet ? one.columnCount - 1 : 0)?.entered
      return entered && 'formulaValue' in entered ? entered.formulaValue : ''
    })
  return { spreadsheet, sheet, seen }
}

test('references follow their rows through insertions and deletions', () => {
  const cases: [formula: string, start: number, count: number, onSheet: string, elsewhere: string][] = [
    ['=B5+$B$5', 2, 2, '=B7+$B$7', '=B5+$B$5'],
    ['=B2', 2, 1, '=B2', '=B2'],
    ['=SUM(B2:B5)', 3, 1, '=SUM(B2:B6)', '=SUM(B2:B5)'],
    ['=SUM(B2:B5)', 5, 1, '=SUM(B2:B5)', '=SUM(B2:B5)'],
    ["='My items'!B5&Other!B5", 1, 1, "='My items'!B6&Other!B5", "='My items'!B6&Other!B5"],
    ['="B5"&B5', 1, 1, '="B5"&B6', '="B5"&B5'],
    ['=SUM(A:A)+LOG10(B5)', 1, 1, '=SUM(A:A)+LOG10(B6)', '=SUM(A:A)+LOG10(B5)'],
    ['=SUM(B4:B)', 1, 1, '=SUM(B5:B)', '=SUM(B4:B)'],
    ['=B5', 2, -1, '=B4', '=B5'],
    ['=B3', 2, -1, '=#REF!', '=B3'],
    ['=SUM(B2:B5)', 3, -2, '=SUM(B2:B3)', '=SUM(B2:B5)'],
    ['=SUM(B3:B4)', 2, -2, '=SUM(#REF!)', '=SUM(B3:B4)'],
  ]
  for (const [formula, start, count, onSheet, elsewhere] of cases) {
    const { spreadsheet, sheet, seen } = spreadsheetWith(formula)
    if (count > 0) insertLines(spreadsheet, sheet, 'ROWS', start, count, false)
    else removeLines(spreadsheet, sheet, 'ROWS', start, start - count)
    assert.deepEqual(seen(), [onSheet, elsewhere], formula)
  }
})

test('references follow their columns as well', () => {
  const { spreadsheet, sheet, seen } = spreadsheetWith('=B5+SUM($C:D)')
  insertLines(spreadsheet, sheet, 'COLUMNS', 2, 1, false)
  assert.deepEqual(seen(), ['=B5+SUM($D:E)', '=B5+SUM($C:D)'])
  removeLines(spreadsheet, sheet, 'COLUMNS', 1, 2)
  assert.equal(seen()[0], '=#REF!+SUM($C:D)')
})

test('a row that is sorted keeps pointing at itself', () => {
  const moved = (formula: string, byRows: number) =>
    movedByRows({ entered: { formulaValue: formula } }, byRows)?.entered
  assert.deepEqual(moved('=B5*C$1+Other!B5', 3), { formulaValue: '=B8*C$1+Other!B5' })
  assert.deepEqual(moved('=B2', -2), { formulaValue: '=#REF!' })
})
