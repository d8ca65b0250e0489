import type { Cell, Grid } from '../../grid.ts'
import { ProviderFailure } from '../../provider-failure.ts'
import { isEmptyField, readCell, writeCell } from './cell.ts'
import { type CsvDelimiter, detectDelimiter, detectDialect, endsWithNewline } from './dialect.ts'
import { CsvScanner } from './scanner.ts'
import { readCsvText, writeCsvText } from './text.ts'

export { isRepresentableInCsv } from './cell.ts'

/** The grid ends with the last row with data: `rows.length + 1` is the number of the next row appended. */
export function decodeCsv(bytes: Uint8Array): Grid {
  const { text } = readCsvText(bytes)
  const scanner = new CsvScanner(text, detectDelimiter(text))
  const rows: Cell[][] = []
  // One array grows to the widest record; its slices have exactly the room they need.
  const cells: Cell[] = []
  let width = 0
  let hasData = false
  let lastRowWithData = 0
  while (scanner.next()) {
    const cell = readCell(text, scanner)
    if (cell !== null) hasData = true
    cells[width++] = cell
    if (!scanner.endsRecord) continue
    rows.push(scanner.isBlankLine ? [] : cells.slice(0, width))
    if (hasData) lastRowWithData = rows.length
    width = 0
    hasData = false
  }
  rows.length = lastRowWithData
  return { rows }
}

/**
 * The same file with rows (cells by column position) after its last row with data, every byte up to there kept.
 * Blank rows at the end make way for the new ones, as they would in a spreadsheet. Cells must be
 * representable (`isRepresentableInCsv`) and have a column: anything else is a programming error.
 */
export function appendCsvRows(bytes: Uint8Array, rows: readonly (readonly Cell[])[]): Uint8Array {
  if (rows.length === 0) return bytes
  const { text, hasBom } = readCsvText(bytes)
  const dialect = detectDialect({ text, hasBom })
  const { delimiter, newline } = dialect
  const used = measureUsedPart(text, delimiter)
  const columns = used.columns || rows.reduce((widest, row) => Math.max(widest, row.length), 0)
  const lines = rows.map((row) => writeRecord(row, columns, delimiter))
  const kept = text.slice(0, used.end)
  const before = endsWithNewline(kept) ? '' : newline
  const after = dialect.endsWithNewline ? newline : ''
  const appended = kept + before + lines.join(newline) + after
  if (detectDelimiter(appended) !== delimiter) {
    throw new ProviderFailure(
      'it is not clear which character separates the columns of the CSV file, so no row can be added; ' +
        'put quotes (") around cells that contain a comma, semicolon, tab or quote',
    )
  }
  return writeCsvText({ text: appended, hasBom })
}

interface UsedPart {
  /** Offset after the last row with data and its line end. */
  end: number
  /** Width of the first record that is not a blank line, nearly always the headers; 0 when there is none. */
  columns: number
}

function measureUsedPart(text: string, delimiter: CsvDelimiter): UsedPart {
  const scanner = new CsvScanner(text, delimiter)
  const used: UsedPart = { end: 0, columns: 0 }
  let width = 0
  let hasData = false
  while (scanner.next()) {
    width++
    if (!isEmptyField(scanner)) hasData = true
    if (!scanner.endsRecord) continue
    if (!scanner.isBlankLine) used.columns ||= width
    if (hasData) used.end = scanner.nextStart
    width = 0
    hasData = false
  }
  return used
}

function writeRecord(row: readonly Cell[], columns: number, delimiter: CsvDelimiter): string {
  if (row.slice(columns).some((cell) => cell !== null)) throw new Error('a cell beyond the last column')
  const fields = Array.from({ length: columns }, (_, column) => writeCell(row[column] ?? null))
  // An empty cell alone in its row would be a blank line, which some programs drop.
  return fields.length === 1 && fields[0] === '' ? '""' : fields.join(delimiter)
}
