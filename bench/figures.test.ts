import assert from 'node:assert/strict'
import { test } from 'node:test'
import { figuresTable, type RecordedRow, withMeasured } from './figures.ts'
import { atLeast } from './floored.ts'

const names = ['cached list', 'admission alone', 'streams']
const former: RecordedRow[] = [
  { row: 'renamed since', day: '2026-11-01', said: 'long ago', floored: [] },
  { row: 'admission alone', day: '2026-11-16', said: '3.6 µs a request', floored: [] },
  { row: 'cached list', day: '2026-11-16', said: 'old', floored: [atLeast('of bare', 0.6, 0.75)] },
]
const measured: RecordedRow[] = [
  {
    row: 'cached list',
    day: '2026-11-19',
    said: 'each round   0.86 0.85\n  processor    41 µs',
    floored: [atLeast('of bare', 0.86, 0.75)],
  },
]

test('what is measured takes the place of what there was, and what is not measured keeps its day', () => {
  assert.deepEqual(
    withMeasured(former, measured, names).map(({ row, day }) => `${row} ${day}`),
    ['cached list 2026-11-19', 'admission alone 2026-11-16'],
  )
})

test('the record has each row once, also those that were never measured and those without a floor', () => {
  assert.equal(
    figuresTable(withMeasured(former, measured, names), names),
    `| | figure | floor | | measured on |
|---|---|---|---|---|
| **cached list** | each round 0.86 0.85<br>processor 41 µs | | | 2026-11-19 |
| | of bare: **0.86** | at least 0.75 | reached | |
| **admission alone** | 3.6 µs a request | no floor; measured for itself | | 2026-11-16 |
| streams | not recorded yet | | | |`,
  )
})
