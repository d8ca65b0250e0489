import { type Change, writtenColumns } from '../../../sheets/change.ts'
import { type Column, columnsOf } from '../../../sheets/rows/table.ts'
import { headerValues } from '../read/tab-memory.ts'
import type { SeenCell } from '../read/tab-view.ts'

/** A header as it was seen, in the terms in which changes are judged. */
export function columnsOfHeader(header: readonly SeenCell[]): Column[] {
  return columnsOf({ rows: [headerValues(header)] })
}

/**
 * Whether the columns that these changes write into are still where they were when the changes were judged. Others
 * may be anything: a header that is computed from the time of day must not keep everybody from writing.
 */
export function areColumnsAsJudged(
  changes: readonly Change[],
  judged: readonly Column[],
  now: readonly Column[],
): boolean {
  const [keysThen, keysNow] = [judged, now].map(
    (columns) => new Map(columns.map(({ key, index }) => [index, key])),
  )
  return [...writtenColumns(changes)].every((index) => keysThen?.get(index) === keysNow?.get(index))
}
