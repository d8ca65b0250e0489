import { ProviderFailure } from '../../../sheets/provider-failure.ts'

const QUOTE = 0x22
const LINE_FEED = 0x0a
const CARRIAGE_RETURN = 0x0d
const CODES_OF_ASCII = 0x80

/** What ended a field: the character code of its delimiter or line end, or `END_OF_TEXT`. */
const END_OF_TEXT = -1

/** Where one field lies in the text; offsets are UTF-16 units. */
export interface CsvFieldSpan {
  /** The field as written, quotes included: `text.slice(start, end)`. */
  readonly start: number
  readonly end: number
  /** Offset of the closing quote, or -1 for an unquoted field. What follows it belongs to the field too. */
  readonly closingQuote: number
  readonly hasDoubledQuotes: boolean
}

/**
 * Walks the fields of a CSV text (RFC 4180, any line end). The scanner itself is the current field's span,
 * so that a file of ten million fields costs no ten million objects. Reading and editing share it.
 *
 * `openQuote` says what a quote without its partner means: 'refuse' throws, 'stop' ends the walk before it.
 */
export class CsvScanner implements CsvFieldSpan {
  start = 0
  end = 0
  closingQuote = -1
  hasDoubledQuotes = false
  terminator = END_OF_TEXT
  /** True when the current field is the last of its record. */
  endsRecord = true
  /** The record's row number, 1 for the first: line breaks inside quotes do not count. */
  rowNumber = 0
  recordStart = 0
  /** Just after the current field's delimiter or line end: where the next field or record starts. */
  nextStart = 0

  readonly #text: string
  readonly #openQuote: 'refuse' | 'stop'
  readonly #isBoundary = new Uint8Array(CODES_OF_ASCII)
  /** Most characters are past the usual delimiters, and then need no second look. */
  readonly #highestBoundary: number

  constructor(text: string, delimiters: string, openQuote: 'refuse' | 'stop' = 'refuse') {
    this.#text = text
    this.#openQuote = openQuote
    this.#isBoundary[LINE_FEED] = 1
    this.#isBoundary[CARRIAGE_RETURN] = 1
    for (const delimiter of delimiters) this.#isBoundary[delimiter.charCodeAt(0)] = 1
    this.#highestBoundary = this.#isBoundary.lastIndexOf(1)
  }

  /** Moves to the next field; false when there is none. */
  next(): boolean {
    const text = this.#text
    let at = this.nextStart
    // After a delimiter the text may end and there still is one field, an empty one.
    if (at === text.length && this.endsRecord) return false
    if (this.endsRecord) {
      this.rowNumber++
      this.recordStart = at
    }
    this.start = at
    this.closingQuote = -1
    this.hasDoubledQuotes = false
    if (text.charCodeAt(at) === QUOTE) {
      if (!this.#findClosingQuote()) return false
      at = this.closingQuote + 1
    }
    this.#findTerminator(at)
    return true
  }

  /** True when the current record is a line without a single character. */
  get isBlankLine(): boolean {
    return this.endsRecord && this.recordStart === this.end
  }

  #findClosingQuote(): boolean {
    const text = this.#text
    let quote = text.indexOf('"', this.start + 1)
    while (quote !== -1 && text.charCodeAt(quote + 1) === QUOTE) {
      this.hasDoubledQuotes = true
      quote = text.indexOf('"', quote + 2)
    }
    if (quote === -1 && this.#openQuote === 'refuse') throw cutOff(this.rowNumber)
    this.closingQuote = quote
    return quote !== -1
  }

  #findTerminator(from: number): void {
    const text = this.#text
    const isBoundary = this.#isBoundary
    const highestBoundary = this.#highestBoundary
    const length = text.length
    let at = from
    let code = END_OF_TEXT
    for (; at < length; at++) {
      code = text.charCodeAt(at)
      if (code <= highestBoundary && isBoundary[code] === 1) break
    }
    this.end = at
    if (at === length) {
      this.terminator = END_OF_TEXT
      this.endsRecord = true
      this.nextStart = at
      return
    }
    this.terminator = code
    this.endsRecord = code === LINE_FEED || code === CARRIAGE_RETURN
    const isCrLf = code === CARRIAGE_RETURN && text.charCodeAt(at + 1) === LINE_FEED
    this.nextStart = at + (isCrLf ? 2 : 1)
  }
}

function cutOff(rowNumber: number): ProviderFailure {
  return new ProviderFailure(
    `the CSV file looks cut off: a quote (") that opens in row ${rowNumber} is never closed; ` +
      'repair that row or save the file again',
  )
}
