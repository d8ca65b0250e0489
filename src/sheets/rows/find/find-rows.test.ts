import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { buildSnapshot } from '../build-snapshot.ts'
import type { Cell } from '../grid.ts'
import { createEqualityTest } from './equal-cells.ts'
import { rowsEqualTo } from './find-rows.ts'

const cells: readonly Cell[] = [
  ...['Berlin', 'BERLIN', 'bonn', '7', 'true', 'x', '2026-11-15', '2026-11-15T00:00:00', null],
  ...[0, 7, 7.5, -1, 1_000, true, false],
]

test('a value is found in the rows whose cells equal it, and in no others, where cells repeat and where none does', () => {
  const columns = fc.oneof(
    fc.array(fc.constantFrom(...cells), { maxLength: 20 }),
    fc.shuffledSubarray([...cells]),
    fc.shuffledSubarray(cells.filter((cell) => cell !== null)),
  )
  const values = fc.constantFrom(
    ...cells.map((cell) => String(cell ?? '')),
    'BONN',
    'nobody',
    '6',
    '2026-11-15t00:00',
  )
  fc.assert(
    fc.property(columns, values, fc.constantFrom(1, 2, 30), (column, value, most) => {
      const snapshot = buildSnapshot({ rows: [['a', 'b'], ...column.map((cell) => [cell, 'filled'])] })
      const placesOf = createEqualityTest([value])
      const equal = [...column.keys()].filter((at) => {
        const cell = column[at] ?? null
        return cell !== null && placesOf(cell).length > 0
      })
      const steps = rowsEqualTo(snapshot, 0, value, most)
      let step = steps.next()
      while (!step.done) step = steps.next()
      assert.deepEqual(step.value, equal.slice(0, most))
    }),
    { seed: 20_261_117, numRuns: 2_000 },
  )
})
