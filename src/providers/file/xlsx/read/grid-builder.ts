import type { Cell, Grid } from '../../../../sheets/rows/grid.ts'
import { createHeaderCheck } from '../../../../sheets/rows/table.ts'
import { xlsxFailure } from '../container/failure.ts'
import { MAX_GRID_CELLS, MAX_GRID_TEXT_CHARS } from '../container/limits.ts'

export interface GridBuilder {
  set(row: number, column: number, cell: Cell): void
  finish(): Grid
}

/** A row is as long as its last value and the grid ends with the last row that has one; formats alone take no room. */
export function createGridBuilder(): GridBuilder {
  const rows: Cell[][] = []
  const checkHeader = createHeaderCheck()
  let slots = 0
  let textChars = 0
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
    finish: () => ({ rows }),
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
