import { readChanges } from '../../sheets/logged-change.ts'
import type { ToCompare } from './handed-rows.ts'
import { isShortState } from './state-text.ts'
import type { RowsOfSnapshot } from './tab-rows.ts'

/**
 * Whether this may be compared by the thread that answers everybody. Blank rows between others are in none of the bytes and have a place
 * each all the same: in what is read, in what was, and wherever a change since then put a row.
 */
export function isMoment(
  { known, since, next, unplaced }: ToCompare,
  most: { bytes: number; rows: number },
): boolean {
  const ofKnown = known !== null && 'listJson' in known ? known : null
  const sinceBytes = since.reduce((sum, { byteLength }) => sum + byteLength, 0)
  const rowBytes = next.listJson.byteLength + (ofKnown?.listJson.byteLength ?? 0)
  if (rowBytes + sinceBytes + (unplaced?.length ?? 0) > most.bytes) return false
  if (lastRowOf(next) > most.rows || (ofKnown && lastRowOf(ofKnown) > most.rows)) return false
  if (since.some((chunk) => highestRowOf(chunk) > most.rows)) return false
  return known === null || 'listJson' in known || isShortState(known, most.bytes)
}

/** The number of the last row that is not blank; 1 where there is none. */
export function lastRowOf({ rowNumbers }: Pick<RowsOfSnapshot, 'rowNumbers'>): number {
  return rowNumbers.at(-1) ?? 1
}

function highestRowOf(chunk: Uint8Array<ArrayBuffer>): number {
  return readChanges(Buffer.from(chunk.buffer).toString()).reduce(
    (highest, { row = 1 }) => Math.max(highest, row),
    1,
  )
}
