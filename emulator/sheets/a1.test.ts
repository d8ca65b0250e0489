import assert from 'node:assert/strict'
import { test } from 'node:test'
import { columnIndex, columnLetters, quoteTitle, writeA1 } from './a1.ts'
import { resolveA1 } from './resolve-range.ts'
import { newSpreadsheet } from './spreadsheet/new-spreadsheet.ts'

const echoes: [asked: string, echoed: string][] = [
  ['Sheet1', 'Sheet1!A1:Z1000'],
  ['sheet1!a1', 'Sheet1!A1'],
  ["'Sheet1'!A1:1", 'Sheet1!A1:Z1'],
  ['A1:A', 'Sheet1!A1:A1000'],
  ['A:C', 'Sheet1!A1:C1000'],
  ['2:5', 'Sheet1!A2:Z5'],
  ['A2:C', 'Sheet1!A2:C1000'],
  ['D4:A1', 'Sheet1!A1:D4'],
  ['A1:A1', 'Sheet1!A1'],
  ['A2:F10001', 'Sheet1!A2:F1000'],
  ['$B$2:$C$3', 'Sheet1!B2:C3'],
  ['R2C3', 'Sheet1!C2'],
]

for (const [asked, echoed] of echoes) {
  test(`${asked} is echoed as ${echoed}`, () => {
    const { sheet, area } = resolveA1(newSpreadsheet('id', 'Title', 'owner@example.com'), asked)
    assert.equal(writeA1(sheet.title, area), echoed)
  })
}

test('ranges that lead nowhere are refused in the words of Google', () => {
  const spreadsheet = newSpreadsheet('id', 'Title', 'owner@example.com')
  assert.throws(() => resolveA1(spreadsheet, 'NOPE!A5:F15'), {
    message: 'Unable to parse range: NOPE!A5:F15',
  })
  assert.throws(() => resolveA1(spreadsheet, 'A1001'), {
    message: 'Range (Sheet1!A1001) exceeds grid limits. Max rows: 1000, max columns: 26',
  })
})

test('titles are quoted only where they must be', () => {
  assert.equal(quoteTitle('Sheet1'), 'Sheet1')
  assert.equal(quoteTitle("It's a tab"), "'It''s a tab'")
  assert.equal(quoteTitle('export-records'), "'export-records'")
  assert.equal(quoteTitle('D3'), "'D3'")
})

test('column letters and indexes are each other’s inverse', () => {
  for (const index of [0, 25, 26, 701, 702, 18277]) assert.equal(columnIndex(columnLetters(index)), index)
  assert.equal(columnLetters(18277), 'ZZZ')
})
