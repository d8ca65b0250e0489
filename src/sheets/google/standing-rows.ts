import type { Place } from '../provider.ts'
import { findAdded } from './added-rows.ts'
import type { AddedRows } from './compose-batch.ts'
import type { GoogleLooking } from './google-looking.ts'
import { notUnderstood } from './google-settling.ts'
import type { TabView } from './tab-view.ts'

/** So many rows may have been added below ours by others, and ours are still found. */
const lookBack = 200

/** Where the added rows are: in the answer, as a rule; else one fresh look finds them. */
export async function standingAt(
  place: Place,
  { rows, first, window, isOnlyEnds }: AddedRows,
  after: TabView | null,
  looking: GoogleLooking,
): Promise<{ first: number; view: TabView }> {
  if (after && isOnlyEnds) {
    const ends = [rows[0] ?? [], rows.at(-1) ?? []]
    const last = first + rows.length - 1
    const seen: TabView = {
      ...after,
      row: (rowNumber) => after.row(rowNumber === first + 1 ? last : rowNumber),
    }
    if (findAdded(seen, ends, first, { from: first, to: first }) === first) return { first, view: after }
  } else if (after) {
    const found = findAdded(after, rows, first, window)
    if (found !== null) return { first: found, view: after }
  }
  const lastRow = await looking.countRows(place)
  const guess = Math.max(2, lastRow - rows.length + 1)
  const range = { from: Math.max(1, guess - lookBack), to: lastRow + 1 }
  const view = await looking.look(place, [{ from: 1, to: 1 }, range])
  if (view === 'outside') throw notUnderstood()
  return { first: findAdded(view, rows, guess, range) ?? guess, view }
}
