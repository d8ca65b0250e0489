import { randomBase62 } from '../secrets/random-base62.ts'

/**
 * How much of a sheet one answer has at most. An agent reads all of it, and pays for it: about 6,000 tokens. More is asked for in pages.
 */
export const maxCellsCharacters = 20_000
/** A longer cell is shown by its beginning. */
const maxCellCharacters = 500
/** Read of the API for one answer: enough for as many shortened cells as fit, and bounded whatever the rows hold. */
export const maxReadBytes = 512 * 1024

const quote = 0x22
const comma = 0x2c
const lineFeed = 0x0a

/**
 * Marks what others have typed. The mark is another one each time, so that no cell can end it and go on as if it were us; that what
 * stands between is data is said where the server introduces itself.
 */
export function markCells(cells: string): string {
  const mark = `cells-${randomBase62(6)}`
  return `<${mark}>\n${cells.trimEnd()}\n</${mark}>`
}

/** For names, which stand one in a line, or in a sentence: a line end in one would look like the end of what it stands in. */
export function oneLine(text: string): string {
  return text.replace(/[\p{Cc}\u2028\u2029]/gu, (character) =>
    character === '\n' ? '\\n' : `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`,
  )
}

export interface CutCsv {
  /** With the header. */
  text: string
  rows: number
}

/** As many whole records as there is room for, with long cells shortened. Text that broke off ends with half a record, which is left out. */
export function cutCsv(csv: string, isWhole: boolean, maxCharacters = maxCellsCharacters): CutCsv {
  let text = ''
  let records = 0
  for (const record of recordsIn(csv, isWhole)) {
    const line = `${record.map(shortenField).join(',')}\n`
    if (records > 0 && text.length + line.length > maxCharacters) break
    text += line.length > maxCharacters ? `${line.slice(0, maxCharacters)}…\n` : line
    records++
  }
  return { text, rows: Math.max(0, records - 1) }
}

/** As it is written, with its quotes. */
interface CsvField {
  text: string
  /** Half a megabyte of them is counted in some milliseconds, once, while the end of the field is looked for. */
  quotes: number
}

function* recordsIn(csv: string, isWhole: boolean): Generator<CsvField[]> {
  let record: CsvField[] = []
  let from = 0
  let quotes = 0
  for (let at = 0; at < csv.length; at++) {
    const character = csv.charCodeAt(at)
    if (character === quote) quotes++
    else if ((character === comma || character === lineFeed) && quotes % 2 === 0) {
      const end = character === lineFeed && csv[at - 1] === '\r' ? at - 1 : at
      record.push({ text: csv.slice(from, end), quotes })
      from = at + 1
      quotes = 0
      if (character === lineFeed) {
        yield record
        record = []
      }
    }
  }
  if (isWhole && (from < csv.length || record.length > 0))
    yield [...record, { text: csv.slice(from), quotes }]
}

function shortenField({ text, quotes }: CsvField): string {
  if (text.length <= maxCellCharacters) return text
  if (!text.startsWith('"')) return `"${beginning(text).replaceAll('"', '""')}"`
  // Of a long field of quotes, only the part that is shown is worth reading.
  const inside = text.slice(1, 1 + 2 * (maxCellCharacters + 1)).replaceAll('""', '"')
  const length = text.length - 2 - (quotes - 2) / 2
  return length <= maxCellCharacters ? text : `"${beginning(inside, length).replaceAll('"', '""')}"`
}

/** For a cell that is not in CSV. */
export function shortCell(cell: unknown): unknown {
  return typeof cell === 'string' && cell.length > maxCellCharacters ? beginning(cell) : cell
}

function beginning(text: string, length = text.length): string {
  const rest = length - maxCellCharacters
  return `${text.slice(0, maxCellCharacters).replace(/[\ud800-\udbff]$/, '')}… [${rest.toLocaleString('en')} more characters]`
}
