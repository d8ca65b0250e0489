import assert from 'node:assert/strict'
import { test } from 'node:test'
import { buildSnapshot } from '../../sheets/rows/build-snapshot.ts'
import type { Cell } from '../../sheets/rows/grid.ts'
import { readState, stateOfRows, stateText } from './state-text.ts'
import { tabOf } from './tab-rows.ts'

const header = ['id', 'text']
const long = 'ä, "x"\n'.repeat(100_000)

const tabs: Record<string, Cell[][]> = {
  'many rows': Array.from({ length: 20_000 }, (_, n) => [n, `row ${n}, },{"id":`]),
  'rows longer than a step': [
    [1, long],
    [2, `${long}2`],
    [3, null],
  ],
  'blank rows above, between and below': [[], [1, 'a'], [], [], [2, 'b'], [3, null], [], [4, 'd'], []],
  'a blank row before every other': Array.from({ length: 60_000 }, (_, n) =>
    n % 2 ? [n, 'x'.repeat(20)] : [],
  ),
  'many blank rows': [[1, 'a'], ...Array.from({ length: 200_000 }, () => []), [2, 'b']],
  'no rows': [],
}

for (const [what, rows] of Object.entries(tabs)) {
  for (const isKeyed of [true, false]) {
    test(`${what}: the state made of the list${isKeyed ? ', by key,' : ''} is the one made of the rows`, async () => {
      const snapshot = buildSnapshot({ rows: [header, ...rows] })
      const tab = tabOf(snapshot, isKeyed)
      assert.deepEqual(readState(await stateOfRows(snapshot, isKeyed)), tab)
      assert.deepEqual(readState(stateText(tab)), tab)
    })
  }
}

test('two states are made side by side without a word of the other', async () => {
  const [one, other] = ['one', 'other'].map((word) =>
    buildSnapshot({ rows: [header, ...Array.from({ length: 40_000 }, (_, n) => [n, `${word} ${n}`])] }),
  )
  assert.ok(one && other)
  const [first, second] = await Promise.all([stateOfRows(one, false), stateOfRows(other, false)])
  assert.deepEqual(readState(first), tabOf(one, false))
  assert.deepEqual(readState(second), tabOf(other, false))
})
