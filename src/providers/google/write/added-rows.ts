import type { TabPlace } from '../../../sheets/provider.ts'
import type { Cell } from '../../../sheets/rows/grid.ts'
import type { GoogleLooking } from '../read/google-looking.ts'
import type { RowRange } from '../read/row-ranges.ts'
import { isFilledRow } from '../read/tab-memory.ts'
import type { SeenCell, TabView } from '../read/tab-view.ts'
import type { AddedRows } from './compose-batch.ts'
import { notUnderstood } from './google-settling.ts'

/** How many rows others may have added below ours, and ours are still found. */
const lookBack = 200

export interface Standing {
  first: number
  view: TabView
}

/**
 * Where the added rows are: in the answer, as a rule, else one fresh look finds them. null when that cannot be told for
 * certain, because people have been quick and rows that look like ours stand beside them.
 */
export async function standingAt(
  place: TabPlace,
  { rows, first, window, isOnlyEnd }: AddedRows,
  after: TabView,
  looking: GoogleLooking,
): Promise<Standing | null> {
  const shown = (isOnlyEnd ? placeByEnd : placeOfLastAdded)(after, rows, first, window)
  if (shown !== null) return { first: shown, view: after }
  const lastRow = await looking.countRows(place)
  const range = { from: Math.max(1, lastRow - rows.length + 1 - lookBack), to: lastRow + 1 }
  const view = await looking.readTabRanges(place, [{ from: 1, to: 1 }, range])
  if (view === 'outside') throw notUnderstood()
  const found = onlyPlaceOf(view, rows, range)
  return found === null ? null : { first: found, view }
}

/**
 * Where rows that were added stand, in a view of the very moment at which they were: they are the last with data,
 * because nobody can have come after them yet. Rows that look like them may stand above, so a place where they fit is
 * not good enough: it must be one that had no data at the last look before (`expected` or below). null when they are not
 * in sight, because people added or deleted rows in that instant.
 */
function placeOfLastAdded(
  view: TabView,
  rows: readonly (readonly Cell[])[],
  expected: number,
  window: RowRange,
): number | null {
  const last = lastFilledRow(view, window)
  if (last === null) return null
  for (let at = last - rows.length + 1; at >= expected; at--) if (isRunAt(view, rows, at)) return at
  // Google may keep a text a little otherwise than it was sent. As many rows as were added, at the end, are ours.
  return last - rows.length + 1 === expected ? expected : null
}

/** `placeOfLastAdded` where only the end was shown, because the rows are too many. */
function placeByEnd(
  view: TabView,
  rows: readonly (readonly Cell[])[],
  expected: number,
  window: RowRange,
): number | null {
  const last = lastFilledRow(view, window)
  if (last === null || !isRunAt(view, rows.slice(-1), last)) return null
  const first = last - rows.length + 1
  return first >= expected ? first : null
}

/** null when the data may go on beyond the window, and when there is none in it. */
function lastFilledRow(view: TabView, { from, to: shownTo }: RowRange): number | null {
  const to = Math.min(shownTo, view.rowCount)
  if (to < view.rowCount && isFilledRow(view.row(to))) return null
  for (let row = to; row >= from; row--) if (isFilledRow(view.row(row))) return row
  return null
}

/**
 * Where the rows stand in a later view, by what they hold. null when they are not there, and also when they are there more
 * than once: which of them are ours cannot be told then.
 */
function onlyPlaceOf(
  view: TabView,
  rows: readonly (readonly Cell[])[],
  { from, to }: RowRange,
): number | null {
  const places: number[] = []
  for (let at = Math.max(2, from); at + rows.length - 1 <= Math.min(to, view.rowCount); at++) {
    if (isRunAt(view, rows, at)) places.push(at)
  }
  return places.length === 1 ? (places[0] ?? null) : null
}

function isRunAt(view: TabView, rows: readonly (readonly Cell[])[], first: number): boolean {
  return first > 1 && rows.every((row, at) => isSame(row, view.row(first + at)))
}

/** Cells that were left out may hold what an ARRAYFORMULA puts there. */
function isSame(row: readonly Cell[], seen: readonly SeenCell[]): boolean {
  return row.every((cell, at) => cell === null || seen[at]?.raw === cell)
}
