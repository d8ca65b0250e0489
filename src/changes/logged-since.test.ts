import assert from 'node:assert/strict'
import { test } from 'node:test'
import { seededRandom } from '../../emulator/seeded-random.ts'
import { changesText, type LoggedChange } from '../sheets/logged-change.ts'
import { buildSnapshot } from '../sheets/rows/build-snapshot.ts'
import { applyChanges, tabOf } from './compare/tab-rows.ts'
import { createLoggedSince, type LoggedSince } from './logged-since.ts'

const logged = { epoch: 'e', seq: 10 }
const text = (id: string | null) => JSON.stringify({ id })

test('each row is as whoever applies the changes has it, whatever moved meanwhile', () => {
  for (let seed = 1; seed <= 50; seed++) {
    const random = seededRandom(seed)
    const below = (limit: number) => Math.floor(random() * limit)
    const snapshot = copyOf(Array.from({ length: below(8) }, (_, n) => (n % 3 === 1 ? null : `first ${n}`)))
    const since = createLoggedSince({ snapshot, logged })
    const tab = tabOf(snapshot, false)
    let seq = logged.seq
    for (let round = 0; round < 60; round++) {
      const changes = Array.from({ length: 1 + below(3) }, (_, nth): LoggedChange => {
        const after = text(below(5) === 0 ? null : `${seed} ${round} ${nth}`)
        const there = 2 + below(Math.max(1, tab.rows.length))
        const wishes: LoggedChange[] = [
          { kind: 'added', row: 2 + below(tab.rows.length + 4), after },
          { kind: 'updated', row: there, after },
        ]
        if (tab.rows.length > 0) wishes.push({ kind: 'deleted', row: there })
        const change = wishes[below(wishes.length)] as LoggedChange
        applyChanges(tab, [change], false)
        return change
      })
      assert.ok(take(since, chunk(seq + 1, changes)))
      seq += changes.length
      assert.equal(since.seq(), seq)
      for (let row = 2; row < tab.rows.length + 5; row++) {
        const its = tab.rows[row - 2] ?? text(null)
        assert.equal(since.textOf(row), its === text(null) ? null : its, `seed ${seed}, row ${row}`)
      }
    }
  }
})

test('what is filled or emptied where it stands moves no other row', () => {
  const since = createLoggedSince({ snapshot: copyOf(['a', null, 'c', 'd']), logged })
  const filled: LoggedChange = { kind: 'added', row: 3, after: text('b'), isInPlace: true }
  const emptied: LoggedChange = { kind: 'deleted', row: 4, isInPlace: true }
  assert.ok(take(since, chunk(11, [filled, emptied])))
  const rows = [2, 3, 4, 5].map((row) => since.textOf(row))
  assert.deepEqual(rows, [text('a'), text('b'), null, text('d')])
})

test('of what it has already only the rest is taken', () => {
  const since = createLoggedSince({ snapshot: copyOf(['a']), logged })
  const deleted: LoggedChange = { kind: 'deleted', row: 2 }
  const added: LoggedChange = { kind: 'added', row: 2, after: text('b') }
  assert.ok(take(since, chunk(10, [deleted, added])))
  assert.deepEqual([since.seq(), since.textOf(2), since.textOf(3)], [11, text('b'), text('a')])
  assert.ok(take(since, chunk(11, [added])))
  assert.deepEqual([since.seq(), since.textOf(3), since.textOf(4)], [11, text('a'), null])
})

test('nothing is told over a gap, over other columns, of rows without a number, or for good after that', () => {
  const fine: LoggedChange = { kind: 'updated', row: 2, after: text('b') }
  const endings = [
    chunk(12, [fine]),
    chunk(11, [{ kind: 'columns_changed', before: '["id"]', after: '["key"]' }]),
    chunk(11, [fine, { kind: 'reset' }]),
    chunk(11, [{ kind: 'added', after: text('b') }]),
  ]
  for (const ending of endings) {
    const since = createLoggedSince({ snapshot: copyOf(['a']), logged })
    assert.equal(take(since, ending), false)
    assert.equal(since.seq(), 10)
    assert.equal(take(since, chunk(11, [fine])), false)
  }
})

test('of the log so much is taken, and beside a long copy half as much as that has, but for a very long one', () => {
  const charactersTaken = (rows: number) => {
    const snapshot = copyOf(Array.from({ length: rows }, (_, n) => `row ${n}`.padEnd(100)))
    const since = createLoggedSince({ snapshot, logged })
    // Also of one row alone: whoever looks at the tab later goes through all of it.
    const next = (n: number) => chunk(11 + n, [{ kind: 'updated', row: 2, after: text('x'.repeat(1_000)) }])
    let taken = 0
    while (take(since, next(taken))) taken++
    return taken * next(0).entries.length
  }
  const [short, long] = [charactersTaken(10), charactersTaken(20_000)]
  assert.ok(short > 255_000 && short <= 262_144, `${short} beside a short one`)
  assert.ok(long > 1_050_000 && long < 1_150_000, `${long} beside 2.2 MB`)
  const most = charactersTaken(100_000)
  assert.ok(most > 4_100_000 && most <= 4_194_304, `${most} beside 11 MB`)
})

function copyOf(ids: readonly (string | null)[]) {
  return buildSnapshot({ rows: [['id'], ...ids.map((id) => [id])] })
}

function chunk(firstSeq: number, changes: readonly LoggedChange[]) {
  return { firstSeq, lastSeq: firstSeq + changes.length - 1, atMs: 0, entries: changesText(changes) }
}

function take(since: LoggedSince, { entries, ...chunk }: ChunkRead): boolean {
  return since.take(chunk, { changes: JSON.parse(entries) as LoggedChange[], characters: entries.length })
}

interface ChunkRead {
  firstSeq: number
  lastSeq: number
  entries: string
}
