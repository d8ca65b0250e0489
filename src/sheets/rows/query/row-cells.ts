import type { Cell } from '../grid.ts'
import { keyPrefixes } from '../row-json.ts'
import { rowBytes, type Snapshot } from '../snapshot.ts'
import type { Chunks } from './chunks.ts'

/** Finds and reads single cells in the JSON text of the rows. */
export interface RowCellReader {
  /** All rows, as in the snapshot. */
  list: Buffer
  cell(position: number, column: number): Cell
  row(position: number): Cell[]
  /** Where each cell of a row begins and ends: 2 numbers a column, valid until the next call. */
  spans(position: number): Uint32Array
  /** The cell whose text lies from `start` to `end`. */
  decode(start: number, end: number): Cell
  /** A cell as text; of a long one at least so many UTF-16 units from its beginning. */
  beginning(position: number, column: number, units: number): string
  /** A text cell bit by bit, never cut within a letter. */
  pieces(start: number, end: number): Iterable<string>
  /** The JSON text of a cell. */
  copyCell(position: number, column: number, into: Chunks): void
  /** Whether so much was looked at since the last pause that others should have a turn. */
  isTimeToPause(): boolean
  /** Something was read past this reader. */
  note(bytes: number): void
}

const quote = 0x22
const comma = 0x2c
const backslash = 0x5c
const falseStart = 0x66
const nullStart = 0x6e
const trueStart = 0x74
const smallU = 0x75
const closeBrace = 0x7d

/** A text that is longer is gone through in pieces of so many bytes. */
export const longTextBytes = 64 * 1024
/** What is read between two pauses takes a millisecond or two; each look at a row somewhere counts as so much at least. */
const bytesPerStep = 256 * 1024
const bytesPerLook = 2 * 1024
/** A unit is written as `\u001f` at most. */
const maxBytesPerUnit = 6

/** Where the cells of longer rows lie is remembered, as long as that takes no more than this part of the row. */
const rememberedFromBytes = 16 * 1024
const rememberedPart = 1 / 16

/** Kept as long as the snapshot: measuring 16,384 headers for each query would be noticed. */
const readers = new WeakMap<Snapshot, RowCellReader>()

export function cellReader(snapshot: Snapshot): RowCellReader {
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

function createCellReader(snapshot: Snapshot): RowCellReader {
  const { columns, listJson, rowStarts, rowNumbers } = snapshot
  const list = Buffer.from(listJson.buffer, listJson.byteOffset, listJson.byteLength)
  const prefixBytes = Uint32Array.from(keyPrefixes(columns), (prefix) => Buffer.byteLength(prefix))
  const spans = new Uint32Array(columns.length * 2)
  const minRemembered = Math.max(rememberedFromBytes, spans.byteLength / rememberedPart)
  const spansOfLong = new Map<number, Uint32Array>()
  let readSincePause = 0

  return {
    list,
    cell(position, column) {
      const start = startOf(position, column)
      return decode(start, endOf(position, column, start))
    },
    row(position) {
      const found = findSpans(position)
      return columns.map((_, at) => decode(found[at * 2] ?? 0, found[at * 2 + 1] ?? 0))
    },
    spans: findSpans,
    decode,
    beginning(position, column, units) {
      const start = startOf(position, column)
      const end = endOf(position, column, start)
      const most = start + 1 + (units + 1) * maxBytesPerUnit
      if (list[start] !== quote || end <= most + 1) return String(decode(start, end))
      return textOf(start + 1, cutBefore(list, start + 1, most))
    },
    *pieces(start, end) {
      for (let from = start + 1; from < end - 1; ) {
        const to = end - 1 - from <= longTextBytes ? end - 1 : cutBefore(list, from, from + longTextBytes)
        yield textOf(from, to)
        from = to
      }
    },
    copyCell(position, column, into) {
      const start = startOf(position, column)
      const end = endOf(position, column, start)
      readSincePause += end - start
      into.bytes(list, start, end)
    },
    isTimeToPause() {
      if (readSincePause < bytesPerStep) return false
      readSincePause = 0
      return true
    },
    note(bytes) {
      readSincePause += bytes
    },
  }

  function rowStart(position: number): number {
    if (!(position >= 0 && position < rowNumbers.length)) throw new RangeError(`No row at ${position}`)
    return rowStarts[position] ?? 0
  }

  function isRemembered(position: number): boolean {
    return rowBytes(snapshot, position) > minRemembered
  }

  function startOf(position: number, column: number): number {
    if (!(column >= 0 && column < columns.length)) throw new RangeError(`No column ${column}`)
    readSincePause += bytesPerLook
    if (isRemembered(position)) return findSpans(position)[column * 2] ?? 0
    const first = rowStart(position)
    let at = first
    for (let before = 0; before < column; before++) at = cellEnd(list, at + (prefixBytes[before] ?? 0))
    readSincePause += at - first
    return at + (prefixBytes[column] ?? 0)
  }

  function endOf(position: number, column: number, start: number): number {
    return isRemembered(position) ? (findSpans(position)[column * 2 + 1] ?? 0) : cellEnd(list, start)
  }

  function findSpans(position: number): Uint32Array {
    const known = spansOfLong.get(position)
    if (known) return known
    const first = rowStart(position)
    let at = first
    for (let column = 0; column < columns.length; column++) {
      at += prefixBytes[column] ?? 0
      spans[column * 2] = at
      at = cellEnd(list, at)
      spans[column * 2 + 1] = at
    }
    readSincePause += at - first
    if (isRemembered(position)) spansOfLong.set(position, spans.slice())
    return spans
  }

  function decode(start: number, end: number): Cell {
    switch (list[start]) {
      case quote:
        return textOf(start + 1, end - 1)
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

  function textOf(start: number, end: number): string {
    readSincePause += end - start
    const text = list.toString('utf8', start, end)
    return text.includes('\\') ? (JSON.parse(`"${text}"`) as string) : text
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

/** The last place up to `most` where no letter and no escape is cut in two, in a text that begins at `start`. */
function cutBefore(list: Uint8Array, start: number, most: number): number {
  let cut = most
  while (cut > start && ((list[cut] ?? 0) & 0xc0) === 0x80) cut--
  // An escape that reaches over the cut begins at most five bytes before it.
  for (let at = Math.max(start, cut - maxBytesPerUnit + 1); at < cut; at++) {
    if (list[at] !== backslash || !isEscape(list, start, at)) continue
    const length = list[at + 1] === smallU ? maxBytesPerUnit : 2
    if (at + length > cut) return at
    at += length - 1
  }
  return cut
}

/** A backslash behind another may be what that one escapes. */
function isEscape(list: Uint8Array, start: number, at: number): boolean {
  let backslashes = 0
  while (at - backslashes - 1 >= start && list[at - backslashes - 1] === backslash) backslashes++
  return backslashes % 2 === 0
}
