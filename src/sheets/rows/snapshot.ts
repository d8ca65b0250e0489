import type { ColumnIndexes } from './query/columns/column-index.ts'
import type { RowDescription } from './schema/row-description.ts'
import type { StaleColumn } from './stale-results.ts'
import type { Column } from './table.ts'

/**
 * A tab as it was read, ready to be sent: the JSON text of all its rows in one piece, and where each row begins.
 * It holds only plain values and buffers, so a worker builds it and hands it over without a copy.
 */
export interface Snapshot {
  /** Empty when row 1 has no header: the door answers `missing_headers`. */
  columns: Column[]
  /** `[row,row,…]`, without the fully blank rows. */
  listJson: Uint8Array
  /** Row i of the list is `listJson` from `rowStarts[i]` to `rowStarts[i + 1] - 1`; one entry more than rows. */
  rowStarts: Uint32Array
  /** The sheet's own number of each listed row, ascending. */
  rowNumbers: Uint32Array
  lastRowNumber: number
  /** Where results of formulas are outdated. */
  stale: StaleColumn[]
  /** What a blank row between others looks like. */
  blankRowJson: string
  /** Names what can be read here: equal rows at equal numbers have the same. */
  contentHash: string
  /** All buffers together. */
  sizeInBytes: number
  /** Rows that are not listed may be more than blank: of a view that leaves rows out, they do not exist. */
  leavesRowsOut?: true
}

/** With what filters and sorts look at instead of the text. It takes longer to make than the rows, which do not wait. */
export interface IndexedSnapshot extends Snapshot {
  indexes: ColumnIndexes
  /** What descriptions of the sheet tell of its rows. */
  description: RowDescription
}

/** What is made of the rows after they are there. */
export type MadeLater = Pick<IndexedSnapshot, 'indexes' | 'description'>

/** The JSON text of one row is bounded: it is compared, named by a hash and written as a whole, on the thread that answers. */
export const maxRowBytes = 4 * 1024 * 1024

export function withIndexes(snapshot: Snapshot, { indexes, description }: MadeLater): IndexedSnapshot {
  const { propertiesJson, writtenPropertiesJson, keysJson, exampleRowsJson } = description
  const texts = [...propertiesJson, ...writtenPropertiesJson, ...keysJson, ...exampleRowsJson.flat()]
  const textBytes = texts.reduce((sum, text) => sum + text.length, 0)
  const sizeInBytes = snapshot.sizeInBytes + bytesOfBuffers(indexBuffers(indexes)) + textBytes
  return { ...snapshot, indexes, description, sizeInBytes }
}

type RowBuffers = Pick<Snapshot, 'listJson' | 'rowStarts' | 'rowNumbers'>

/** What a thread hands over with a snapshot instead of copying it. */
export function rowBuffers({ listJson, rowStarts, rowNumbers }: RowBuffers): ArrayBufferLike[] {
  return [listJson, rowStarts, rowNumbers].map(({ buffer }) => buffer)
}

export function indexBuffers({ codes, facts }: ColumnIndexes): ArrayBufferLike[] {
  return [codes, facts].map(({ buffer }) => buffer)
}

export function bytesOfBuffers(buffers: readonly ArrayBufferLike[]): number {
  return buffers.reduce((sum, { byteLength }) => sum + byteLength, 0)
}

/** The length of the JSON text of one listed row. */
export function rowBytes({ rowStarts }: Pick<Snapshot, 'rowStarts'>, at: number): number {
  return (rowStarts[at + 1] ?? 0) - (rowStarts[at] ?? 0) - 1
}

/** The JSON text of one listed row. */
export function rowJson(
  { listJson, rowStarts }: Pick<Snapshot, 'listJson' | 'rowStarts'>,
  at: number,
): string {
  const start = rowStarts[at] ?? 0
  const end = (rowStarts[at + 1] ?? 0) - 1
  return Buffer.from(listJson.buffer, listJson.byteOffset + start, end - start).toString()
}

/** Where a row stands in the list, or null when it is blank or past the end. */
export function positionOf(snapshot: Snapshot, rowNumber: number): number | null {
  const { rowNumbers } = snapshot
  let low = 0
  let high = rowNumbers.length - 1
  while (low <= high) {
    const middle = (low + high) >>> 1
    const found = rowNumbers[middle] ?? 0
    if (found === rowNumber) return middle
    if (found < rowNumber) low = middle + 1
    else high = middle - 1
  }
  return null
}
