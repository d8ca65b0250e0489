import { type GoogleCell, isCell } from './values-body.ts'

/** Told of each cell that two reads show differently; false ends the walk. */
export type OnDifference = (row: number, column: number, one: GoogleCell, other: GoogleCell) => boolean

/** Two cells as in the nth difference that was told, from 0 on. */
export type OnRepeated = (row: number, column: number, nth: number) => void

const quote = 0x22
const comma = 0x2c
const openBracket = 0x5b
const backslash = 0x5c
const closeBracket = 0x5d
const beforeRows = '"values":['

/**
 * Walks through two answers side by side, byte by byte, and parses only the cells that differ: of most tabs few, and
 * two large answers take ten times as long to parse. False when they do not have the same rows and columns, or are not
 * written as Google writes without spaces: then only parsing tells what they are.
 */
export function walkDifferences(
  oneBody: Uint8Array,
  otherBody: Uint8Array,
  onDifference: OnDifference,
  onRepeated: OnRepeated,
): boolean {
  const one = asBuffer(oneBody)
  const other = asBuffer(otherBody)
  let here = startOfRows(one)
  let there = startOfRows(other)
  if (here === 0 || there === 0) return false
  const repeats = createRepeats(one, other)
  for (let row = 0; ; row++) {
    if (one[here] === closeBracket && other[there] === closeBracket) return true
    if (row > 0 && (one[here++] !== comma || other[there++] !== comma)) return false
    if (one[here++] !== openBracket || other[there++] !== openBracket) return false
    for (let column = 0; ; column++) {
      if (one[here] === closeBracket && other[there] === closeBracket) break
      if (column > 0 && (one[here++] !== comma || other[there++] !== comma)) return false
      const length = lengthOfSame(one, here, other, there)
      if (length > 0) {
        here += length
        there += length
        continue
      }
      const end = endOfCell(one, here)
      const otherEnd = endOfCell(other, there)
      const nth = repeats.find(here, end, there, otherEnd)
      if (nth >= 0) {
        onRepeated(row, column, nth)
        here = end
        there = otherEnd
        continue
      }
      const cell = cellIn(one, here, end)
      const otherCell = cellIn(other, there, otherEnd)
      if (cell === undefined || otherCell === undefined) return false
      if (cell !== otherCell) {
        if (!onDifference(row, column, cell, otherCell)) return true
        repeats.noteTold(here, end, there, otherEnd)
      }
      here = end
      there = otherEnd
    }
    here++
    there++
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
function startOfRows(body: Buffer): number {
  const at = body.indexOf(beforeRows)
  return at < 0 ? 0 : at + beforeRows.length
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

function endOfCell(body: Uint8Array, from: number): number {
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
