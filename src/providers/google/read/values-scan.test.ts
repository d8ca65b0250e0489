import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { createNumberScan, createRowCount } from './values-scan.ts'

const cell = fc.oneof(
  { weight: 6, arbitrary: fc.string({ unit: 'grapheme' }) },
  { weight: 3, arbitrary: fc.constantFrom('[1', ',2', '\\', '"', '\\",-3', '[-1,2]') },
  { weight: 3, arbitrary: fc.boolean() },
  { weight: 1, arbitrary: fc.double({ noNaN: true, noDefaultInfinity: true }) },
)

test('a number is found if and only if a cell is one, however the bytes are cut', () => {
  fc.assert(
    fc.property(
      fc.array(fc.array(cell, { maxLength: 4 }), { maxLength: 4 }),
      fc.boolean(),
      fc.integer({ min: 1, max: 9 }),
      (values, isPretty, size) => {
        const valueRange = { range: 'Sheet1!A1:Z1000', majorDimension: 'ROWS', values }
        const answer = {
          spreadsheetId: 'S',
          valueRanges: [{ valueRange, dataFilters: [{ gridRange: { sheetId: 17 } }] }],
        }
        const bytes = Buffer.from(JSON.stringify(answer, null, isPretty ? 2 : undefined))
        const scan = createNumberScan()
        for (let at = 0; at < bytes.length; at += size) scan.scanPiece(bytes.subarray(at, at + size))
        assert.equal(
          scan.hasNumber(),
          values.flat().some((value) => typeof value === 'number'),
        )
        for (const column of scan.columns()) assert.ok(values.some((row) => typeof row[column] === 'number'))
        assert.equal(scan.columns().size > 0, scan.hasNumber())
      },
    ),
    { seed: 5, numRuns: 1_000 },
  )
})

test('the columns of all numbers are told that are in the piece of the first, as far as 64 KB go', () => {
  const columnsIn = (values: unknown[][]) => {
    const scan = createNumberScan()
    scan.scanPiece(
      Buffer.from(JSON.stringify({ valueRanges: [{ valueRange: { range: 'A!A1:D9', values } }] })),
    )
    return [...scan.columns()].sort()
  }
  assert.deepEqual(columnsIn([['a', 'b'], ['1,2', 5, '[3'], [], ['', true, '', -1]]), [1, 3])
  const words = Array.from({ length: 10_000 }, () => ['some words', 'and more'])
  assert.deepEqual(columnsIn([...words, ['x', 1, 2], ['y', '', '', 3]]), [1, 2, 3])
  assert.deepEqual(columnsIn([['x', 1], ...words, [2]]), [1])
})

test('rows are counted, whatever their cells hold and wherever the answer is cut', () => {
  const values = [['a', 'b'], [], ['[', ']]]', '"[\\'], [1, true], ['😀', '\\"[']]
  for (const pieceBytes of [1, 2, 7, 1_000]) {
    assert.equal(counted({ valueRanges: [{ valueRange: { values } }] }, pieceBytes), values.length)
  }
})

test('an empty tab has no rows', () => {
  assert.equal(counted({ valueRanges: [{ valueRange: { range: 'Items!A1:Z1000' } }] }, 5), 0)
  assert.equal(counted({}, 5), 0)
})

function counted(answer: unknown, pieceBytes: number): number {
  const bytes = Buffer.from(JSON.stringify(answer))
  const count = createRowCount()
  for (let at = 0; at < bytes.length; at += pieceBytes) count.countPiece(bytes.subarray(at, at + pieceBytes))
  return count.rows()
}
