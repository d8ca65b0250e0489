import assert from 'node:assert/strict'
import { test } from 'node:test'
import { seededRandom } from '../../../../emulator/seeded-random.ts'
import type { Change } from '../../../sheets/change.ts'
import type { Cell } from '../../../sheets/rows/grid.ts'
import type { GoogleLooking } from '../read/google-looking.ts'
import { onlyRowsOf, type TabView } from '../read/tab-view.ts'
import { standingAt } from './added-rows.ts'
import { composeBatch, rangesTouchedBefore } from './compose-batch.ts'
import { findRaces } from './race-check.ts'
import { followRows } from './row-turns.ts'

/** A row of a tab at Google, and which one it is: nobody sees that, but the test must know which was hit. */
interface Row {
  identity: number | 'new'
  cells: Cell[]
}

interface Batch {
  rows: Row[]
  changes: Change[]
  /** Where a person does something, if one does. */
  editedRow: number
}

type Edit = (rows: Row[], rowNumber: number) => void

const histories = 1_000
const nobody: Edit = () => {}
const people: [what: string, edit: Edit][] = [
  ['inserts', (rows, at) => rows.splice(at - 1, 0, { identity: 'new', cells: ['theirs', -1] })],
  ['deletes', (rows, at) => rows.splice(at - 1, 1)],
]

test('batches of any changes, also of rows that are alike: where nobody else wrote, no race is told of', async () => {
  for (let seed = 1; seed <= histories; seed++) {
    const batch = randomBatch(seed, { mostChanges: seed % 4 === 0 ? 60 : 6, shareAlike: 0.3 })
    assert.deepEqual((await writeAfter(nobody, batch)).races, [], `seed ${seed}`)
  }
})

for (const [what, edit] of people) {
  test(`a person ${what} a row in the last instant, and another one is hit: told wherever anything of it is left to be seen`, async () => {
    let hits = 0
    for (let seed = 1; seed <= histories; seed++) {
      // Of more than twenty rows that are written as a whole, those around are not looked at.
      const batch = randomBatch(seed, { mostChanges: 20, shareAlike: 0 })
      const { races, isAnotherHit, left } = await writeAfter(edit, batch)
      if (!isAnotherHit || left === (await writeAfter(nobody, batch)).left) continue
      hits++
      assert.notDeepEqual(races, [], `seed ${seed}`)
    }
    assert.ok(hits > histories / 3, `only ${hits} hits`)
  })
}

function randomBatch(
  seed: number,
  { mostChanges, shareAlike }: { mostChanges: number; shareAlike: number },
): Batch {
  const random = seededRandom(seed)
  const below = (limit: number) => Math.floor(random() * limit)
  let made = 0
  const values = (): Cell[] => (random() < shareAlike ? ['same', 1] : [`value ${++made}`, made])
  const rows: Row[] = [{ identity: 1, cells: ['id', 'n'] }]
  const lastRow = 4 + below(random() < 0.3 ? 90 : 15)
  while (rows.length < lastRow) rows.push({ identity: rows.length + 1, cells: values() })
  for (let spare = below(3) * 10; spare > 0; spare--) rows.push(blankRow())

  const changes: Change[] = []
  const deleted: number[] = []
  const touched = new Set<number>()
  for (let left = 1 + below(mostChanges); left > 0; left--) {
    const row = 2 + below(lastRow - 1)
    const rowNumber = row - deleted.filter((gone) => gone < row).length
    const dice = random()
    if (dice < 0.4 || touched.has(row)) {
      changes.push({ kind: 'add', rows: Array.from({ length: 1 + below(2) }, values) })
      continue
    }
    touched.add(row)
    if (dice < 0.85) {
      const cells = values().map((value, columnIndex) => ({ columnIndex, value }))
      changes.push({ kind: 'update', rowNumber, cells: random() < 0.6 ? cells : cells.slice(1) })
    } else {
      deleted.push(row)
      changes.push({ kind: 'delete', rowNumber })
    }
  }
  return { rows, changes, editedRow: 2 + below(lastRow - 1) }
}

/** Looks, lets somebody edit, applies the batch as Google does, and judges by what its answer shows. */
async function writeAfter(edit: Edit, { rows, changes, editedRow }: Batch) {
  const turns = followRows(changes)
  const before = viewOfRows(rows)
  const look = onlyRowsOf(before, [{ from: 1, to: 1 }, ...rangesTouchedBefore(changes, turns)])
  const isAdding = changes.some(({ kind }) => kind === 'add')
  const end = { lastRow: lastFilled(rows), header: before.row(1), nextRow: [], seenAtMs: 0 }
  const sent = composeBatch({
    tabId: 0,
    changes,
    turns,
    head: isAdding ? { ...before, ...end } : null,
    view: look,
    marker: { id: 1, text: '' },
    oldMarkers: [],
    isTabWanted: false,
  })

  const now = rows.map(({ identity, cells }) => ({ identity, cells: [...cells] }))
  edit(now, editedRow)
  let isAnotherHit = false
  for (const [changeAt, change] of changes.entries()) {
    if (change.kind === 'insert') continue
    if (change.kind === 'add') {
      const added = change.rows.map((cells): Row => ({ identity: 'new', cells: [...cells] }))
      now.splice(lastFilled(now), added.length, ...added)
      continue
    }
    while (now.length < change.rowNumber) now.push(blankRow())
    const hit = now[change.rowNumber - 1] ?? blankRow()
    if (hit.identity !== turns.before(changeAt)) isAnotherHit = true
    if (change.kind === 'delete') now.splice(change.rowNumber - 1, 1)
    else for (const { columnIndex, value } of change.cells) hit.cells[columnIndex] = value
  }

  const whole = viewOfRows(now)
  const after = onlyRowsOf(whole, sent.shown)
  const looking = {
    countRows: async () => lastFilled(now),
    readTabRanges: async () => whole,
  } satisfies Partial<GoogleLooking>
  const place = { location: '', credentialId: null }
  const at = sent.added && (await standingAt(place, sent.added, after, looking as unknown as GoogleLooking))
  const shown = at?.view === after ? at.first : null
  const added = sent.added && { rows: sent.added.rows, expected: sent.added.first, shown }
  return {
    races: findRaces(changes, turns, look, after, added),
    isAnotherHit,
    left: JSON.stringify(now.slice(0, lastFilled(now)).map(({ cells }) => cells)),
  }
}

function blankRow(): Row {
  return { identity: 'new', cells: [null, null] }
}

function lastFilled(rows: readonly Row[]): number {
  return rows.findLastIndex(({ cells }) => cells.some((cell) => cell !== null)) + 1
}

function viewOfRows(rows: readonly Row[]): TabView {
  const seen = rows.map(({ cells }) =>
    cells.map((value) => ({ value, raw: value, isFormula: false, isDateFormat: false, numberFormat: null })),
  )
  const size = { title: 'Items', rowCount: rows.length, columnCount: 2, frozenRowCount: 0 }
  return { ...size, row: (rowNumber) => seen[rowNumber - 1] ?? [] }
}
