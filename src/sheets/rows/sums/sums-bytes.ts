import { indexedColumn } from '../query/columns/column-index.ts'
import { keyPrefixes } from '../row-json.ts'
import type { IndexedSnapshot, Snapshot } from '../snapshot.ts'
import type { Column } from '../table.ts'
import type { SumsQuery } from './sums.ts'

/**
 * A result may be so long as JSON (docs/contract.md#sums). It lies in memory until it was sent, and while it is made twice: four
 * at once of one account, which are as many as it may have, took 2 GB when there was no end to it.
 */
export const maxSumsBytes = 32 * 1024 * 1024

/** What is asked for is longer than that. */
export type TooLong = 'too long'

/** Groups, tables to find them in, and one figure of each, where every row is a group. */
const bytesPerRow = 64
/** What groups are sorted by, and their order before and after. */
const bytesPerOrder = 16
const bytesPerFigure = 8
const mostFigureText = 24
/** A column may come as it is, as its least and as its greatest cell; parts of dates are short. */
const mostCopies = 3

/** What a query may hold in memory at most. */
export function bytesOfSums(
  snapshot: IndexedSnapshot,
  { sums, sort, limit }: SumsQuery & { sums: { columns: readonly Column[] } },
): number {
  const rows = snapshot.rowNumbers.length
  let groups = 1
  for (const { column } of sums.groupBy)
    groups = Math.min(rows, groups * (indexedColumn(snapshot, column).emptyCode + 1))
  // What is certain to be longer is refused before any figure is there.
  const shown = Math.min(limit ?? groups, groups, maxSumsBytes / leastRowBytes(sums.columns))
  const cellBytes = mostCopies * Math.min(snapshot.listJson.byteLength, shown * longestRow(snapshot))
  const text = shown * (leastRowBytes(sums.columns) + sums.columns.length * mostFigureText) + cellBytes
  return (
    rows * bytesPerRow +
    groups * sort.length * bytesPerOrder +
    shown * sums.aggregates.length * bytesPerFigure +
    2 * Math.min(text, maxSumsBytes)
  )
}

/** A row has all names, each with a digit at least. */
export function leastRowBytes(columns: readonly Column[]): number {
  return keyPrefixes(columns).reduce((sum, prefix) => sum + Buffer.byteLength(prefix) + 1, 2)
}

/** Each is a place in memory, and two million kept the thread that answers everybody for 20 ms. */
const mostPlacesLookedAt = 100_000
const longest = new WeakMap<Pick<Snapshot, 'rowStarts'>, number>()

/** No row is longer. Of more rows, some count together as one: it is so many times too much at most, 20 for the longest sheet. */
export function longestRow(snapshot: Pick<Snapshot, 'rowStarts'>): number {
  const known = longest.get(snapshot)
  if (known !== undefined) return known
  const { rowStarts } = snapshot
  const rows = rowStarts.length - 1
  const together = Math.ceil(rows / mostPlacesLookedAt)
  let bytes = 0
  let start = rowStarts[0] ?? 0
  for (let at = 0; at < rows; at += together) {
    const next = rowStarts[Math.min(at + together, rows)] ?? 0
    // Without the comma, or the bracket, after the last of them.
    bytes = Math.max(bytes, next - start - 1)
    start = next
  }
  longest.set(snapshot, bytes)
  return bytes
}
