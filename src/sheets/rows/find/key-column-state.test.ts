import assert from 'node:assert/strict'
import { test } from 'node:test'
import { buildSnapshot } from '../build-snapshot.ts'
import { keyColumnState } from './key-column-state.ts'

test('a long column of texts beside one number is looked at in many steps', () => {
  const texts = Array.from({ length: 10_000 }, (_, n) => [`text ${n}`])
  const steps = keyColumnState(buildSnapshot({ rows: [['a'], [7], ...texts] }), 0)
  let count = 0
  let step = steps.next()
  for (; !step.done; step = steps.next()) count++
  assert.deepEqual(step.value, { blanks: 0, blankRows: [], repeats: 0, repeatRows: [] })
  assert.ok(count >= 10_000 / 256, `${count} steps`)
})
