import { hash } from 'node:crypto'
import type { Grid } from './grid.ts'
import { ProviderFailure } from './provider-failure.ts'
import { createRowWriter } from './row-json.ts'
import { type Column, columnsOf, isBlank, lastRowWithData } from './table.ts'

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
}

/** Every row repeats every header, so a small file can make a very large list; buffers know no limit of their own. */
const maxListBytes = 512 * 1024 * 1024
const comma = 0x2c
const openBracket = 0x5b
const closeBracket = 0x5d
/** UTF-8 needs at most three bytes for each UTF-16 unit. */
const maxBytesPerUnit = 3

export function buildSnapshot(grid: Grid): Snapshot {
  const columns = columnsOf(grid)
  const lastRowNumber = lastRowWithData(grid)
  const writeRow = createRowWriter(columns)
  const filledRows = grid.rows.reduce((sum, row) => sum + (isBlank(row) ? 0 : 1), 0)
  // Told before the first byte is made, where the headers alone are too much.
  if (writeRow([]).length * filledRows > maxListBytes) throw tooLarge()
  const rowStarts = new Uint32Array(lastRowNumber + 1)
  const rowNumbers = new Uint32Array(lastRowNumber)

  let text = Buffer.allocUnsafeSlow(64 * 1024)
  text[0] = openBracket
  let end = 1
  let count = 0
  for (let number = 2; number <= lastRowNumber; number++) {
    const row = grid.rows[number - 1] ?? []
    if (isBlank(row)) continue
    const json = writeRow(row)
    const needed = end + json.length * maxBytesPerUnit + 2
    if (needed > maxListBytes) throw tooLarge()
    if (needed > text.length) text = grown(text, end, needed)
    if (count > 0) text[end++] = comma
    rowStarts[count] = end
    rowNumbers[count] = number
    count++
    end += text.write(json, end, 'utf8')
  }
  text[end++] = closeBracket
  rowStarts[count] = end

  const listJson = new Uint8Array(text.buffer.slice(0, end))
  const numbers = rowNumbers.slice(0, count)
  return {
    columns,
    listJson,
    rowStarts: rowStarts.slice(0, count + 1),
    rowNumbers: numbers,
    lastRowNumber,
    blankRowJson: writeRow([]),
    contentHash: contentHash(columns, listJson, numbers),
  }
}

function tooLarge(): ProviderFailure {
  return new ProviderFailure('the rows are too large together; shorten the headers or the cells')
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

function grown(text: Buffer<ArrayBuffer>, used: number, needed: number): Buffer<ArrayBuffer> {
  const larger = Buffer.allocUnsafeSlow(Math.max(needed, text.length * 2))
  text.copy(larger, 0, 0, used)
  return larger
}
