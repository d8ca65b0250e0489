import assert from 'node:assert/strict'
import { test } from 'node:test'
import { allAtOnce, packSteps, unpackSteps } from './packed-list.ts'

test('pieces are short, whatever is in the list, and hold all of it in order', () => {
  const list = Array.from({ length: 1_000 }, (_, n) => ({ n, text: 'x'.repeat(n % 10 === 0 ? 50_000 : 10) }))
  const pieces = allAtOnce(packSteps(list))
  const longest = Math.max(...pieces.map(({ byteLength }) => byteLength))
  assert.ok(longest <= 256 * 1024, `${longest} bytes`)
  assert.ok(pieces.length < 200, `${pieces.length} pieces`)
  assert.deepEqual(allAtOnce(unpackSteps(pieces)), list)
})

test('one that is longer than a piece has one of its own', () => {
  const list = ['a', 'x'.repeat(1_000_000), 'b']
  assert.deepEqual(allAtOnce(unpackSteps(allAtOnce(packSteps(list)))), list)
  assert.equal(allAtOnce(packSteps(list)).length, 3)
})
