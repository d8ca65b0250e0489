import { isUtf8 } from 'node:buffer'
import type { Cell } from '../../../sheets/rows/grid.ts'
import type { ListedRows } from '../../../sheets/rows/listed-rows.ts'
import { type EmptyCell, keyPrefixes } from '../../../sheets/rows/row-json.ts'
import { servedColumnsOf } from '../../../sheets/rows/table.ts'
import { numbersPerDate, serialKinds } from './dates/compare-reads.ts'
import { endOfCell, startOfRows } from './dates/differing-cells.ts'
import { createSerialTexts } from './dates/serial-text.ts'
import { type GoogleDecodeOptions, servedCell } from './google-decode.ts'
import { isCell, rowsIn } from './values-body.ts'

const quote = 0x22
const hash = 0x23
const comma = 0x2c
const minus = 0x2d
const point = 0x2e
const zero = 0x30
const nine = 0x39
const openBracket = 0x5b
const backslash = 0x5c
const closeBracket = 0x5d
const closeBrace = 0x7d
const space = 0x20

/** A number with so few digits is written by everyone in the same way. */
const mostPlainDigits = 15
const leastListBytes = 64 * 1024
/** Every row repeats every header. Where that makes it so many times as long, who takes it apart sees whether it is too much before it is made. */
const mostTimesLonger = 8

/**
 * Runs in a worker: the JSON of all rows straight from an answer of Google, byte for byte what `decodeGoogleValues` and the
 * writer of rows would make of it, in a third of their time and without an object for each cell. null where the answer is not written as Google
 * writes it, or is none: then it has to be taken apart.
 */
export function listGoogleValues(
  bytes: Uint8Array,
  options: unknown,
  emptyCell: EmptyCell,
): ListedRows | null {
  const { values, dates } = options as GoogleDecodeOptions
  const body = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  const start = startOfRows(body, 0)
  // A header that is a date is rare.
  if (start === 0 || dates[0] === 0 || !isUtf8(body)) return null
  const header = headerIn(body, start, values)
  if (!header) return null
  const columns = servedColumnsOf({ rows: [header.cells] })
  if (columns.length === 0) return null
  const written = writeRows(body, header.end, {
    values,
    dates,
    emptyCell,
    prefixes: keyPrefixes(columns).map((prefix) => Buffer.from(prefix)),
    indexes: columns.map(({ index }) => index),
  })
  if (!written || !isFrame(body, start, written.end)) return null
  const { listJson, rowStarts, rowNumbers, lastRowNumber } = written
  return { columns, listJson, rowStarts, rowNumbers, lastRowNumber }
}

/** Row 1, and where it ends. */
function headerIn(
  body: Buffer,
  start: number,
  values: GoogleDecodeOptions['values'],
): { cells: Cell[]; end: number } | null {
  if (body[start] !== openBracket) return null
  let end = start + 1
  while (end < body.length && body[end] !== closeBracket) {
    end = endOfCell(body, end)
    if (body[end] === comma) end++
  }
  const row = parsePart(body, start, end + 1)
  if (!Array.isArray(row) || !row.every(isCell)) return null
  return { cells: row.map((cell) => servedCell(cell, values)), end: end + 1 }
}

/** What stands around the rows is the rest of an answer, and they are its first. */
function isFrame(body: Buffer, start: number, end: number): boolean {
  try {
    return rowsIn(Buffer.concat([body.subarray(0, start), body.subarray(end)])).length === 0
  } catch {
    return false
  }
}

interface RowsWish extends GoogleDecodeOptions {
  emptyCell: EmptyCell
  prefixes: readonly Buffer[]
  /** Where in the tab each of them stands, ascending. */
  indexes: readonly number[]
}

interface WrittenRows extends Omit<ListedRows, 'columns'> {
  /** Where the rows are over, in the answer. */
  end: number
}

function writeRows(
  body: Buffer,
  from: number,
  { values, dates, emptyCell, prefixes, indexes }: RowsWish,
): WrittenRows | null {
  const dateText = createDateTexts()
  const emptyText = Buffer.from(JSON.stringify(emptyCell))
  const rowStarts: number[] = []
  const rowNumbers: number[] = []
  let out = Buffer.allocUnsafeSlow(Math.max(leastListBytes, body.length * 2))
  out[0] = openBracket
  let at = from
  let end = 1
  let date = 0
  let lastRowNumber = 1

  for (let row = 1; ; row++) {
    if (body[at] === closeBracket) break
    if (body[at] !== comma || body[at + 1] !== openBracket) return null
    const [rowAt, rowEnd, rowDate] = [at + 2, end, date]
    at = rowAt
    let outcome = writeRow(row)
    // What is written past the end is lost without a word.
    while (outcome !== 'odd' && end + 1 > out.length) {
      if (end > leastListBytes + mostTimesLonger * body.length) return null
      out = Buffer.from(out.buffer.transfer(Math.max(end + 1, out.length * 2)))
      at = rowAt
      end = rowEnd
      date = rowDate
      outcome = writeRow(row)
    }
    if (outcome === 'odd') return null
    if (outcome === 'blank') {
      end = rowEnd
      continue
    }
    rowStarts.push(rowNumbers.length === 0 ? rowEnd : rowEnd + 1)
    rowNumbers.push(row + 1)
    lastRowNumber = row + 1
  }
  out[end] = closeBracket
  rowStarts.push(end + 1)
  return {
    listJson: new Uint8Array(out.buffer.transfer(end + 1)),
    rowStarts: new Uint32Array(rowStarts),
    rowNumbers: new Uint32Array(rowNumbers),
    lastRowNumber,
    end: at,
  }

  /** From behind the bracket of a row to behind its end. */
  function writeRow(row: number): 'filled' | 'blank' | 'odd' {
    let isBlank = true
    let nth = 0
    if (rowNumbers.length > 0) out[end++] = comma
    for (let column = 0; body[at] !== closeBracket; column++) {
      if (column > 0 && body[at++] !== comma) return 'odd'
      const isShown = indexes[nth] === column
      if (isShown) put(prefixes[nth++])
      const cellEnd = end
      const isFilled = writeCell(row, column)
      if (isFilled === null) return 'odd'
      isBlank &&= !isFilled
      if (!isShown) end = cellEnd
    }
    at++
    while (nth < prefixes.length) {
      put(prefixes[nth++])
      put(emptyText)
    }
    out[end++] = closeBrace
    return isBlank ? 'blank' : 'filled'
  }

  /** Whether there is something in it; null where it is no cell. */
  function writeCell(row: number, column: number): boolean | null {
    const first = body[at] ?? 0
    if (first === quote) {
      if (body[at + 1] === quote) {
        at += 2
        put(emptyText)
        return false
      }
      return body[at + 1] === hash ? writeSlowly() : writeText()
    }
    if (first === minus || (first >= zero && first <= nine)) {
      if (dates[date] === row && dates[date + 1] === column) return writeDate()
      return writeNumber()
    }
    return writeSlowly()
  }

  /** Copied as far as it can stand in our JSON as it does in Google's. In variables of its own: those are ten million bytes. */
  function writeText(): boolean | null {
    const from = body
    const to = out
    let here = at
    let there = end
    to[there++] = quote
    for (here++; ; here++) {
      const byte = from[here] ?? 0
      if (byte < space) return null
      if (byte === backslash) return writeSlowly()
      to[there++] = byte
      if (byte !== quote) continue
      at = here + 1
      end = there
      return true
    }
  }

  function writeNumber(): boolean | null {
    const from = body
    const to = out
    let here = at
    let there = end
    const isNegative = from[here] === minus
    if (isNegative) to[there++] = from[here++] ?? 0
    const first = from[here]
    let points = 0
    let digits = 0
    let last = 0
    for (; ; here++) {
      const byte = from[here] ?? 0
      if (byte >= zero && byte <= nine) digits++
      else if (byte === point) points++
      else break
      to[there++] = byte
      last = byte
    }
    const isEnd = from[here] === comma || from[here] === closeBracket
    // `-0`, `01`, `1.50` and what is smaller than a millionth are written in other ways, or are no numbers.
    const isPlainBegin =
      first === zero
        ? !isNegative && (digits === 1 || from[at + 1] === point) && !isTiny(at)
        : first !== point
    const isPlainEnd = points === 0 || (points === 1 && last !== zero && last !== point)
    if (!isEnd || !isPlainBegin || !isPlainEnd || digits === 0 || digits > mostPlainDigits)
      return writeSlowly()
    at = here
    end = there
    return true
  }

  /** `0.00000…` */
  function isTiny(numberAt: number): boolean {
    for (let place = 2; place < 8; place++) if (body[numberAt + place] !== zero) return false
    return true
  }

  function writeDate(): boolean | null {
    const cellEnd = endOfCell(body, at)
    const kind = dates[date + 2] ?? 0
    const text = dateText(body.toString('latin1', at, cellEnd), kind)
    if (!text) return null
    date += numbersPerDate
    at = cellEnd
    put(text)
    return true
  }

  function writeSlowly(): boolean | null {
    const cellEnd = endOfCell(body, at)
    const cell = parsePart(body, at, cellEnd)
    if (!isCell(cell)) return null
    at = cellEnd
    const served = servedCell(cell, values)
    put(served === null ? emptyText : Buffer.from(JSON.stringify(served)))
    return served !== null
  }

  function put(text: Buffer | undefined): void {
    if (!text) return
    const to = out
    const { length } = text
    let there = end
    for (let nth = 0; nth < length; nth++) to[there++] = text[nth] ?? 0
    end = there
  }
}

const mostKnownTexts = 10_000

/** A date in our JSON, by the number in Google's; undefined where that is none. A sheet has few days and many rows. */
function createDateTexts(): (number: string, kind: number) => Buffer | undefined {
  const textOf = createSerialTexts()
  const known = serialKinds.map(() => new Map<string, Buffer>())
  return (number, kindAt) => {
    const ofKind = known[kindAt]
    const before = ofKind?.get(number)
    const kind = serialKinds[kindAt]
    if (before || !ofKind || !kind) return before
    const serial = parsePart(Buffer.from(number), 0, number.length)
    if (typeof serial !== 'number') return undefined
    const text = Buffer.from(JSON.stringify(textOf(serial, kind)))
    if (ofKind.size >= mostKnownTexts) ofKind.clear()
    ofKind.set(number, text)
    return text
  }
}

function parsePart(body: Buffer, from: number, to: number): unknown {
  try {
    return JSON.parse(body.toString('utf8', from, to))
  } catch {
    return undefined
  }
}
