import { type ColumnRange, columnsOfA1 } from '../column-ranges.ts'
import { type GoogleCell, isCell } from '../values-body.ts'

/** Told of what two reads show. */
export interface OnCells {
  /** Each cell that they show differently; false ends the walk. */
  onDifference(row: number, column: number, one: GoogleCell, other: GoogleCell): boolean
  /** Two cells as in the nth difference that was told, from 0 on. */
  onRepeated(row: number, column: number, nth: number): void
  /** A number in a column that the other read does not have. */
  onUncovered(column: number): void
}

const quote = 0x22
const comma = 0x2c
const minus = 0x2d
const zero = 0x30
const nine = 0x39
const openBracket = 0x5b
const backslash = 0x5c
const closeBracket = 0x5d
const beforeRows = '"values":['

/** One range of the other answer, and how far it was read. */
interface WalkedRange extends ColumnRange {
  at: number
  /** Its row is over, or all of its rows are: what is empty at the end is left out. */
  isRowOver: boolean
  isOver: boolean
}

/**
 * Walks through two answers side by side, byte by byte, and parses only the cells that differ: of most tabs few, and
 * two large answers take ten times as long to parse. The other one may have some columns only. False when they do not have the same
 * rows and columns otherwise, or are not written as Google writes without spaces: then only parsing tells what they are.
 */
export function walkDifferences(
  oneBody: Uint8Array,
  otherBody: Uint8Array,
  { onDifference, onRepeated, onUncovered }: OnCells,
): boolean {
  const one = asBuffer(oneBody)
  const other = asBuffer(otherBody)
  let here = startOfRows(one, 0)
  const ranges = rangesOf(other)
  if (here === 0 || !ranges) return false
  const repeats = createRepeats(one, other)
  for (let row = 0; ; row++) {
    if (one[here] === closeBracket)
      return ranges.every(({ at, isOver }) => isOver || other[at] === closeBracket)
    if (row > 0 && one[here++] !== comma) return false
    if (one[here++] !== openBracket) return false
    for (const range of ranges) if (!beginRow(range, row)) return false
    let nth = 0
    let range = ranges[0]
    for (let column = 0; ; column++) {
      if (one[here] === closeBracket) break
      if (column > 0 && one[here++] !== comma) return false
      while (range && column >= range.to) {
        if (!isRowAtEnd(range)) return false
        range = ranges[++nth]
      }
      if (!range || column < range.from) {
        const first = one[here] ?? 0
        if (first === minus || (first >= zero && first <= nine)) onUncovered(column)
        here = endOfCell(one, here)
        continue
      }
      if (!range.isRowOver && other[range.at] === closeBracket) {
        range.isRowOver = true
        range.at++
      }
      if (range.isRowOver) {
        // Left out at the end of a row, and here something stands behind it, in a column that the other does not have.
        if (one[here] !== quote || one[here + 1] !== quote) return false
        here += 2
        continue
      }
      if (column > range.from && other[range.at++] !== comma) return false
      const there = range.at
      const length = lengthOfSame(one, here, other, there)
      if (length > 0) {
        here += length
        range.at = there + length
        continue
      }
      const end = endOfCell(one, here)
      const otherEnd = endOfCell(other, there)
      const known = repeats.find(here, end, there, otherEnd)
      if (known >= 0) onRepeated(row, column, known)
      else {
        const cell = cellIn(one, here, end)
        const otherCell = cellIn(other, there, otherEnd)
        if (cell === undefined || otherCell === undefined) return false
        if (cell !== otherCell) {
          if (!onDifference(row, column, cell, otherCell)) return true
          repeats.noteTold(here, end, there, otherEnd)
        }
      }
      here = end
      range.at = otherEnd
    }
    for (; range; range = ranges[++nth]) if (!isRowAtEnd(range)) return false
    here++
  }

  function beginRow(range: WalkedRange, row: number): boolean {
    range.isRowOver = range.isOver
    if (range.isOver) return true
    if (other[range.at] === closeBracket) {
      range.isOver = true
      range.isRowOver = true
      return true
    }
    if (row > 0 && other[range.at++] !== comma) return false
    return other[range.at++] === openBracket
  }

  /** Ends it. */
  function isRowAtEnd(range: WalkedRange): boolean {
    if (range.isRowOver) return true
    range.isRowOver = true
    return other[range.at++] === closeBracket
  }
}

const repeatSlots = 4_096
const numbersPerSlot = 5

/**
 * Where the same two cells stood before, found by their bytes: a column of dates has few days and many rows, and what
 * they are need not be found out for each.
 */
function createRepeats(one: Uint8Array, other: Uint8Array) {
  /** `here`, `end`, `there`, `otherEnd`, and which difference it was, counted from 1. */
  const slots = new Float64Array(repeatSlots * numbersPerSlot)
  let told = 0

  return {
    /** -1 where they did not, or another pair has taken their place. */
    find(here: number, end: number, there: number, otherEnd: number): number {
      const slot = slotOf(here, end)
      const [from = 0, to = 0, otherFrom = 0, otherTo = 0, nth = 0] = [
        slots[slot],
        slots[slot + 1],
        slots[slot + 2],
        slots[slot + 3],
        slots[slot + 4],
      ]
      const isSame =
        nth > 0 && areSame(one, from, to, here, end) && areSame(other, otherFrom, otherTo, there, otherEnd)
      return isSame ? nth - 1 : -1
    },
    noteTold(here: number, end: number, there: number, otherEnd: number): void {
      const slot = slotOf(here, end)
      slots[slot] = here
      slots[slot + 1] = end
      slots[slot + 2] = there
      slots[slot + 3] = otherEnd
      slots[slot + 4] = ++told
    },
  }

  function slotOf(from: number, to: number): number {
    let sum = 0
    for (let at = from; at < to; at++) sum = (Math.imul(sum, 31) + (one[at] ?? 0)) | 0
    return ((sum ^ (sum >>> 12)) & (repeatSlots - 1)) * numbersPerSlot
  }
}

function areSame(body: Uint8Array, from: number, to: number, here: number, end: number): boolean {
  if (to - from !== end - here) return false
  for (let at = 0; at < to - from; at++) if (body[from + at] !== body[here + at]) return false
  return true
}

/** 0 where there are none. A quote within a text is escaped, so this stands nowhere else. */
export function startOfRows(body: Buffer, from: number): number {
  const at = body.indexOf(beforeRows, from)
  return at < 0 ? 0 : at + beforeRows.length
}

const beforeRange = '"valueRange":{"range":"'

/** The ranges of an answer from left to right; null where it is not one, or one has no rows. */
function rangesOf(body: Buffer): WalkedRange[] | null {
  const ranges: WalkedRange[] = []
  for (let from = body.indexOf(beforeRange); from >= 0; from = body.indexOf(beforeRange, from)) {
    from += beforeRange.length
    const columns = columnsOfA1(body.toString('utf8', from, endOfCell(body, from - 1) - 1))
    const at = startOfRows(body, from)
    const next = body.indexOf(beforeRange, from)
    if (!columns || at === 0 || (next >= 0 && at > next)) return null
    ranges.push({ ...columns, at, isRowOver: false, isOver: false })
  }
  return ranges.length === 0 ? null : ranges.sort((one, other) => one.from - other.from)
}

/** How long a cell is that both write alike; 0 where they do not. */
function lengthOfSame(one: Uint8Array, here: number, other: Uint8Array, there: number): number {
  const isText = one[here] === quote
  let length = 0
  for (; ; length++) {
    const byte = one[here + length]
    if (byte === undefined || byte !== other[there + length]) {
      // `5` and `5` end alike, but what follows may not: `5,` and `5]`.
      const isEnd = !isText && isEndOfCell(byte) && isEndOfCell(other[there + length])
      return isEnd ? length : 0
    }
    if (!isText) {
      if (isEndOfCell(byte)) return length
    } else if (byte === backslash) {
      length++
      if (one[here + length] !== other[there + length]) return 0
    } else if (byte === quote && length > 0) return length + 1
  }
}

/** Where a cell ends that begins there. */
export function endOfCell(body: Uint8Array, from: number): number {
  let at = from
  if (body[at] !== quote) {
    while (at < body.length && !isEndOfCell(body[at])) at++
    return at
  }
  for (at++; at < body.length && body[at] !== quote; at++) if (body[at] === backslash) at++
  return at + 1
}

function isEndOfCell(byte: number | undefined): boolean {
  return byte === comma || byte === closeBracket
}

const plainText = /^"[ !#-[\]-~]*"$/
const plainNumber = /^-?\d+(?:\.\d+)?$/

function cellIn(body: Buffer, from: number, end: number): GoogleCell | undefined {
  const text = body.toString('latin1', from, end)
  if (plainText.test(text)) return text.slice(1, -1)
  if (plainNumber.test(text)) return Number(text)
  try {
    const cell: unknown = JSON.parse(body.toString('utf8', from, end))
    return isCell(cell) ? cell : undefined
  } catch {
    return undefined
  }
}

function asBuffer({ buffer, byteOffset, byteLength }: Uint8Array): Buffer {
  return Buffer.from(buffer, byteOffset, byteLength)
}
