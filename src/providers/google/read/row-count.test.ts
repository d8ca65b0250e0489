import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createRowCount } from './row-count.ts'

function counted(answer: unknown, pieceBytes: number): number {
  const bytes = Buffer.from(JSON.stringify(answer))
  const count = createRowCount()
  for (let at = 0; at < bytes.length; at += pieceBytes) count.countPiece(bytes.subarray(at, at + pieceBytes))
  return count.rows()
}

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
