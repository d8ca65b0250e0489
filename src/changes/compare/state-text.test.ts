import assert from 'node:assert/strict'
import { test } from 'node:test'
import { zstdDecompressSync } from 'node:zlib'
import { buildSnapshot } from '../../sheets/rows/build-snapshot.ts'
import type { Cell } from '../../sheets/rows/grid.ts'
import { isShortState, readState, stateOfRows, stateText } from './state-text.ts'
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

test('a version that does not know blank rows as empty lines cannot read a state with some', async () => {
  const namesOf = (pieces: string[]) =>
    JSON.parse(
      zstdDecompressSync(Buffer.from(pieces.join(''), 'base64'))
        .toString()
        .split('\n')[0] ?? '',
    )
  for (const rows of [
    [[], [1, 'a']],
    [[1, 'a'], [], [2, 'b']],
  ]) {
    const snapshot = buildSnapshot({ rows: [header, ...rows] })
    for (const pieces of [await stateOfRows(snapshot, false), stateText(tabOf(snapshot, false))])
      assert.throws(() => namesOf(pieces), SyntaxError)
    assert.deepEqual(namesOf(await stateOfRows(snapshot, true)), header, 'by key there are none')
  }
  const without = buildSnapshot({ rows: [header, [1, 'a'], [2, 'b']] })
  for (const pieces of [await stateOfRows(without, false), stateText(tabOf(without, false))])
    assert.deepEqual(namesOf(pieces), header)
})

test('a state is short by what it says, not by how well it is packed', async () => {
  const few = buildSnapshot({ rows: [header, [1, 'a'], [], [2, 'b']] })
  const many = buildSnapshot({
    rows: [header, [1, 'a'], ...Array.from({ length: 200_000 }, () => []), [2, 'b']],
  })
  const [ofFew, ofMany] = [await stateOfRows(few, false), await stateOfRows(many, false)]
  assert.ok(ofMany.join('').length < 1_000)
  assert.deepEqual([isShortState(ofFew, 32_768), isShortState(ofMany, 32_768)], [true, false])
})

test('two states are made side by side without a word of the other', async () => {
  const [one, other] = ['one', 'other'].map((word) =>
    buildSnapshot({ rows: [header, ...Array.from({ length: 40_000 }, (_, n) => [n, `${word} ${n}`])] }),
  )
  assert.ok(one && other)
  const [first, second] = await Promise.all([stateOfRows(one, false), stateOfRows(other, false)])
  assert.deepEqual(readState(first), tabOf(one, false))
  assert.deepEqual(readState(second), tabOf(other, false))
})
