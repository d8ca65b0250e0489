import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import type { GoogleCell } from '../values-body.ts'
import { type OnCells, walkDifferences } from './differing-cells.ts'

function answer(values: readonly (readonly unknown[])[]): Buffer {
  const valueRange = { range: '"values":[!A1:Z9', majorDimension: 'ROWS', values }
  return Buffer.from(JSON.stringify({ valueRanges: [{ valueRange, dataFilters: [{ a: [1] }] }] }))
}

function walked(one: Uint8Array, other: Uint8Array) {
  const seen: Parameters<OnCells['onDifference']>[] = []
  const told: Parameters<OnCells['onDifference']>[] = []
  const isWalked = walkDifferences(one, other, {
    onDifference(...difference) {
      seen.push(difference)
      told.push(difference)
      return true
    },
    onRepeated(row, column, nth) {
      const [, , here = '', there = ''] = told[nth] ?? []
      seen.push([row, column, here, there])
    },
    onUncovered: (column) => assert.fail(`column ${column} is in both`),
  })
  return isWalked ? seen : null
}

const cell: fc.Arbitrary<GoogleCell> = fc.oneof(
  fc.string({ unit: 'grapheme' }),
  fc.constantFrom('', '\\', '"', '\\"', 'a,b', ']', '[', '",', '],[', '"values":[', '2026-11-15', '\n', 'é'),
  fc.double({ noNaN: true, noDefaultInfinity: true }),
  fc.constantFrom(0, 1, 12, 123, 0.5, 46_341, -1),
  fc.boolean(),
)

test('every cell that differs is told with its place and both values, and no other', () => {
  const table = fc.array(fc.array(fc.tuple(cell, cell, fc.boolean()), { maxLength: 6 }), { maxLength: 6 })
  fc.assert(
    fc.property(table, (rows) => {
      // Plain JSON has no minus zero, so one read of it is an ordinary zero.
      const plain = (value: GoogleCell) => (Object.is(value, -0) ? 0 : value)
      const pairs = rows.map((row) =>
        row.map(([one, other, isSame]) => [plain(one), plain(isSame ? one : other)]),
      )
      const expected = pairs.flatMap((row, at) =>
        row.flatMap(([one, other], column) => (one === other ? [] : [[at, column, one, other]])),
      )
      const side = (which: 0 | 1) => answer(pairs.map((row) => row.map((pair) => pair[which])))
      assert.deepEqual(walked(side(0), side(1)), expected)
    }),
    { seed: 20_261_116, numRuns: 400 },
  )
})

test('other rows or other columns are not walked through, nor is what is no such answer', () => {
  const good = answer([
    ['a', 1],
    ['b', 2],
  ])
  for (const [what, other] of Object.entries({
    'a row more': answer([['a', 1], ['b', 2], ['c']]),
    'a row less': answer([['a', 1]]),
    'a cell more': answer([
      ['a', 1, 'x'],
      ['b', 2],
    ]),
    'a cell less': answer([['a', 1], ['b']]),
    'no rows': Buffer.from('{"valueRanges":[]}'),
    nothing: Buffer.from(''),
    'an object': Buffer.from(good.toString().replace('"b"', '{"b":5}')),
    'a list': Buffer.from(good.toString().replace('"b"', '["b"]')),
    null: Buffer.from(good.toString().replace('"b"', 'null')),
    spaces: Buffer.from(good.toString().replaceAll(',', ', ')),
  })) {
    assert.equal(walked(good, other), null, what)
    assert.equal(walked(other, good), null, what)
  }
})

test('an answer that breaks off anywhere ends the walk', () => {
  const whole = answer([
    ['a', 'b\\"c', 1.5],
    ['d', true, 46_341],
  ])
  const rowsEnd = whole.lastIndexOf(']]}') + 2
  for (let end = 0; end < rowsEnd - 1; end++) {
    assert.equal(walked(whole, whole.subarray(0, end)), null, String(end))
    assert.equal(walked(whole.subarray(0, end), whole.subarray(0, end)), null, String(end))
  }
})
