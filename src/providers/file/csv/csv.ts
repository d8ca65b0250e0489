import type { Cell, Grid } from '../../../sheets/rows/grid.ts'
import { refuseLongSheet } from '../../../sheets/rows/most-rows.ts'
import { createHeaderCheck } from '../../../sheets/rows/table.ts'
import { readCell, readCellText } from './cell.ts'
import { detectDelimiter } from './dialect.ts'
import type { SingleByteEncoding } from './encoding/single-byte.ts'
import { CsvScanner } from './scanner.ts'
import { readCsvText } from './text.ts'

export interface CsvOptions {
  /** 'formatted' leaves each field the text it is (docs/contract.md#values-as-displayed); absent = typed. */
  values?: 'typed' | 'formatted'
  /** What the file is in where it is not Unicode; absent = told by its bytes. */
  encoding?: SingleByteEncoding
}

/** One for all blank rows: fifty million are a file of 50 MB. */
const noCells: Cell[] = []

/** The grid ends with the last row with data: `rows.length + 1` is the number of the next row appended. */
export function decodeCsv(bytes: Uint8Array, options: CsvOptions = {}): Grid {
  const { text } = readCsvText(bytes, options.encoding)
  const scanner = new CsvScanner(text, detectDelimiter(text))
  const read = options.values === 'formatted' ? readCellText : readCell
  const rows: Cell[][] = []
  // One array grows to the widest record; its slices have exactly the room they need.
  const cells: Cell[] = []
  const checkHeader = createHeaderCheck()
  let width = 0
  let hasData = false
  /** Since the last row with data: they are rows only if another one follows. */
  let blankRows = 0
  while (scanner.next()) {
    const cell = read(text, scanner)
    if (scanner.rowNumber === 1) checkHeader(cell, width)
    if (cell !== null) hasData = true
    cells[width++] = cell
    if (!scanner.endsRecord) continue
    if (hasData) {
      refuseLongSheet(scanner.rowNumber)
      for (; blankRows > 0; blankRows--) rows.push(noCells)
      rows.push(cells.slice(0, width))
    } else blankRows++
    width = 0
    hasData = false
  }
  return { rows }
}
