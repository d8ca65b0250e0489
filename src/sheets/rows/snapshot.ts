import { hash } from 'node:crypto'
import { ProviderFailure } from '../provider-failure.ts'
import type { Grid } from './grid.ts'
import type { ColumnIndexes } from './query/column-index.ts'
import { indexColumns } from './query/index-columns.ts'
import { createRowWriter, writeList } from './row-json.ts'
import { describeRows, type RowDescription } from './schema/row-description.ts'
import { type Column, isBlank, lastRowWithData, servedColumnsOf } from './table.ts'

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
  /** What a blank row between others looks like. */
  blankRowJson: string
  /** Names what can be read here: equal rows at equal numbers have the same. */
  contentHash: string
  /** All buffers together. */
  sizeInBytes: number
}

/** With what filters and sorts look at instead of the text. It takes longer to make than the rows, which do not wait. */
export interface IndexedSnapshot extends Snapshot {
  indexes: ColumnIndexes
  /** What descriptions of the sheet tell of its rows. */
  description: RowDescription
}

/** What is made of the rows after they are there. */
export type MadeLater = Pick<IndexedSnapshot, 'indexes' | 'description'>

/** Every row repeats every header, so a small file can make a very large list; buffers know no limit of their own. */
const maxListBytes = 512 * 1024 * 1024

/** Of the JSON text of one row: it is compared, named by a hash and written as a whole, on the thread that answers. */
export const maxRowBytes = 4 * 1024 * 1024

type Values = 'typed' | 'formatted'

export function buildSnapshot(grid: Grid, values: Values = 'typed'): IndexedSnapshot {
  const { snapshot, index } = buildRows(grid, values)
  return withIndexes(snapshot, index())
}

/** The rows at once, and their indexes when asked for. */
export function buildRows(
  grid: Grid,
  values: Values,
): { snapshot: Snapshot; cells: number; index(): MadeLater } {
  const emptyCell = values === 'formatted' ? '' : null
  const columns = servedColumnsOf(grid)
  const lastRowNumber = lastRowWithData(grid)
  const blankRowJson = createRowWriter(columns, emptyCell)([])
  const rowNumbers = numbersOfFilledRows(grid, lastRowNumber)
  // Told before the first byte is made, where the headers alone are too much.
  if (blankRowJson.length * rowNumbers.length > maxListBytes) throw tooLarge()
  const rows = Array.from(rowNumbers, (number) => grid.rows[number - 1] ?? [])
  const list = writeList(columns, rows, maxListBytes, emptyCell)
  if (!list) throw tooLarge()
  refuseLongRow(list, rowNumbers)
  const snapshot = {
    ...list,
    rowNumbers,
    columns,
    lastRowNumber,
    blankRowJson,
    contentHash: contentHash(columns, list.listJson, rowNumbers),
    sizeInBytes: sizeOf(rowBuffers({ ...list, rowNumbers })),
  }
  return {
    snapshot,
    cells: rows.length * columns.length,
    index() {
      const indexes = indexColumns(columns, rows)
      return { indexes, description: describeRows(columns, rows, indexes, values) }
    },
  }
}

export function withIndexes(snapshot: Snapshot, { indexes, description }: MadeLater): IndexedSnapshot {
  const { propertiesJson, keysJson, exampleRowsJson } = description
  const texts = [propertiesJson, keysJson, ...exampleRowsJson]
  const textBytes = texts.reduce((sum, text) => sum + text.length, 0)
  const sizeInBytes = snapshot.sizeInBytes + sizeOf(indexBuffers(indexes)) + textBytes
  return { ...snapshot, indexes, description, sizeInBytes }
}

function numbersOfFilledRows({ rows }: Grid, lastRowNumber: number): Uint32Array<ArrayBuffer> {
  const numbers = new Uint32Array(lastRowNumber)
  let count = 0
  for (let number = 2; number <= lastRowNumber; number++)
    if (!isBlank(rows[number - 1] ?? [])) numbers[count++] = number
  return numbers.slice(0, count)
}

function refuseLongRow(list: Pick<Snapshot, 'rowStarts'>, rowNumbers: Uint32Array): void {
  for (let at = 0; at < rowNumbers.length; at++) {
    if (rowBytes(list, at) <= maxRowBytes) continue
    throw new ProviderFailure(
      `row ${rowNumbers[at]} has more than ${maxRowBytes / 1024 / 1024} MiB; shorten its cells, or spread them over several rows`,
    )
  }
}

type RowBuffers = Pick<Snapshot, 'listJson' | 'rowStarts' | 'rowNumbers'>

/** What a thread hands over with a snapshot instead of copying it. */
export function rowBuffers({ listJson, rowStarts, rowNumbers }: RowBuffers): ArrayBufferLike[] {
  return [listJson, rowStarts, rowNumbers].map(({ buffer }) => buffer)
}

export function indexBuffers({ codes, facts }: ColumnIndexes): ArrayBufferLike[] {
  return [codes, facts].map(({ buffer }) => buffer)
}

function sizeOf(buffers: readonly ArrayBufferLike[]): number {
  return buffers.reduce((sum, { byteLength }) => sum + byteLength, 0)
}

function tooLarge(): ProviderFailure {
  return new ProviderFailure('the rows are too large together; shorten the headers or the cells')
}

/** Of the JSON text of one listed row. */
export function rowBytes({ rowStarts }: Pick<Snapshot, 'rowStarts'>, at: number): number {
  return (rowStarts[at + 1] ?? 0) - (rowStarts[at] ?? 0) - 1
}

/** The JSON text of one listed row. */
export function rowJson({ listJson, rowStarts }: Snapshot, at: number): string {
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

function contentHash(columns: readonly Column[], listJson: Uint8Array, rowNumbers: Uint32Array): string {
  const keys = JSON.stringify(columns.map((column) => column.key))
  const numbers = hash('sha256', new Uint8Array(rowNumbers.buffer), 'base64url')
  return hash('sha256', keys + numbers + hash('sha256', listJson, 'base64url'), 'base64url').slice(0, 22)
}
