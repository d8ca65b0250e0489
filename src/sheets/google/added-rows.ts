import type { Cell } from '../grid.ts'
import type { RowRange } from './google-looking.ts'
import { isBlankRow, type SeenCell, type TabView } from './tab-view.ts'

/**
 * Where rows that were added stand, among rows that were looked at: where they were expected, else the last place
 * at which they are found, because additions go to the end. null when they are not there.
 */
export function findAdded(
  view: TabView,
  rows: readonly (readonly Cell[])[],
  expected: number | null,
  { from, to }: RowRange,
): number | null {
  if (expected !== null && isRunAt(view, rows, expected)) return expected
  for (let at = Math.min(to, view.rowCount) - rows.length + 1; at >= from; at--) {
    if (isRunAt(view, rows, at)) return at
  }
  // Google may keep a text a little otherwise than it was sent. As many rows as were added, at the end, are ours.
  return expected !== null && isEndAt(view, rows.length, expected) ? expected : null
}

function isRunAt(view: TabView, rows: readonly (readonly Cell[])[], first: number): boolean {
  return first > 1 && rows.every((row, at) => isSame(row, view.row(first + at)))
}

/** Cells that were left out may hold what an ARRAYFORMULA puts there. */
function isSame(row: readonly Cell[], seen: readonly SeenCell[]): boolean {
  return row.every((cell, at) => cell === null || seen[at]?.raw === cell)
}

function isEndAt(view: TabView, count: number, first: number): boolean {
  for (let at = 0; at < count; at++) if (isBlankRow(view.row(first + at))) return false
  return first > 1 && isBlankRow(view.row(first + count))
}
