import type { FoundCell, FoundInColumn } from '../../../sheets/provider.ts'
import { cellMark } from '../../../sheets/rows/find/cell-mark.ts'
import { createEqualityTest } from '../../../sheets/rows/find/equal-cells.ts'
import type { Cell } from '../../../sheets/rows/grid.ts'
import type { Handed } from '../../../sheets/threads/thread-jobs.ts'
import { parseJsonBytes } from '../../remote/json-fields.ts'
import type { FoundWithRows, ToFind, ToFindWithRows } from './google-comparing.ts'
import { shortError } from './google-decode.ts'
import { readRowsAndColumn } from './tab-view.ts'
import { cellsIn, notValues } from './values-body.ts'

/** The far side of `google-comparing.ts`: the values of one column in, and back with where some of them are. */
export function findCells({ body, values, isMarked }: ToFind): Handed<FoundInColumn> {
  const rows = cellsIn(body)
  const finding = createFinding(values, isMarked ? rows.length : null)
  for (let at = 1; at < rows.length; at++) {
    const [given = ''] = rows[at] ?? []
    if (given === '') continue
    const cell = typeof given === 'string' ? shortError(given) : given
    finding.note(at + 1, cell, cell)
  }
  const [header = ''] = rows[0] ?? []
  const { found, handOver } = finding.end(header === '' ? null : header)
  return { reply: found, handOver }
}

/** Finds in a column with its formats, and gives rows of the same answer back as well. */
export function findCellsWithRows({
  body,
  tabId,
  columnIndex,
  ranges,
  values,
  isMarked,
}: ToFindWithRows): Handed<FoundWithRows> {
  const read = readRowsAndColumn(parseJsonBytes(body), tabId, { ranges, columnIndex })
  if (!read) throw notValues()
  const { tab, column } = read
  const finding = createFinding(values, isMarked ? tab.rowCount : null)
  for (const [rowNumber, { value, raw }] of column) {
    if (rowNumber > 1 && value !== null) finding.note(rowNumber, value, raw)
  }
  const { found, handOver } = finding.end(column.get(1)?.value ?? null)
  return { reply: { inColumn: found, tab }, handOver }
}

function createFinding(values: readonly string[], rowsToMark: number | null) {
  const placesOf = createEqualityTest(values)
  const cells: FoundCell[][] = values.map(() => [])
  const marks = rowsToMark === null ? null : new Float64Array(Math.max(0, rowsToMark - 1))
  return {
    /** `raw`: a date as its number, for marks are also made where nothing else is known of it. */
    note(rowNumber: number, cell: Exclude<Cell, null>, raw: Cell): void {
      if (marks) marks[rowNumber - 2] = cellMark(raw)
      for (const place of placesOf(cell)) cells[place]?.push({ rowNumber, cell })
    },
    end(header: Cell) {
      for (const equal of cells) equal.sort((one, other) => one.rowNumber - other.rowNumber)
      const found: FoundInColumn = { header, cells, ...(marks && { marks }) }
      return { found, handOver: marks ? [marks.buffer] : [] }
    },
  }
}
