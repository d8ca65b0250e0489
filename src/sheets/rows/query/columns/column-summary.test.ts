import assert from 'node:assert/strict'
import { test } from 'node:test'
import { buildSnapshot } from '../../build-snapshot.ts'
import type { Cell } from '../../grid.ts'
import { columnKindsOf, summariesOf } from './column-summary.ts'

test('a column is summed up by the kinds of its cells, with examples from the top', () => {
  const columns: [cells: Cell[], kinds: string[], hasEmptyCells: boolean, examples: Cell[]][] = [
    [[3, 1, 2, 1], ['integer'], false, [3, 1, 2]],
    [[1, 0.5, null, 1], ['number'], true, [1, 0.5]],
    [['b', 'a', 'B', 'c'], ['string'], false, ['b', 'a', 'c']],
    [[true, null, false, true], ['boolean'], true, [true, false]],
    [['2026-11-15', null, null, '2026-11-16'], ['date'], true, ['2026-11-15', '2026-11-16']],
    [
      ['2026-11-15T09:30:00', '2026-11-15', '', 'x'],
      ['string', 'date', 'date-time'],
      false,
      ['2026-11-15T09:30:00', '2026-11-15', ''],
    ],
    [['09:30:00', '09:30:00', '09:30:00', '09:30:00'], ['time'], false, ['09:30:00']],
    [
      ['26:30:00', 1, true, '09:30:00'],
      ['integer', 'boolean', 'string', 'time'],
      false,
      ['26:30:00', 1, true],
    ],
    [[null, null, null, null], [], true, []],
    [['2026-02-30', '0050', null, 'n/a'], ['string'], true, ['2026-02-30', '0050', 'n/a']],
  ]
  const rows = [0, 1, 2, 3].map((row) => columns.map(([cells]) => cells[row] ?? null))
  const snapshot = buildSnapshot({ rows: [columns.map((_, at) => `c${at}`), ...rows] })
  const summaries = summariesOf(snapshot.columns, rows, snapshot.indexes)
  assert.deepEqual(
    summaries,
    columns.map(([, kinds, hasEmptyCells, examples]) => ({
      kinds,
      hasEmptyCells,
      examples,
      exceptions: null,
    })),
  )
  assert.deepEqual(
    columnKindsOf(snapshot),
    summaries.map(({ kinds, hasEmptyCells }) => ({ kinds, hasEmptyCells })),
  )
  const bare = buildSnapshot({ rows: [['a']] })
  assert.deepEqual(summariesOf(bare.columns, [], bare.indexes), [
    { kinds: [], hasEmptyCells: false, examples: [], exceptions: null },
  ])
})

test('in a column of numbers, what is none is counted and shown from the top', () => {
  const exceptionsOf = (cells: Cell[]) => {
    const rows = cells.map((cell) => [cell, 'x'])
    const snapshot = buildSnapshot({ rows: [['n', 'other'], ...rows] })
    return summariesOf(snapshot.columns, rows, snapshot.indexes)[0]?.exceptions
  }
  assert.deepEqual(exceptionsOf([1, null, 'n/a', 2, 'n/a', 3, true, 4, 5]), {
    count: 3,
    cells: 8,
    examples: [
      { cell: 'n/a', position: 2 },
      { cell: true, position: 6 },
    ],
  })
  assert.equal(exceptionsOf([1, 2, null]), null)
  assert.equal(exceptionsOf(['a', null]), null)
  assert.equal(exceptionsOf([1, 'a']), null, 'half are no numbers')
  assert.deepEqual(
    exceptionsOf([1.5, '-18.430000000000007', '0.1234567890123456', '3.14159265358979324E-5', 'n/a']),
    {
      count: 4,
      cells: 5,
      examples: [
        { cell: '-18.430000000000007', position: 1 },
        { cell: '0.1234567890123456', position: 2 },
        { cell: '3.14159265358979324E-5', position: 3 },
      ],
    },
    'most spell a number',
  )
  assert.equal(exceptionsOf([1, '007', '008']), null, 'codes with zeros before them')
})
