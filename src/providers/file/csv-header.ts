import type { Cell, Grid } from '../../sheets/rows/grid.ts'
import { createHeaderCheck } from '../../sheets/rows/table.ts'
import { readCell } from './csv/cell.ts'
import type { CsvOptions } from './csv/csv.ts'
import { detectDelimiter } from './csv/dialect.ts'
import { CsvScanner } from './csv/scanner.ts'
import { readCsvText } from './csv/text.ts'

/** Row 1 as `decodeCsv` reads it, at a small part of the cost: all that adding rows needs. */
export function decodeCsvHeader(bytes: Uint8Array, { encoding }: Pick<CsvOptions, 'encoding'> = {}): Grid {
  const { text } = readCsvText(bytes, encoding)
  const scanner = new CsvScanner(text, detectDelimiter(text))
  const checkHeader = createHeaderCheck()
  const header: Cell[] = []
  while (scanner.next()) {
    const cell = readCell(text, scanner)
    checkHeader(cell, header.length)
    header.push(cell)
    if (scanner.endsRecord) break
  }
  return { rows: [header] }
}
