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
export function walkDifferences(oneBody: Uint8Array, otherBody: Uint8Array, onCells: OnCells): boolean {
  const one = asBuffer(oneBody)
  const other = asBuffer(otherBody)
  const here = startOfRows(one, 0)
  const ranges = rangesOf(other)
  if (here === 0 || !ranges) return false
  const repeats = { one, other, slots: new Float64Array(repeatSlots * numbersPerSlot), told: 0 }
  const walk: Walk = { one, other, here, ranges, repeats, onCells }
  for (let row = 0; one[walk.here] !== closeBracket; row++) {
    if (row > 0 && one[walk.here++] !== comma) return false
    const outcome = walkRow(walk, row)
    if (outcome !== 'walked') return outcome === 'ended'
  }
  return ranges.every(({ at, isOver }) => isOver || other[at] === closeBracket)
}

/**
 * How far it is. Handed to functions of the module, and not around them: what the compiler makes of a function within another is
 * dropped with each call of that, and to compile it anew takes as long as the walk.
 */
interface Walk {
  one: Buffer
  other: Buffer
  here: number
  ranges: readonly WalkedRange[]
  repeats: Repeats
  onCells: OnCells
}

/** 'ended': whoever is told wants to hear no more. 'odd': only parsing helps. */
function walkRow(walk: Walk, row: number): 'walked' | 'ended' | 'odd' {
  const { one, other, ranges } = walk
  let { here } = walk
  if (one[here++] !== openBracket) return 'odd'
  for (const range of ranges) if (!beginRow(other, range, row)) return 'odd'
  let nth = 0
  let range = ranges[0]
  for (let column = 0; one[here] !== closeBracket; column++) {
    if (column > 0 && one[here++] !== comma) return 'odd'
    while (range && column >= range.to) {
      if (!isRowAtEnd(other, range)) return 'odd'
      range = ranges[++nth]
    }
    if (!range || column < range.from) {
      const first = one[here] ?? 0
      if (first === minus || (first >= zero && first <= nine)) walk.onCells.onUncovered(column)
      here = endOfCell(one, here)
      continue
    }
    if (!range.isRowOver && other[range.at] === closeBracket) {
      range.isRowOver = true
      range.at++
    }
    if (range.isRowOver) {
      // Left out at the end of a row, and here something stands behind it, in a column that the other does not have.
      if (one[here] !== quote || one[here + 1] !== quote) return 'odd'
      here += 2
      continue
    }
    if (column > range.from && other[range.at++] !== comma) return 'odd'
    const length = lengthOfSame(one, here, other, range.at)
    if (length > 0) {
      here += length
      range.at += length
      continue
    }
    const end = endOfCell(one, here)
    const otherEnd = endOfCell(other, range.at)
    const outcome = tellDifference(walk, { row, column, here, end, there: range.at, otherEnd })
    if (outcome !== 'walked') return outcome
    here = end
    range.at = otherEnd
  }
  for (; range; range = ranges[++nth]) if (!isRowAtEnd(other, range)) return 'odd'
  walk.here = here + 1
  return 'walked'
}

/** Two cells that are not written alike, by where they stand. */
interface CellPair {
  row: number
  column: number
  here: number
  end: number
  there: number
  otherEnd: number
}

function tellDifference({ one, other, repeats, onCells }: Walk, pair: CellPair): 'walked' | 'ended' | 'odd' {
  const { row, column, here, end, there, otherEnd } = pair
  const known = findRepeat(repeats, here, end, there, otherEnd)
  if (known >= 0) {
    onCells.onRepeated(row, column, known)
    return 'walked'
  }
  const cell = cellIn(one, here, end)
  const otherCell = cellIn(other, there, otherEnd)
  if (cell === undefined || otherCell === undefined) return 'odd'
  if (cell === otherCell) return 'walked'
  if (!onCells.onDifference(row, column, cell, otherCell)) return 'ended'
  noteTold(repeats, here, end, there, otherEnd)
  return 'walked'
}

function beginRow(other: Buffer, range: WalkedRange, row: number): boolean {
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
function isRowAtEnd(other: Buffer, range: WalkedRange): boolean {
  if (range.isRowOver) return true
  range.isRowOver = true
  return other[range.at++] === closeBracket
}

const repeatSlots = 4_096
const numbersPerSlot = 5

/**
 * Where the same two cells stood before, found by their bytes: a column of dates has few days and many rows, and what
 * they are need not be found out for each.
 */
interface Repeats {
  one: Buffer
  other: Buffer
  /** `here`, `end`, `there`, `otherEnd`, and which difference it was, counted from 1. */
  slots: Float64Array
  told: number
}

/** -1 where they did not, or others have taken their place. */
function findRepeat(repeats: Repeats, here: number, end: number, there: number, otherEnd: number): number {
  const slot = slotOf(repeats.one, here, end)
  const nth = repeatIn(repeats, slot, here, end, there, otherEnd)
  return nth >= 0 ? nth : repeatIn(repeats, slot + numbersPerSlot, here, end, there, otherEnd)
}

function repeatIn(
  { one, other, slots }: Repeats,
  slot: number,
  here: number,
  end: number,
  there: number,
  otherEnd: number,
): number {
  const nth = slots[slot + 4] ?? 0
  if (nth === 0 || !areSame(one, slots[slot] ?? 0, slots[slot + 1] ?? 0, here, end)) return -1
  return areSame(other, slots[slot + 2] ?? 0, slots[slot + 3] ?? 0, there, otherEnd) ? nth - 1 : -1
}

function noteTold(repeats: Repeats, here: number, end: number, there: number, otherEnd: number): void {
  const { one, slots } = repeats
  const slot = slotOf(one, here, end)
  // Of twenty days, two would share one place now and then, and take it from each other in every row.
  slots.copyWithin(slot + numbersPerSlot, slot, slot + numbersPerSlot)
  slots[slot] = here
  slots[slot + 1] = end
  slots[slot + 2] = there
  slots[slot + 3] = otherEnd
  slots[slot + 4] = ++repeats.told
}

/** The first of two. */
function slotOf(one: Buffer, from: number, to: number): number {
  return (sumOf(one, from, to) & (repeatSlots - 2)) * numbersPerSlot
}

/** A number that equal cells have in common, and others seldom. */
export function sumOf(body: Uint8Array, from: number, to: number): number {
  let sum = 0
  for (let at = from; at < to; at++) sum = (Math.imul(sum, 31) + (body[at] ?? 0)) | 0
  return sum ^ (sum >>> 12)
}

export function areSame(body: Uint8Array, from: number, to: number, here: number, end: number): boolean {
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
  const { length } = body
  for (at++; at < length; at++) {
    const byte = body[at]
    if (byte === quote) break
    if (byte === backslash) at++
  }
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
