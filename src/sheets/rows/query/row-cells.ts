import type { Cell } from '../grid.ts'
import { keyPrefixes } from '../row-json.ts'
import type { Snapshot } from '../snapshot.ts'

/** Finds and reads single cells in the JSON text of the rows. */
export interface CellReader {
  /** All rows, as in the snapshot. */
  list: Buffer
  cell(position: number, column: number): Cell
  row(position: number): Cell[]
  /** Where each cell of a row begins and ends: 2 numbers a column, valid until the next call. */
  spans(position: number): Uint32Array
  /** The cell whose text lies from `start` to `end`. */
  decode(start: number, end: number): Cell
}

const quote = 0x22
const comma = 0x2c
const backslash = 0x5c
const falseStart = 0x66
const nullStart = 0x6e
const trueStart = 0x74
const closeBrace = 0x7d

/** Kept as long as the snapshot: measuring 16,384 headers for each query would be noticed. */
const readers = new WeakMap<Snapshot, CellReader>()

export function cellReader(snapshot: Snapshot): CellReader {
  const known = readers.get(snapshot)
  if (known) return known
  const reader = createCellReader(snapshot)
  readers.set(snapshot, reader)
  return reader
}

export function cellAt(snapshot: Snapshot, position: number, column: number): Cell {
  return cellReader(snapshot).cell(position, column)
}

/** All cells of a row, in the order of `snapshot.columns`. */
export function cellsAt(snapshot: Snapshot, position: number): Cell[] {
  return cellReader(snapshot).row(position)
}

function createCellReader({ columns, listJson, rowStarts, rowNumbers }: Snapshot): CellReader {
  const list = Buffer.from(listJson.buffer, listJson.byteOffset, listJson.byteLength)
  const prefixBytes = Uint32Array.from(keyPrefixes(columns), (prefix) => Buffer.byteLength(prefix))
  const spans = new Uint32Array(columns.length * 2)

  return {
    list,
    cell(position, column) {
      if (!(column >= 0 && column < columns.length)) throw new RangeError(`No column ${column}`)
      const start = startOf(position, column)
      return decode(start, cellEnd(list, start))
    },
    row(position) {
      const found = findSpans(position)
      return columns.map((_, at) => decode(found[at * 2] ?? 0, found[at * 2 + 1] ?? 0))
    },
    spans: findSpans,
    decode,
  }

  function rowStart(position: number): number {
    if (!(position >= 0 && position < rowNumbers.length)) throw new RangeError(`No row at ${position}`)
    return rowStarts[position] ?? 0
  }

  function startOf(position: number, column: number): number {
    let at = rowStart(position)
    for (let before = 0; before < column; before++) at = cellEnd(list, at + (prefixBytes[before] ?? 0))
    return at + (prefixBytes[column] ?? 0)
  }

  function findSpans(position: number): Uint32Array {
    let at = rowStart(position)
    for (let column = 0; column < columns.length; column++) {
      at += prefixBytes[column] ?? 0
      spans[column * 2] = at
      at = cellEnd(list, at)
      spans[column * 2 + 1] = at
    }
    return spans
  }

  function decode(start: number, end: number): Cell {
    switch (list[start]) {
      case quote: {
        const text = list.toString('utf8', start + 1, end - 1)
        return text.includes('\\') ? (JSON.parse(`"${text}"`) as string) : text
      }
      case nullStart:
        return null
      case trueStart:
        return true
      case falseStart:
        return false
      default:
        return Number(list.toString('latin1', start, end))
    }
  }
}

function cellEnd(list: Uint8Array, start: number): number {
  let at = start
  if (list[at] !== quote) {
    while (list[at] !== comma && list[at] !== closeBrace) at++
    return at
  }
  for (at++; list[at] !== quote; at++) if (list[at] === backslash) at++
  return at + 1
}
