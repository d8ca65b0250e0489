import type { Cell } from '../../../sheets/rows/grid.ts'
import { isSingleByteEncoding, missingCharacter } from './encoding/single-byte.ts'
import { parseNumber, writeNumber } from './number.ts'
import type { CsvFieldSpan } from './scanner.ts'
import type { CsvEncoding } from './text.ts'

const SPACE = 0x20
const MINUS = 0x2d
const POINT = 0x2e
const DIGIT_ZERO = 0x30
const DIGIT_NINE = 0x39

/**
 * Every delimiter that could be detected is quoted, not only the file's own: what we write must never make
 * another one look likelier. Edge spaces, a byte order mark and formula signs are for other programs' sake.
 */
const NEEDS_QUOTES = /[",;|\t\r\n]|^[\s=+\-@]|\s$/

/**
 * The value of one field (docs/contract.md#csv-files): quoted is text; unquoted may be a number or boolean; empty is
 * null.
 */
export function readCell(text: string, field: CsvFieldSpan): Cell {
  if (isEmptyField(field)) return null
  return field.closingQuote === -1 ? readUnquoted(text, field.start, field.end) : readQuoted(text, field)
}

/** What a spreadsheet program would show before it gives the field a type; empty is null. */
export function readCellText(text: string, field: CsvFieldSpan): string | null {
  if (isEmptyField(field)) return null
  return field.closingQuote === -1 ? text.slice(field.start, field.end) : readQuoted(text, field)
}

/** Nothing at all, or nothing between quotes. */
export function isEmptyField({ start, end, closingQuote }: CsvFieldSpan): boolean {
  return start === end || (closingQuote === start + 1 && end === start + 2)
}

/** Text after the closing quote is taken as it stands: `"a"b` is `ab`. */
function readQuoted(text: string, { start, end, closingQuote, hasDoubledQuotes }: CsvFieldSpan): string {
  const inside = text.slice(start + 1, closingQuote)
  const value = hasDoubledQuotes ? replaceQuotes(inside, '""', '"') : inside
  return closingQuote + 1 === end ? value : value + text.slice(closingQuote + 1, end)
}

const longText = 1_000

/** `replaceAll` makes strings of two strings for each quote: for 2 MB of quotes half a second, most of it to clear them away, not 50 ms. */
function replaceQuotes(text: string, quotes: string, others: string): string {
  return text.length < longText ? text.replaceAll(quotes, others) : text.split(quotes).join(others)
}

function readUnquoted(text: string, start: number, end: number): string | number | boolean {
  const first = text.charCodeAt(start)
  const isDigit = first >= DIGIT_ZERO && first <= DIGIT_NINE
  if (isDigit || first === MINUS || first === POINT || first === SPACE) {
    const number = parseNumber(text, start, end)
    if (!Number.isNaN(number)) return number
  }
  const value = text.slice(start, end)
  if (value === 'TRUE') return true
  if (value === 'FALSE') return false
  return value
}

/** Whether this cell, written to a CSV file, reads back equal (`''` reads back as the empty cell it means). */
export function isRepresentableInCsv(cell: Cell, encoding: CsvEncoding = 'utf-8'): boolean {
  if (typeof cell === 'number') return writeNumber(cell) !== undefined
  if (typeof cell === 'string' && isSingleByteEncoding(encoding) && missingCharacter(cell, encoding))
    return false
  // A file with a zero byte is refused as binary, so one such cell would lock the owner out of the sheet.
  if (typeof cell === 'string') return cell.isWellFormed() && !cell.includes('\0')
  return true
}

/** Why a cell is not representable, in words for the client. */
export function whyUnfitForCsv(cell: Cell, encoding: CsvEncoding = 'utf-8'): string {
  if (typeof cell === 'number') {
    return `A CSV file keeps 15 digits of a number; ${cell} has more. Send it as text.`
  }
  const missing = isSingleByteEncoding(encoding) ? missingCharacter(String(cell), encoding) : undefined
  if (missing !== undefined && missing !== '\0' && missing.isWellFormed()) {
    return `The CSV file is in ${encoding}, which has no "${missing}". Saved as UTF-8, it can hold every character.`
  }
  return String(cell).isWellFormed()
    ? 'A CSV file cannot hold the character U+0000.'
    : 'A CSV file cannot hold half of a surrogate pair.'
}

/** The field for a cell that `isRepresentableInCsv`; another one is a programming error. */
export function writeCell(cell: Cell): string {
  if (!isRepresentableInCsv(cell)) throw new Error('a cell that CSV cannot represent reached the encoder')
  if (cell === null || cell === '') return ''
  if (typeof cell === 'boolean') return cell ? 'TRUE' : 'FALSE'
  if (typeof cell === 'number') return writeNumber(cell) ?? ''
  const isTextWhenUnquoted = !NEEDS_QUOTES.test(cell) && readUnquoted(cell, 0, cell.length) === cell
  return isTextWhenUnquoted ? cell : `"${replaceQuotes(cell, '"', '""')}"`
}
