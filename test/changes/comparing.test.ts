import assert from 'node:assert/strict'
import { test } from 'node:test'
import { changeJson } from '../../src/changes/change-json.ts'
import { compare } from '../../src/changes/compare/compare-job.ts'
import { changesText, type LoggedChange, readChanges } from '../../src/sheets/logged-change.ts'
import { buildSnapshot } from '../../src/sheets/rows/build-snapshot.ts'
import type { Cell } from '../../src/sheets/rows/grid.ts'
import { times } from '../soak.ts'
import { createRandom } from '../writing/simulation/virtual-time.ts'
import { type Change, Follower, type List } from './follower.ts'

/*
 * Writes that landed nobody knows where, some of them with answers that tell half of it, among edits of rows and columns: whatever is told as
 * whose, whoever applies it to the former rows has the present ones, and each `before` is what they had.
 */
test('whatever is made of writes that landed nobody knows where, it leads from the former rows to the present ones', () => {
  const plays = times(1_500, 60_000)
  let told = 0
  for (let seed = 1; seed <= plays; seed++) {
    const isKeyed = seed % 2 === 0
    const { known, next, written } = play(seed, isKeyed)
    const [from, to] = [buildSnapshot({ rows: known }), buildSnapshot({ rows: next })]
    const { chunks } = compare({
      known: from,
      since: [],
      next: to,
      keyColumn: isKeyed ? 'id' : null,
      unplaced: changesText(written),
      mustReset: false,
      wantsState: false,
    })
    const changes = chunks.flatMap(({ entries }) => readChanges(entries))
    const follower = new Follower(listOf(from), isKeyed)
    for (const [nth, change] of changes.entries()) {
      const text = changeJson({ cursor: `e-${nth + 1}`, atMs: 0, change })
      try {
        follower.apply(JSON.parse(text) as Change)
      } catch (error) {
        throw new Error(`seed ${seed}: ${text}`, { cause: error })
      }
      if (change.operation !== undefined) told++
    }
    follower.assertEquals(listOf(to), `seed ${seed}`)
  }
  assert.ok(told > plays)
})

function play(seed: number, isKeyed: boolean): { known: Cell[][]; next: Cell[][]; written: LoggedChange[] } {
  const random = createRandom(seed)
  const below = (end: number) => Math.floor(random() * end)
  const names = ['id', 'name', 'n', 'x'].slice(0, 3 + below(2))
  let made = 0
  const value = (): Cell => [null, 1, 2, 'a', 'b'][below(5)] ?? null
  const newRow = (): Cell[] =>
    names.map(
      (_, at): Cell => (at > 0 ? value() : random() < 0.1 ? null : random() < 0.1 ? 'k1' : `k${++made}`),
    )
  const filled = (row: Cell[]): Cell[] => (row.some((cell) => cell !== null) ? row : row.with(1, 'full'))
  const rows = Array.from({ length: 1 + below(7) }, () =>
    random() < 0.1 ? names.map((): Cell => null) : newRow(),
  )
  const header: Cell[] = [...names]
  const next = rows.map((row) => [...row])
  const asMeant = rows.map((row) => [...row])
  const written: LoggedChange[] = []
  for (let n = below(5); n > 0; n--) edit()
  for (let n = 1 + below(3); n > 0; n--) write(`op_${n}`)
  for (let n = below(4); n > 0; n--) edit()
  return { known: [names, ...rows], next: [header, ...next], written }

  function edit(): void {
    const at = below(Math.max(next.length, 1))
    const row = next[at]
    const newOne = () => header.map((_, column): Cell => (column === 0 ? `p${++made}` : value()))
    switch (below(8)) {
      case 0:
        next.splice(at, 0, newOne())
        break
      case 1:
        next.splice(at, 1)
        break
      case 2:
        next.sort(() => random() - 0.5)
        break
      case 3:
        if (row) row[1] = `person ${++made}`
        break
      case 4:
        insertColumn(1 + below(header.length))
        break
      case 5:
        header[header.length - 1] = `note ${++made}`
        break
      case 6:
        next.push(newOne())
        break
      default:
        if (row) next[at] = header.map(() => null)
    }
  }

  function insertColumn(at: number): void {
    header.splice(at, 0, `extra ${++made}`)
    for (const row of next) row.splice(at, 0, null)
  }

  /** By the numbers that rows had when it was judged. */
  function write(operation: string): void {
    const row = 2 + below(Math.max(asMeant.length, 1))
    const before = asMeant[row - 2]
    const kind = below(3)
    const isHeard = random() < 0.3
    if (kind === 0 || !before) {
      const cells = filled(newRow())
      const place = random() < 0.5 ? { row: asMeant.length + 2 } : {}
      written.push({ kind: 'added', ...place, ...identity(cells), after: text(cells), operation })
      asMeant.push(cells)
      if (random() < 0.9) next.push([...cells])
    } else if (kind === 1) {
      const at = 1 + below(names.length - 1)
      const after = before.with(at, 10 + below(3))
      const hit = next[row - 2]
      if (hit) hit[at] = after[at] ?? null
      const column = names[at] ?? ''
      written.push(
        isHeard && hit
          ? { kind: 'updated', ...identity(hit), meantRow: row, after: text(hit), wrote: [column], operation }
          : {
              kind: 'updated',
              row,
              ...identity(before),
              ...{ before: text(before), after: text(after) },
              changed: [column],
              operation,
            },
      )
      asMeant[row - 2] = after
    } else {
      const [took] = next.splice(row - 2, 1)
      written.push(
        isHeard && took
          ? { kind: 'deleted', ...identity(took), meantRow: row, before: text(took), operation }
          : { kind: 'deleted', row, ...identity(before), before: text(before), operation },
      )
      asMeant.splice(row - 2, 1)
    }
  }

  function text(cells: readonly Cell[]): string {
    return JSON.stringify(Object.fromEntries(names.map((name, at) => [name, cells[at] ?? null])))
  }

  function identity([key = null]: readonly Cell[]): Pick<LoggedChange, 'key' | 'isByPosition'> {
    return isKeyed && key !== null ? { key: JSON.stringify(key) } : { isByPosition: true }
  }
}

function listOf({ columns, listJson, rowNumbers }: ReturnType<typeof buildSnapshot>): List {
  const rows = JSON.parse(Buffer.from(listJson).toString()) as Record<string, unknown>[]
  return {
    cursor: 'e-0',
    columns: columns.map(({ key }) => key),
    rows: rows.map((row, at) => ({ _row: rowNumbers[at], ...row })),
  }
}
