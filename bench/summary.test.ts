import assert from 'node:assert/strict'
import { test } from 'node:test'
import { atLeast, atMost } from './floored.ts'
import { isAllReached, summaryOf } from './summary.ts'

test('a figure reaches its floor at the floor itself, and misses it one step beyond', () => {
  assert.deepEqual(
    [
      atMost('p50', 25, 25, 'ms'),
      atMost('p50', 25.01, 25, 'ms'),
      atLeast('of bare', 0.75, 0.75),
      atLeast('of bare', 0.74, 0.75),
    ],
    [
      { name: 'p50', figure: '25 ms', floor: 'at most 25 ms', isReached: true },
      { name: 'p50', figure: '25.01 ms', floor: 'at most 25 ms', isReached: false },
      { name: 'of bare', figure: '0.75', floor: 'at least 0.75', isReached: true },
      { name: 'of bare', figure: '0.74', floor: 'at least 0.75', isReached: false },
    ],
  )
})

test('what could not be measured has reached neither kind of floor', () => {
  for (const { isReached } of [atMost('p99', Number.NaN, 20), atLeast('of bare', Number.NaN, 0.5)])
    assert.equal(isReached, false)
})

test('the summary has each figure with a floor, what failed, and what was skipped', () => {
  const floored = [atMost('p50', 17.52, 25, 'ms'), atMost('p99', 31, 20, 'ms')]
  assert.equal(
    summaryOf([
      { row: 'search', became: 'measured', said: '', floored },
      { row: 'admission alone', became: 'measured', said: '', floored: [] },
      { row: 'streams', became: 'failed', why: 'Rowport answered 500' },
      { row: 'PostgreSQL', became: 'skipped', why: 'PostgreSQL is not installed' },
    ]),
    `| figure | measured | floor | |
|---|---|---|---|
| search: p50 | 17.52 ms | at most 25 ms | reached |
| search: p99 | 31 ms | at most 20 ms | MISSED |
| streams | | | FAILED: Rowport answered 500 |

SKIPPED: PostgreSQL: PostgreSQL is not installed`,
  )
})

test('one figure that misses its floor, or one row that fails, is enough for the run to fail', () => {
  const reached = { row: 'one', became: 'measured', said: '', floored: [atMost('p50', 1, 2)] } as const
  assert.equal(isAllReached([reached, { row: 'other', became: 'skipped', why: 'no Redis' }]), true)
  const missed = {
    row: 'other',
    became: 'measured',
    said: '',
    floored: [atMost('p50', 1, 2), atMost('p99', 3, 2)],
  }
  assert.equal(isAllReached([reached, { ...missed, became: 'measured' }]), false)
  assert.equal(isAllReached([reached, { row: 'other', became: 'failed', why: 'gone' }]), false)
})
