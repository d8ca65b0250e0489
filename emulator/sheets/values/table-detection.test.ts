import assert from 'node:assert/strict'
import { test } from 'node:test'
import { writeA1 } from '../a1.ts'
import { resolveA1 } from '../resolve-range.ts'
import { newSpreadsheet } from '../spreadsheet/new-spreadsheet.ts'
import { lastTableIn } from './table-detection.ts'
import { writeAt } from './write-values.ts'

function tableFor(values: string[][], range: string): string | undefined {
  const spreadsheet = newSpreadsheet('id', 'Title', 'owner@example.com')
  const { sheet, area } = resolveA1(spreadsheet, range)
  writeAt(
    spreadsheet,
    sheet,
    0,
    0,
    { range: undefined, majorDimension: 'ROWS', rows: values },
    { input: 'RAW', editor: undefined },
  )
  const table = lastTableIn(sheet, area)
  return table && writeA1(sheet.title, table)
}

const guide = [
  ['a', 'b', 'c'],
  ['1', '2', '3'],
  [],
  ['', 'x', 'y', 'z'],
  ['', '1', '2', '3'],
  ['', '4', '5', '6'],
]

for (const range of ['Sheet1', 'B4', 'C5:D5', 'B2:D4', 'A3:G10']) {
  test(`appending to ${range} continues the last table it touches, as in Google's guide`, () => {
    assert.equal(tableFor(guide, range), 'Sheet1!B4:D6')
  })
}

test('a range on the first table only continues that one', () => {
  assert.equal(tableFor(guide, 'A1'), 'Sheet1!A1:C2')
})

for (const range of ['E4', 'A4', 'A3']) {
  test(`${range} beside the tables belongs to none`, () => {
    assert.equal(tableFor(guide, range), undefined)
  })
}

test('a gap in the header parts it, and the right part is the last table', () => {
  assert.equal(tableFor([['x', '', 'y']], 'Sheet1'), 'Sheet1!C1')
  assert.equal(tableFor([['x', '', 'y']], 'A1'), 'Sheet1!A1')
})

test('an empty cell within the bounds of a table belongs to it', () => {
  assert.equal(tableFor([['a', 'b', 'c'], ['1']], 'C2'), 'Sheet1!A1:C2')
})
