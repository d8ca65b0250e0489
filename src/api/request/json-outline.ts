import { Refusal } from '../../errors.ts'
import { marks } from '../../json-marks.ts'
import { maxColumns } from '../../sheets/rows/table.ts'

/**
 * Where the rows stand in the bytes of a body, so that each can be parsed by itself. JSON.parse takes a tenth of a second and more
 * for two megabytes of brackets, or of different keys, and nobody else is served meanwhile; what no row can have is told here.
 */
export interface Outline {
  isArray: boolean
  rows: OutlinedRow[]
}

/** Still to be parsed: only brackets, commas, numbers and the ends of texts were looked at. */
export interface OutlinedRow {
  json: string
  /** Numbers that may have more digits than can be kept, as they are written. */
  longNumbers: string[]
}

const maxRows = 1_000
/** Upper bound on the fields of one row: as many as a sheet has columns, and the row's number. */
export const maxFields = maxColumns + 1
/** Nobody writes a longer one, and to find out whether two megabytes of digits can be kept takes a while. */
const maxNumberCharacters = 1_000
/** With fewer characters every number is kept exactly, unless it has an exponent. */
const longNumberCharacters = 16
/** Looks at so many bytes in a step: a fraction of a millisecond, also before the loops are compiled. */
const bytesPerStep = 32 * 1024

/** null: the bytes, which are UTF-8, are no JSON. */
export function* outlineOf(json: Buffer): Generator<void, Outline | Refusal | null> {
  const rows: OutlinedRow[] = []
  let at = yield* afterSpace(json, 0)
  const isArray = json[at] === openingBracket
  if (!isArray) {
    const row = yield* rowAt(json, at, null)
    if (row === null || row instanceof Refusal) return row
    const end = yield* afterSpace(json, row.to)
    return end === json.length ? { isArray, rows: [row] } : null
  }
  at = yield* afterSpace(json, at + 1)
  const isEmpty = json[at] === closingBracket
  for (let isOver = isEmpty; !isOver; ) {
    yield
    if (rows.length === maxRows) return new Refusal('payload_too_large', { details: tooManyRows })
    const row = yield* rowAt(json, at, `Row ${rows.length + 1} of the array`)
    if (row === null || row instanceof Refusal) return row
    rows.push(row)
    at = yield* afterSpace(json, row.to)
    isOver = json[at] === closingBracket
    if (isOver) break
    if (json[at] !== comma) return null
    at = yield* afterSpace(json, at + 1)
  }
  const end = yield* afterSpace(json, at + 1)
  return end === json.length ? { isArray, rows } : null
}

type RowInPlace = OutlinedRow & { to: number }

/** `subject`: which row of an array; null for one that is the whole body. */
function* rowAt(
  json: Buffer,
  from: number,
  subject: string | null,
): Generator<void, RowInPlace | Refusal | null> {
  if (json[from] === openingBracket) return refuse(`${subject} is not an object.`)
  const scan: RowScan = {
    ...{ at: from + 1, fields: 1, isInText: json[from] === quote, textFrom: from, textTo: from },
    ...{ numberFrom: -1, longNumbers: [], end: null },
  }
  const scanOn = json[from] === openingBrace ? scanObject : scanScalar
  if (scanOn === scanScalar && !scan.isInText) scan.at = from
  for (;;) {
    const to = Math.min(scan.at + bytesPerStep, json.length)
    scanOn(json, scan, to)
    if (scan.end !== null || scan.at >= json.length) break
    yield
  }
  // Only a number and its like need nothing that ends them.
  if (scan.end === null && scanOn === scanScalar && !scan.isInText) scan.end = 'closed'
  switch (scan.end) {
    case null:
      return null
    case 'too many fields':
      return refuse(wordsOfManyFields(subject))
    case 'long number':
      return refuse(withSubject(subject, tooLongNumber()))
    case 'nested': {
      const key = parseJsonText(json.toString('utf8', scan.textFrom, scan.textTo))
      return typeof key === 'string' ? refuse(withSubject(subject, wordsOfNested(key))) : null
    }
    case 'closed':
      if (scan.at === from) return null
      return { json: json.toString('utf8', from, scan.at), longNumbers: scan.longNumbers, to: scan.at }
  }
}

/** How far a row was looked at. */
interface RowScan {
  /** The next byte to look at; it may be behind the last one that there is. */
  at: number
  fields: number
  isInText: boolean
  /** The text that was passed last: in front of a value, its key. */
  textFrom: number
  textTo: number
  /** Where the number begins that was not passed yet, else -1. */
  numberFrom: number
  longNumbers: string[]
  end: 'closed' | 'nested' | 'too many fields' | 'long number' | null
}

/*
 * Loops over bytes with all that they need at hand: with a call for each letter, two megabytes of nothing but spaces took 15 to 60 ms.
 */

function scanObject(json: Buffer, scan: RowScan, to: number): void {
  let { at, isInText, numberFrom } = scan
  while (at < to) {
    const byte = json[at++] as number
    if (isInText) {
      if (byte === backslash) at++
      else if (byte === quote) {
        isInText = false
        scan.textTo = at
      }
      continue
    }
    if (isOfNumber(byte)) {
      if (numberFrom === -1) numberFrom = at - 1
      continue
    }
    if (numberFrom !== -1) {
      if (!noteNumber(json, scan, numberFrom, at - 1)) return
      numberFrom = -1
    }
    if (byte === quote) {
      isInText = true
      scan.textFrom = at - 1
    } else if (byte === comma) {
      if (++scan.fields > maxFields) scan.end = 'too many fields'
    } else if (byte === closingBrace) scan.end = 'closed'
    else if (byte === openingBrace || byte === openingBracket) scan.end = 'nested'
    if (scan.end !== null) break
  }
  if (numberFrom !== -1 && at - numberFrom > maxNumberCharacters) scan.end = 'long number'
  scan.at = at
  scan.isInText = isInText
  scan.numberFrom = numberFrom
}

/** False where it ends the row. What has more numbers than fields is no JSON, and is found out when it is parsed. */
function noteNumber(json: Buffer, scan: RowScan, from: number, to: number): boolean {
  if (to - from > maxNumberCharacters) scan.end = 'long number'
  else if (scan.longNumbers.length < maxFields && mayBeInexact(json, from, to))
    scan.longNumbers.push(json.toString('latin1', from, to))
  return scan.end === null
}

function mayBeInexact(json: Buffer, from: number, to: number): boolean {
  if (to - from >= longNumberCharacters) return true
  for (let at = from; at < to; at++) if (((json[at] as number) | 0x20) === smallE) return to - from > 1
  return false
}

/** Digits, signs, points and exponents. The `e` of `true` and `false` stands alone. */
function isOfNumber(byte: number): boolean {
  return (
    (byte >= digitZero && byte <= digitNine) ||
    byte === minus ||
    byte === point ||
    byte === plus ||
    (byte | 0x20) === smallE
  )
}

/** What is no object: whatever it is, it will be refused, but what is no JSON with other words. */
function scanScalar(json: Buffer, scan: RowScan, to: number): void {
  let { at } = scan
  while (at < to && scan.end === null) {
    const byte = json[at] as number
    if (scan.isInText) {
      if (byte === backslash) at++
      else if (byte === quote) scan.end = 'closed'
      at++
    } else if (byte === comma || byte === closingBracket || isSpace(byte)) scan.end = 'closed'
    else at++
  }
  if (scan.end === null && !scan.isInText && at - scan.textFrom > maxNumberCharacters)
    scan.end = 'long number'
  scan.at = at
}

/** The first byte from there on that is no space. */
function* afterSpace(json: Buffer, from: number): Generator<void, number> {
  for (let at = from; ; ) {
    const to = Math.min(at + bytesPerStep, json.length)
    while (at < to && isSpace(json[at] as number)) at++
    if (at < to || to === json.length) return at
    yield
  }
}

/** Undefined for what is none. */
export function parseJsonText(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

/** The name of a field as it is told, not longer than helps. */
export function quoteKey(key: string): string {
  return `"${key.length > 80 ? `${key.slice(0, 80)}…` : key}"`
}

function wordsOfNested(key: string): string {
  return `${quoteKey(key)} holds a nested value; a cell is a single value.`
}

function wordsOfManyFields(subject: string | null): string {
  return `A row may have ${maxFields} fields; ${subject ?? 'this one'} has more.`
}

function withSubject(subject: string | null, details: string): string {
  return subject === null ? details : `${subject}: ${details}`
}

function refuse(details: string): Refusal {
  return new Refusal('invalid_body', { details })
}

const tooManyRows = `A request may add ${maxRows} rows; this one has more.`
const tooLongNumber = () =>
  `A number may have ${maxNumberCharacters.toLocaleString('en')} characters; one has more. Send it as text.`
const { quote, comma, openingBracket, backslash, closingBracket, openingBrace, closingBrace } = marks
const plus = 0x2b
const minus = 0x2d
const point = 0x2e
const digitZero = 0x30
const digitNine = 0x39
const smallE = 0x65

function isSpace(byte: number): boolean {
  return byte === 0x20 || byte === 0x0a || byte === 0x0d || byte === 0x09
}
