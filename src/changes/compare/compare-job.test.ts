import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { test } from 'node:test'
import { promisify } from 'node:util'
import { changesText, type LoggedChange, readChanges } from '../../sheets/logged-change.ts'
import { buildSnapshot } from '../../sheets/rows/build-snapshot.ts'
import type { Cell } from '../../sheets/rows/grid.ts'
import { compare } from './compare-job.ts'

/*
 * Writes of which nobody knows where they landed, when people did something as well before anyone looked: what was acknowledged is told as
 * the write, and only the rest as theirs.
 */

const header = ['id', 'name', 'n']
const lamp = ['a', 'Lamp', 1]
const table = ['b', 'Table', 2]
const shelf = ['c', 'Shelf', 3]

for (const isKeyed of [true, false]) {
  const of = isKeyed ? 'by key' : 'by position'

  test(`${of}: a row that was added and then changed by a person is an addition of ours and a change of theirs`, () => {
    const changes = compared([lamp, table], [lamp, table, ['c', 'Cupboard', 3]], [added(shelf)])
    assert.deepEqual(told(changes), [
      ['added', 'op_1', null, shelf],
      ['updated', null, shelf, ['c', 'Cupboard', 3]],
    ])
  })

  test(`${of}: a row that was added and deleted by a person is told as both`, () => {
    const changes = compared([lamp, table], [lamp, ['b', 'Desk', 2]], [added(shelf)])
    assert.deepEqual(told(changes).toSorted(), [
      ['added', 'op_1', null, shelf],
      ['deleted', null, shelf, null],
      ['updated', null, table, ['b', 'Desk', 2]],
    ])
  })

  test(`${of}: a change of ours and one of a person in the same row are two`, () => {
    const changes = compared([lamp, table], [lamp, ['b', 'Desk', 9]], [updated(table, ['b', 'Table', 9], 3)])
    assert.deepEqual(told(changes), [
      ['updated', 'op_1', table, ['b', 'Table', 9]],
      ['updated', null, ['b', 'Table', 9], ['b', 'Desk', 9]],
    ])
    assert.deepEqual(changes[0]?.changed, ['n'])
  })

  test(`${of}: a deletion of ours is one also where people put in rows`, () => {
    const changes = compared([lamp, table], [shelf, lamp], [deleted(table, 3)])
    assert.deepEqual(told(changes), [
      ['deleted', 'op_1', table, null],
      ['added', null, null, shelf],
    ])
  })

  test(`${of}: what is as it was before is not told, because the write hit another row`, () => {
    const changes = compared([lamp, table], [lamp, table, shelf], [deleted(table, 3)])
    assert.deepEqual(told(changes), [['added', null, null, shelf]])
  })

  test(`${of}: where the answer told which row it hit, that one is ours`, () => {
    const hit: LoggedChange = { kind: 'updated', after: row(['a', 'Lamp', 9]), operation: 'op_1' }
    const changes = compared([lamp, table], [shelf, ['a', 'Lamp', 9], table], [hit])
    const ours = changes.filter(({ operation }) => operation !== undefined)
    assert.deepEqual(
      ours.map(({ after }) => after),
      [hit.after],
    )
  })

  test(`${of}: where the answer told which row it hit and a person changed that one as well, there are two changes`, () => {
    const after = row(['a', 'Lamp', 9])
    const hit: LoggedChange = { kind: 'updated', after, wrote: ['n'], operation: 'op_1' }
    const changes = compared([lamp, table], [['a', 'Torch', 9], table, shelf], [hit])
    assert.deepEqual(told(changes), [
      ['updated', 'op_1', lamp, ['a', 'Lamp', 9]],
      ['updated', null, ['a', 'Lamp', 9], ['a', 'Torch', 9]],
      ['added', null, null, shelf],
    ])
    assert.deepEqual(changes.find(({ operation }) => operation)?.changed, ['n'])
  })

  test(`${of}: a lost answer, and rows that moved: the one row that has just what was written is the one it hit`, () => {
    const write = updated(table, ['b', 'Table', 9], 3)
    const changes = compared([lamp, table], [['a', 'Lamp', 9], table, shelf], [write])
    assert.deepEqual(told(changes).toSorted(), [
      ['added', null, null, shelf],
      ['updated', 'op_1', lamp, ['a', 'Lamp', 9]],
    ])
  })

  test(`${of}: where it could be either of two rows, it is the nearer one to the place that was meant`, () => {
    const write = updated(table, ['b', 'Table', 9], 4)
    const next: Cell[][] = [['a', 'Lamp', 9], ['c', 'Shelf', 9], table]
    assert.deepEqual(told(compared([lamp, shelf, table], next, [write])), [
      ['updated', 'op_1', shelf, ['c', 'Shelf', 9]],
      ['updated', null, lamp, ['a', 'Lamp', 9]],
    ])
  })

  test(`${of}: a lost answer, rows that moved, and a person who then changed the row that was hit: two changes`, () => {
    const write = updated(table, ['b', 'Table', 9], 3)
    const changes = compared([lamp, shelf, table], [['a', 'Torch', 9], shelf, table], [write])
    assert.deepEqual(told(changes), [
      ['updated', 'op_1', lamp, ['a', 'Lamp', 9]],
      ['updated', null, ['a', 'Lamp', 9], ['a', 'Torch', 9]],
    ])
  })

  test(`${of}: what is nowhere to be seen was overwritten before anyone looked, and nobody says that it was ours`, () => {
    const write = updated(table, ['b', 'Table', 9], 3)
    const changes = compared([lamp, shelf, table], [['a', 'Lamp', 8], shelf, table], [write])
    assert.deepEqual(told(changes), [['updated', null, lamp, ['a', 'Lamp', 8]]])
  })

  for (const isHeard of [true, false]) {
    test(`${of}: a write into a row that a person had just put there is theirs with a change of ours (${isHeard ? 'heard' : 'lost'})`, () => {
      const new9: Cell[] = ['p', 'Desk', 9]
      const heard: LoggedChange = {
        kind: 'updated',
        ...identity(new9),
        after: row(new9),
        wrote: ['n'],
        meantRow: 3,
        operation: 'op_1',
      }
      const write = isHeard ? heard : updated(table, ['b', 'Table', 9], 3)
      for (const next of [
        [lamp, new9, table],
        [lamp, table, new9],
      ]) {
        const changes = compared([lamp, table], next, [write])
        assert.deepEqual(told(changes), [
          ['added', null, null, ['p', 'Desk', null]],
          ['updated', 'op_1', ['p', 'Desk', null], new9],
        ])
        assert.deepEqual(changes[1]?.changed, ['n'])
        assert.ok(changes.every((change) => !('meantRow' in change)))
      }
    })
  }

  test(`${of}: a person moved columns in the instant of a write: what it hit by place is ours`, () => {
    const moved = ['id', 'n', 'name']
    const next: Cell[][] = [lamp, table].map(([id = null, name = null, n = null]) => [id, n, name])
    const write = updated(table, ['b', 'Table', 9], 3)
    const hit = [next[0] ?? [], ['b', 2, 9]]
    const changes = compared([lamp, table], hit, [write, added(shelf)], moved)
    assert.deepEqual(
      changes.map(({ kind, operation, after }) => [kind, operation ?? null, after]),
      [
        ['columns_changed', null, JSON.stringify(moved)],
        ['updated', 'op_1', '{"id":"b","n":2,"name":9}'],
        ['added', 'op_1', '{"id":"c","n":3,"name":"Shelf"}'],
        ['deleted', null, undefined],
      ],
    )
    const both = compared([lamp, table], [...hit, ['c', 'Shelf', 3]], [write, added(shelf)], moved)
    assert.deepEqual(
      both.map(({ kind, operation, after }) => [kind, operation ?? null, after]),
      [
        ['columns_changed', null, JSON.stringify(moved)],
        ['updated', 'op_1', '{"id":"b","n":2,"name":9}'],
        ['added', 'op_1', '{"id":"c","n":"Shelf","name":3}'],
      ],
    )
  })

  test(`${of}: a lost answer to a deletion: the row that is gone is the one it took, of several the nearest`, () => {
    const changes = compared([lamp, shelf, table], [lamp, table], [deleted(table, 4)])
    assert.deepEqual(told(changes), [['deleted', 'op_1', shelf, null]])
    const two = compared([lamp, shelf, table], [table], [deleted(table, 4)])
    assert.deepEqual(told(two), [
      ['deleted', 'op_1', shelf, null],
      ['deleted', null, lamp, null],
    ])
  })

  test(`${of}: a deletion that took a row nobody had ever seen is not told with another`, () => {
    const unseen: Cell[] = ['p', 'Desk', 1]
    const took: LoggedChange = {
      kind: 'deleted',
      ...identity(unseen),
      before: row(unseen),
      operation: 'op_1',
    }
    assert.deepEqual(told(compared([lamp, table], [lamp], [took])), [['deleted', null, table, null]])
  })

  test(`${of}: columns that were renamed come first, and the write under their new names`, () => {
    const changes = compared([lamp], [lamp, shelf, table], [added(shelf)], ['id', 'title', 'n'])
    assert.deepEqual(
      changes.map(({ kind, operation }) => [kind, operation ?? null]),
      [
        ['columns_changed', null],
        ['added', 'op_1'],
        ['added', null],
      ],
    )
    assert.equal(changes[1]?.after, '{"id":"c","title":"Shelf","n":3}')
  })

  function compared(
    known: Cell[][],
    next: Cell[][],
    written: LoggedChange[],
    names = header,
  ): LoggedChange[] {
    const { chunks } = compare({
      known: buildSnapshot({ rows: [header, ...known] }),
      since: [],
      next: buildSnapshot({ rows: [names, ...next] }),
      keyColumn: isKeyed ? 'id' : null,
      unplaced: changesText(written),
      mustReset: false,
      wantsState: false,
    })
    return chunks.flatMap(({ entries }) => readChanges(entries))
  }

  function added(cells: Cell[]): LoggedChange {
    return { kind: 'added', ...identity(cells), after: row(cells), operation: 'op_1' }
  }

  function updated(before: Cell[], after: Cell[], rowNumber: number): LoggedChange {
    const changed = header.filter((_, at) => before[at] !== after[at])
    const rows = { before: row(before), after: row(after), changed }
    return { kind: 'updated', row: rowNumber, ...identity(before), ...rows, operation: 'op_1' }
  }

  function deleted(cells: Cell[], rowNumber: number): LoggedChange {
    return {
      kind: 'deleted',
      row: rowNumber,
      ...identity(cells),
      before: row(cells),
      operation: 'op_1',
    }
  }

  function identity([key]: Cell[]): Pick<LoggedChange, 'key' | 'isByPosition'> {
    return isKeyed ? { key: JSON.stringify(key) } : { isByPosition: true }
  }
}

function row(cells: Cell[]): string {
  return JSON.stringify(Object.fromEntries(header.map((name, at) => [name, cells[at] ?? null])))
}

function told(changes: readonly LoggedChange[]) {
  const cells = (text: string | undefined) => (text === undefined ? null : Object.values(JSON.parse(text)))
  return changes.map(({ kind, operation, before, after }) => [
    kind,
    operation ?? null,
    cells(before),
    cells(after),
  ])
}

test('a long list is compared with its state in less than four times its memory', async (t) => {
  const script = new URL('./compared-memory.fixture.ts', import.meta.url).pathname
  const { stdout } = await promisify(execFile)(process.execPath, [script])
  const { listBytes, chunks, tookBytes } = JSON.parse(stdout) as Record<string, number>
  const times = (tookBytes ?? 0) / (listBytes ?? 1)
  t.diagnostic(`${((listBytes ?? 0) / 1e6).toFixed(0)} MB: ${times.toFixed(1)} times as much`)
  assert.equal(chunks, 0)
  // The state without its packing, and the rows of both as texts.
  assert.ok(times < 4, `${times.toFixed(1)} times its length`)
})
