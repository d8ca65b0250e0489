import type { Cell } from '../../../sheets/rows/grid.ts'
import { readCell, writeCell } from './cell.ts'
import type { CsvDelimiter } from './dialect.ts'
import { CsvScanner } from './scanner.ts'

/** One record by itself, without its line end; a blank line has no cells. */
export function readRecord(raw: string, delimiter: CsvDelimiter): Cell[] {
  return fieldsOf(raw, delimiter).map(({ cell }) => cell)
}

export function writeRecord(row: readonly Cell[], columns: number, delimiter: CsvDelimiter): string {
  if (row.slice(columns).some((cell) => cell !== null)) throw new Error('a cell beyond the last column')
  const fields = Array.from({ length: columns }, (_, column) => writeCell(row[column] ?? null))
  return joinFields(fields, delimiter)
}

/** The record with another value in some fields; every other field keeps its text. */
export function updateRecord(
  raw: string,
  changes: readonly { columnIndex: number; value: Cell }[],
  columns: number,
  delimiter: CsvDelimiter,
): string {
  const fields = fieldsOf(raw, delimiter)
  let isChanged = false
  for (const { columnIndex, value } of changes) {
    const cell = value === '' ? null : value
    // A value that is there already keeps its spelling: `1.50` stays `1.50`.
    if ((fields[columnIndex]?.cell ?? null) === cell) continue
    if (columnIndex >= Math.max(columns, fields.length)) throw new Error('a cell beyond the last column')
    // What was a blank line becomes a row as wide as the others; a short row grows no further than it must.
    const width = raw === '' ? Math.max(columns, columnIndex + 1) : columnIndex + 1
    while (fields.length < width) fields.push({ text: '', cell: null })
    fields[columnIndex] = { text: writeCell(cell), cell }
    isChanged = true
  }
  if (!isChanged) return raw
  return joinFields(
    fields.map(({ text }) => text),
    delimiter,
  )
}

const quoted = /"(?:[^"]|"")*"/g

/** A record as it was once written, where that says what it is to say now; else null. */
export function asSpelt(
  spelling: string | undefined,
  row: readonly Cell[],
  delimiter: CsvDelimiter,
): string | null {
  // A line break within quotes is a part of the cell; any other would make two records of it.
  if (spelling === undefined || /[\r\n]/.test(spelling.replaceAll(quoted, ''))) return null
  const cells = readRecord(spelling, delimiter)
  const width = Math.max(cells.length, row.length)
  for (let at = 0; at < width; at++) if ((cells[at] ?? null) !== (row[at] ?? null)) return null
  return spelling
}

/** The record, where we would have written its cells otherwise; else undefined. */
export function spellingOf(raw: string, columns: number, delimiter: CsvDelimiter): string | undefined {
  const cells = readRecord(raw, delimiter)
  return cells.length === columns && writeRecord(cells, columns, delimiter) === raw ? undefined : raw
}

function fieldsOf(raw: string, delimiter: CsvDelimiter): { text: string; cell: Cell }[] {
  const scanner = new CsvScanner(raw, delimiter)
  const fields: { text: string; cell: Cell }[] = []
  while (scanner.next()) {
    fields.push({ text: raw.slice(scanner.start, scanner.end), cell: readCell(raw, scanner) })
  }
  return fields
}

function joinFields(fields: readonly string[], delimiter: CsvDelimiter): string {
  // An empty cell alone in its row would be a blank line, which some programs drop.
  return fields.length === 1 && fields[0] === '' ? '""' : fields.join(delimiter)
}
