import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Change, ChangeResult } from '../../sheets/change.ts'
import { boundResults } from './bounded-results.ts'

const header = ['id', null, 'name']
const remove = (rowNumber: number): Change => ({ kind: 'delete', rowNumber })
const update = (rowNumber: number): Change => ({ kind: 'update', rowNumber, cells: [] })

test('of a row that stays nothing is told that is under no name, of one that goes everything', () => {
  const row = [1, 'between', 'Lamp', null, 'beyond']
  const results: ChangeResult[] = [
    { kind: 'update', row },
    { kind: 'delete', row },
  ]
  assert.deepEqual(boundResults(results, [update(2), remove(3)], header), [
    { kind: 'update', row: [1, null, 'Lamp'] },
    { kind: 'delete', row },
  ])
})

test('a row with more under no name than can be kept is not deleted, and it is said which', () => {
  const cells = Array.from({ length: 100 }, () => 'x'.repeat(6_000))
  const results: ChangeResult[] = [
    { kind: 'delete', row: [1, null, 'x'.repeat(2_000_000)] },
    { kind: 'delete', row: [1, null, 'Lamp', ...cells] },
  ]
  const outcome = boundResults(results, [remove(2), remove(7)], header)
  assert.ok('changeAt' in outcome)
  assert.equal(outcome.changeAt, 1)
  assert.match(outcome.details, /^Row 7 holds too much outside the columns that have a name in row 1/)
  assert.match(outcome.advice ?? '', /give their columns a name: at most 524288 characters/)
})

test('nor are so many that they are too much together', () => {
  const row = [1, null, 'Lamp', 'x'.repeat(400_000)]
  const results = Array.from({ length: 30 }, (): ChangeResult => ({ kind: 'delete', row }))
  const changes = results.map((_, at) => remove(at + 2))
  const outcome = boundResults(results, changes, header)
  assert.ok('changeAt' in outcome)
  assert.deepEqual([outcome.changeAt, outcome.advice], [20, 'Change fewer rows at a time.'])
})
