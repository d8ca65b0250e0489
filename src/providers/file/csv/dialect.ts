import { CsvScanner } from './scanner.ts'
import type { CsvEncoding, CsvText } from './text.ts'

export type CsvDelimiter = ',' | ';' | '\t' | '|'

export interface CsvDialect {
  delimiter: CsvDelimiter
  /** The first record's line end; a file of one line gets '\n'. */
  newline: '\n' | '\r\n' | '\r'
  encoding: CsvEncoding
  hasBom: boolean
  endsWithNewline: boolean
}

const DELIMITERS: readonly CsvDelimiter[] = [',', ';', '\t', '|']

/**
 * Who wins when all else is equal: tabs and semicolons stray into a comma file less often than the reverse, and bars are mostly lists
 * within a cell.
 */
const LIKELIEST_FIRST: readonly CsvDelimiter[] = ['\t', ';', ',', '|']

const SAMPLE_RECORDS = 1000

export function detectDialect({ text, encoding, hasBom }: CsvText): CsvDialect {
  const delimiter = detectDelimiter(text)
  const newline = firstNewline(text, delimiter)
  return { delimiter, newline, encoding, hasBom, endsWithNewline: endsWithNewline(text) }
}

/** True for no text as well: every line it has is ended. */
function endsWithNewline(text: string): boolean {
  return text === '' || text.endsWith('\n') || text.endsWith('\r')
}

/**
 * The first record that is not a blank line, nearly always the headers, decides: appended rows cannot change
 * it. Its delimiters are counted outside quotes, where a quote opens after any of them.
 */
export function detectDelimiter(text: string): CsvDelimiter {
  const records = delimiterCounts(text)
  const header = records.next().value
  if (header === undefined) return ','
  const candidates = LIKELIEST_FIRST.filter((delimiter) => header[delimiter] > 0)
  const [only] = candidates
  if (only === undefined) return delimiterOfSingleColumn(records)
  if (candidates.length === 1) return only
  return likeliest(candidates, header, records)
}

/** The delimiter, where the headers alone decide, whatever follows them; else null. */
export function delimiterOfHeader(header: string): CsvDelimiter | null {
  const counts = delimiterCounts(header).next().value
  const [only, another] = LIKELIEST_FIRST.filter((delimiter) => (counts?.[delimiter] ?? 0) > 0)
  return only !== undefined && another === undefined ? only : null
}

interface DelimiterCounts extends Record<CsvDelimiter, number> {
  /** Those with no space after them: in `Price, EUR;City` the comma is prose. */
  tight: Record<CsvDelimiter, number>
}

/** A delimiter in a cell of the only column would cut that cell: prefer one that never occurs. */
function delimiterOfSingleColumn(records: Iterable<DelimiterCounts>): CsvDelimiter {
  const unseen = new Set(DELIMITERS)
  for (const counts of records) {
    for (const delimiter of unseen) if (counts[delimiter] > 0) unseen.delete(delimiter)
    if (unseen.size === 0) break
  }
  const [first = ','] = unseen
  return first
}

/** The one that splits most rows as it splits the header; else the one the header uses like a delimiter. */
function likeliest(
  candidates: CsvDelimiter[],
  header: DelimiterCounts,
  records: Iterator<DelimiterCounts, undefined>,
): CsvDelimiter {
  const agreeing = { ',': 0, ';': 0, '\t': 0, '|': 0 }
  for (let sampled = 0; sampled < SAMPLE_RECORDS; sampled++) {
    const counts = records.next().value
    if (counts === undefined) break
    for (const delimiter of candidates) if (counts[delimiter] === header[delimiter]) agreeing[delimiter]++
  }
  return candidates.reduce((best, next) => {
    const lead = agreeing[next] - agreeing[best] || header.tight[next] - header.tight[best]
    return lead > 0 ? next : best
  })
}

/** Counts the delimiters of each record that is not a blank line. A quote that never closes ends the count. */
function* delimiterCounts(text: string): Generator<DelimiterCounts, undefined> {
  const scanner = new CsvScanner(text, DELIMITERS.join(''), 'stop')
  let counts = noDelimiters()
  while (scanner.next()) {
    if (!scanner.endsRecord) {
      const delimiter = String.fromCharCode(scanner.terminator) as CsvDelimiter
      counts[delimiter]++
      if (text[scanner.nextStart] !== ' ') counts.tight[delimiter]++
    } else if (!scanner.isBlankLine) {
      yield counts
      counts = noDelimiters()
    }
  }
}

function noDelimiters(): DelimiterCounts {
  return { ',': 0, ';': 0, '\t': 0, '|': 0, tight: { ',': 0, ';': 0, '\t': 0, '|': 0 } }
}

function firstNewline(text: string, delimiter: CsvDelimiter): CsvDialect['newline'] {
  const scanner = new CsvScanner(text, delimiter, 'stop')
  while (scanner.next()) {
    if (scanner.endsRecord) break
  }
  const newline = text.slice(scanner.end, scanner.nextStart)
  return newline === '\r\n' || newline === '\r' ? newline : '\n'
}
