import type { Cell, Grid } from '../../../../sheets/rows/grid.ts'
import { createHeaderCheck } from '../../../../sheets/rows/table.ts'
import { xlsxFailure } from '../container/failure.ts'
import { MAX_COLUMNS, MAX_GRID_CELLS, MAX_GRID_TEXT_CHARS } from '../container/limits.ts'
import { parseCellReference } from './cell-reference.ts'

/** An array formula that fills more is noted by its first cell alone: a few bytes must not make millions of notes. */
const MAX_FILLED_CELLS = 100_000

export interface GridBuilder {
  set(row: number, column: number, cell: Cell): void
  /** The cell's result is outdated, and so are those of `fills`, which its formula fills. */
  noteStale(row: number, column: number, fills?: string): void
  /** A formula of this row has no result. */
  noteUncalculated(row: number): void
  finish(): Grid
}

/** A row is as long as its last value and the grid ends with the last row that has one; formats alone take no room. */
export function createGridBuilder(): GridBuilder {
  const rows: Cell[][] = []
  const checkHeader = createHeaderCheck()
  const stale = new Map<number, Set<number>>()
  const uncalculated = new Set<number>()
  let slots = 0
  let textChars = 0
  let staleCells = 0

  function noteStaleCell(row: number, column: number): void {
    if (++staleCells > MAX_GRID_CELLS) throw xlsxFailure('tooLarge', 'too many formulas')
    const columns = stale.get(row)
    if (columns === undefined) stale.set(row, new Set([column]))
    else columns.add(column)
  }

  return {
    set(row, column, cell) {
      if (cell === null || cell === '') return
      if (row === 0) checkHeader(cell, column)
      if (typeof cell === 'string') textChars += cell.length
      while (rows.length <= row) rows.push([])
      const cells = rows[row] ?? []
      slots += Math.max(0, column + 1 - cells.length)
      if (slots > MAX_GRID_CELLS) throw xlsxFailure('tooLarge', 'too many cells')
      if (textChars > MAX_GRID_TEXT_CHARS) throw xlsxFailure('tooLarge', 'too much text')
      while (cells.length < column) cells.push(null)
      cells[column] = cell
    },
    noteStale(row, column, fills = '') {
      noteStaleCell(row, column)
      const [last = -1] = fills.split(':').slice(-1).map(parseCellReference)
      if (last === -1) return
      const lastRow = Math.floor(last / MAX_COLUMNS)
      const lastColumn = last % MAX_COLUMNS
      if ((lastRow - row + 1) * (lastColumn - column + 1) > MAX_FILLED_CELLS) return
      for (let filled = row; filled <= lastRow; filled++) {
        for (let at = column; at <= lastColumn; at++) noteStaleCell(filled, at)
      }
    },
    noteUncalculated: (row) => void uncalculated.add(row),
    finish: () => ({
      rows,
      ...(stale.size > 0 && { stale }),
      ...(uncalculated.size > 0 && { uncalculated }),
    }),
  }
}

/** Holds a grid that grew after it was built to the bounds of building. */
export function refuseLargeGrid({ rows }: Grid): void {
  let slots = 0
  let textChars = 0
  for (const row of rows) {
    slots += row.length
    for (const cell of row) if (typeof cell === 'string') textChars += cell.length
  }
  if (slots > MAX_GRID_CELLS) throw xlsxFailure('tooLarge', 'too many cells')
  if (textChars > MAX_GRID_TEXT_CHARS) throw xlsxFailure('tooLarge', 'too much text')
}
