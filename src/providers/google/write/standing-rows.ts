import type { TabPlace } from '../../../sheets/provider.ts'
import type { GoogleLooking } from '../read/google-looking.ts'
import type { TabView } from '../read/tab-view.ts'
import { onlyPlaceOf, placeByEnd, placeOfLastAdded } from './added-rows.ts'
import type { AddedRows } from './compose-batch.ts'
import { notUnderstood } from './google-settling.ts'

/** So many rows may have been added below ours by others, and ours are still found. */
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
