import { isUtf8 } from 'node:buffer'
import type { Cell } from '../../../sheets/rows/grid.ts'
import type { ListedRows } from '../../../sheets/rows/listed-rows.ts'
import { type EmptyCell, keyPrefixes } from '../../../sheets/rows/row-json.ts'
import { servedColumnsOf } from '../../../sheets/rows/table.ts'
import { numbersPerDate, serialKinds } from './dates/compare-reads.ts'
import { areSame, endOfCell, startOfRows, sumOf } from './dates/differing-cells.ts'
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
/** What can stand in the texts of our JSON as it does in those of Google's: all but quotes, backslashes and what has to be escaped. */
const isCopied = Uint8Array.from({ length: 256 }, (_, byte) =>
  byte < space || byte === quote || byte === backslash ? 0 : 1,
)
const leastListBytes = 64 * 1024
/** When the list has so much of the length of the answer, its rows so far say how long it will be; with a little to spare. */
const shareToJudgeBy = 1 / 8
const shareToSpare = 0.03
/** Where that was too little, by so much at least: else a list whose rows become longer and longer would be moved too often. */
const leastGrowth = 1.25
/** Most rows are shorter. A single one that is written past the end makes V8 expect that of every byte from then on. */
const roomForRow = 8 * 1024
/** What is handed over beyond a list is no more than this part of it. */
const mostSpareShare = 1 / 8
const leastRows = 1_024
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

/**
 * What a list is made of, and how far it is. Handed to functions of the module, and not around them: what the compiler makes of a
 * function within another is dropped with each call of that, and to compile it anew takes as long as the list.
 */
interface Writing extends Pick<GoogleDecodeOptions, 'values' | 'dates'> {
  body: Buffer
  out: Buffer<ArrayBuffer>
  /** In the answer, in the list, and among the dates. */
  at: number
  end: number
  date: number
  /** Rows that are in the list. */
  rows: number
  emptyText: Buffer
  /** What stands before each cell, one behind the other. */
  keys: Buffer
  keyEnds: Uint32Array
  indexes: readonly number[]
  /** The last date of each slot: a sheet has few days and many rows. */
  knownDates: KnownDate[]
  textOfSerial: ReturnType<typeof createSerialTexts>
}

interface KnownDate {
  from: number
  to: number
  kindAt: number
  text: Buffer
}

function writeRows(
  body: Buffer,
  from: number,
  { values, dates, emptyCell, prefixes, indexes }: RowsWish,
): WrittenRows | null {
  const writing: Writing = {
    ...{ body, values, dates, indexes },
    out: Buffer.allocUnsafeSlow(Math.max(leastListBytes, Math.ceil(body.length * shareToJudgeBy))),
    at: from,
    end: 1,
    date: 0,
    rows: 0,
    emptyText: Buffer.from(JSON.stringify(emptyCell)),
    keys: Buffer.concat(prefixes),
    keyEnds: endsOf(prefixes),
    knownDates: [],
    textOfSerial: createSerialTexts(),
  }
  writing.out[0] = openBracket
  let rowStarts = new Uint32Array(leastRows)
  let rowNumbers = new Uint32Array(leastRows)
  let lastRowNumber = 1
  const longest = longestList(body)

  for (let row = 1; ; row++) {
    const { at, end, date, rows } = writing
    if (body[at] === closeBracket) break
    if (body[at] !== comma || body[at + 1] !== openBracket) return null
    if (end > longest) return null
    if (end + roomForRow > writing.out.length)
      writing.out = moveList(writing.out, end, likelyListBytes(writing, at, end))
    writing.at = at + 2
    let outcome = writeRow(writing, row)
    // What is written past the end is lost without a word.
    while (outcome !== 'odd' && writing.end + 1 > writing.out.length) {
      if (writing.end > longest) return null
      writing.out = moveList(writing.out, end, likelyListBytes(writing, at, end))
      writing.at = at + 2
      writing.end = end
      writing.date = date
      outcome = writeRow(writing, row)
    }
    if (outcome === 'odd') return null
    if (outcome === 'blank') {
      writing.end = end
      continue
    }
    if (rows + 1 === rowStarts.length) {
      rowStarts = twiceAsLong(rowStarts)
      rowNumbers = twiceAsLong(rowNumbers)
    }
    rowStarts[rows] = rows === 0 ? end : end + 1
    rowNumbers[rows] = row + 1
    writing.rows = rows + 1
    lastRowNumber = row + 1
  }
  const { out, at, end, rows } = writing
  out[end] = closeBracket
  rowStarts[rows] = end + 1
  return {
    listJson: ownPart(out, end + 1),
    rowStarts: rowStarts.slice(0, rows + 1),
    rowNumbers: rowNumbers.slice(0, rows),
    lastRowNumber,
    end: at,
  }
}

/**
 * From behind the bracket of a row to behind its end. Texts, which are most of it, are copied right here, in variables of its own:
 * those are ten million bytes.
 */
function writeRow(writing: Writing, row: number): 'filled' | 'blank' | 'odd' {
  const { body, out, keys, keyEnds, indexes } = writing
  let { at, end } = writing
  let isBlank = true
  let nth = 0
  let key = 0
  if (writing.rows > 0) out[end++] = comma
  for (let column = 0; body[at] !== closeBracket; column++) {
    if (column > 0 && body[at++] !== comma) return 'odd'
    const isShown = indexes[nth] === column
    if (isShown) {
      const keyEnd = keyEnds[nth++] ?? 0
      while (key < keyEnd) out[end++] = keys[key++] ?? 0
    }
    const cellAt = at
    const cellEnd = end
    if (body[at] === quote && body[at + 1] !== quote && body[at + 1] !== hash) {
      let byte = quote
      do {
        out[end++] = byte
        byte = body[++at] ?? 0
      } while (isCopied[byte] === 1)
      if (byte === quote) {
        out[end++] = quote
        at++
        isBlank = false
        if (!isShown) end = cellEnd
        continue
      }
    }
    writing.at = cellAt
    writing.end = cellEnd
    const isFilled = writeCell(writing, row, column)
    if (isFilled === null) return 'odd'
    isBlank &&= !isFilled
    at = writing.at
    end = isShown ? writing.end : cellEnd
  }
  writing.at = at + 1
  writing.end = end
  for (; nth < keyEnds.length; nth++) {
    put(writing, keys.subarray(key, keyEnds[nth]))
    put(writing, writing.emptyText)
    key = keyEnds[nth] ?? 0
  }
  out[writing.end++] = closeBrace
  return isBlank ? 'blank' : 'filled'
}

/** One that is no plain text. Whether there is something in it; null where it is no cell. */
function writeCell(writing: Writing, row: number, column: number): boolean | null {
  const { body, at, dates, date } = writing
  const first = body[at] ?? 0
  if (first === quote && body[at + 1] === quote) {
    writing.at = at + 2
    put(writing, writing.emptyText)
    return false
  }
  if (first === minus || (first >= zero && first <= nine)) {
    // Behind the last of them there is nothing to look at.
    const isDate = date < dates.length && dates[date] === row && dates[date + 1] === column
    return isDate ? writeDate(writing) : writeNumber(writing)
  }
  return writeSlowly(writing)
}

function writeNumber(writing: Writing): boolean | null {
  const { body, out, at } = writing
  let here = at
  let there = writing.end
  const isNegative = body[here] === minus
  if (isNegative) out[there++] = body[here++] ?? 0
  const first = body[here]
  let points = 0
  let digits = 0
  let last = 0
  for (; ; here++) {
    const byte = body[here] ?? 0
    if (byte >= zero && byte <= nine) digits++
    else if (byte === point) points++
    else break
    out[there++] = byte
    last = byte
  }
  const isEnd = body[here] === comma || body[here] === closeBracket
  // `-0`, `01`, `1.50` and what is smaller than a millionth are written in other ways, or are no numbers.
  const isPlainBegin =
    first === zero
      ? !isNegative && (digits === 1 || body[at + 1] === point) && !isTiny(body, at)
      : first !== point
  const isPlainEnd = points === 0 || (points === 1 && last !== zero && last !== point)
  if (!isEnd || !isPlainBegin || !isPlainEnd || digits === 0 || digits > mostPlainDigits)
    return writeSlowly(writing)
  writing.at = here
  writing.end = there
  return true
}

/** `0.00000…` */
function isTiny(body: Buffer, numberAt: number): boolean {
  for (let place = 2; place < 8; place++) if (body[numberAt + place] !== zero) return false
  return true
}

function writeDate(writing: Writing): boolean | null {
  const { body, at, dates, date } = writing
  const cellEnd = endOfCell(body, at)
  const text = dateText(writing, at, cellEnd, dates[date + 2] ?? 0)
  if (!text) return null
  writing.date = date + numbersPerDate
  writing.at = cellEnd
  put(writing, text)
  return true
}

function writeSlowly(writing: Writing): boolean | null {
  const { body, at, values, emptyText } = writing
  const cellEnd = endOfCell(body, at)
  const cell = parsePart(body, at, cellEnd)
  if (!isCell(cell)) return null
  writing.at = cellEnd
  const served = servedCell(cell, values)
  put(writing, served === null ? emptyText : Buffer.from(JSON.stringify(served)))
  return served !== null
}

function put(writing: Writing, text: Buffer): void {
  const { out } = writing
  const { length } = text
  let { end } = writing
  for (let nth = 0; nth < length; nth++) out[end++] = text[nth] ?? 0
  writing.end = end
}

const dateSlots = 16_384

/** A date in our JSON, by where its number stands in the answer; undefined where that is none. */
function dateText(
  { body, knownDates, textOfSerial }: Writing,
  from: number,
  to: number,
  kindAt: number,
): Buffer | undefined {
  const slot = (sumOf(body, from, to) + kindAt) & (dateSlots - 1)
  const known = knownDates[slot]
  if (known && known.kindAt === kindAt && areSame(body, known.from, known.to, from, to)) return known.text
  const kind = serialKinds[kindAt]
  const serial = parsePart(body, from, to)
  if (!kind || typeof serial !== 'number') return undefined
  const text = Buffer.from(JSON.stringify(textOfSerial(serial, kind)))
  knownDates[slot] = { from, to, kindAt, text }
  return text
}

/** As long as the list will be if it goes on as it has begun, so that it is moved once, while it is short. */
function likelyListBytes({ body, out, end }: Writing, readBytes: number, listBytes: number): number {
  const likely = (listBytes / readBytes) * body.length * (1 + shareToSpare)
  return Math.ceil(Math.max(end + 1, out.length * leastGrowth, Math.min(likely, longestList(body))))
}

function longestList(body: Buffer): number {
  return leastListBytes + mostTimesLonger * body.length
}

/** Not by `transfer`: that goes through all of the longer one to clear it. */
function moveList(out: Buffer<ArrayBuffer>, listBytes: number, bytes: number): Buffer<ArrayBuffer> {
  const longer = Buffer.allocUnsafeSlow(bytes)
  longer.set(out.subarray(0, listBytes))
  // Gone at once, and not when somebody collects.
  out.buffer.transfer(0)
  return longer
}

/** To cut a buffer is to copy it, which takes a fifth of the time that the list does. What nobody wrote to is not in memory anyway. */
function ownPart(out: Buffer<ArrayBuffer>, listBytes: number): Uint8Array<ArrayBuffer> {
  const isLittleMore = out.length <= listBytes * (1 + mostSpareShare)
  return new Uint8Array(isLittleMore ? out.buffer : out.buffer.transfer(listBytes), 0, listBytes)
}

function endsOf(texts: readonly Buffer[]): Uint32Array {
  let end = 0
  return Uint32Array.from(texts, ({ length }) => (end += length))
}

function twiceAsLong(numbers: Uint32Array<ArrayBuffer>): Uint32Array<ArrayBuffer> {
  return new Uint32Array(numbers.buffer.transfer(numbers.byteLength * 2))
}

function parsePart(body: Buffer, from: number, to: number): unknown {
  try {
    return JSON.parse(body.toString('utf8', from, to))
  } catch {
    return undefined
  }
}
