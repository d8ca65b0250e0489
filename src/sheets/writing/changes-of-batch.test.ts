import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Change, ChangeResult } from '../change.ts'
import { allAtOnce } from '../threads/packed-list.ts'
import { changesOfBatch } from './changes-of-batch.ts'

const columns = [{ key: 'name', index: 0 }]

test('rows that come back from the top down are told in time that grows with them, not with their square', (t) => {
  const few = bestMs(2_000)
  const many = bestMs(8_000)
  t.diagnostic(`${few} ms for 2,000 rows, ${many} ms for 8,000`)
  assert.ok(many < 10 * Math.max(few, 1), `${many} ms against ${few}`)
})

test('rows that were made before move with those that come and go above them', () => {
  const told = allAtOnce(
    changesOf([
      { kind: 'insert', rowNumber: 5, cells: [{ columnIndex: 0, value: 'five' }] },
      { kind: 'insert', rowNumber: 3, cells: [{ columnIndex: 0, value: 'three' }] },
      { kind: 'delete', rowNumber: 2, before: ['two'] },
      { kind: 'update', rowNumber: 5, cells: [{ columnIndex: 0, value: 'new' }] },
      { kind: 'update', rowNumber: 2, cells: [{ columnIndex: 0, value: 'new' }] },
    ]),
  ).changes
  assert.deepEqual(
    told.map(({ kind, row, before }) => [kind, row, before]),
    [
      ['added', 5, undefined],
      ['added', 3, undefined],
      ['deleted', 2, '{"name":"two"}'],
      ['updated', 5, '{"name":"five"}'],
      ['updated', 2, '{"name":"three"}'],
    ],
  )
})

function bestMs(rows: number): number {
  const changes = Array.from(
    { length: rows },
    (_, at): Change => ({ kind: 'insert', rowNumber: at + 2, cells: [{ columnIndex: 0, value: at }] }),
  )
  const times = Array.from({ length: 9 }, () => {
    const begun = process.threadCpuUsage()
    assert.equal(allAtOnce(changesOf(changes)).changes.length, rows)
    const { user, system } = process.threadCpuUsage(begun)
    return (user + system) / 1_000
  })
  return Math.min(...times)
}

function changesOf(changes: readonly Change[]) {
  const results = changes.map((change): ChangeResult => {
    if (change.kind === 'delete') return { kind: 'delete', row: ['two'] }
    if (change.kind !== 'insert' && change.kind !== 'update') throw new Error('Not in these tests')
    return { kind: change.kind, row: change.cells.map(({ value }) => value) }
  })
  const group = [{ waiting: { order: { by: null } }, plan: { changes } }]
  return changesOfBatch({ group, results, columns, keyColumn: null })
}
