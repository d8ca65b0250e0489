import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { buildSnapshot } from '../build-snapshot.ts'
import { createEqualityTest } from './equal-cells.ts'
import { rowsEqualTo } from './find-rows.ts'

const text = fc.constantFrom(
  'a',
  'A',
  'ä',
  'Ä',
  'ß',
  'SS',
  '7',
  '7.0',
  '-0',
  '0',
  'true',
  'TRUE',
  '#N/A',
  ' a',
  '1e3',
)
const cell = fc.oneof(text, fc.constantFrom(7, 0, -0, 1000, 7.5, true, false))

test('a cell equals a value without an index exactly where it does with one', () => {
  fc.assert(
    fc.property(fc.array(cell, { maxLength: 20 }), fc.array(text, { maxLength: 6 }), (cells, values) => {
      const snapshot = buildSnapshot({ rows: [['key'], ...cells.map((one) => [one])] })
      const placesOf = createEqualityTest(values)
      for (const [at, value] of values.entries()) {
        const steps = rowsEqualTo(snapshot, 0, value, 100)
        let step = steps.next()
        while (!step.done) step = steps.next()
        const found = cells.flatMap((one, row) => (placesOf(one).includes(at) ? row : []))
        assert.deepEqual(found, step.value)
      }
    }),
  )
})
