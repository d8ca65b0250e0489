import { writeA1 } from './a1.ts'
import { CellDisplay, type RenderOptions } from './cell-display.ts'
import type { Dimension, Spreadsheet } from './model.ts'
import type { Place } from './resolve-range.ts'

type Shown = string | number | boolean

export interface ValueRange {
  range: string
  majorDimension: Dimension
  values?: Shown[][]
}

/** Trailing empty rows and cells are cut, inner ones kept; without any value there is no `values` at all. */
export function readValues(
  spreadsheet: Spreadsheet,
  place: Place,
  majorDimension: Dimension,
  options: RenderOptions,
): ValueRange {
  const display = new CellDisplay(spreadsheet)
  const { sheet, area } = place
  const lastRow = Math.min(area.endRow, sheet.rows.length)
  const lines: Shown[][] = []
  for (let row = area.startRow; row < lastRow; row++) {
    const cells = sheet.rows[row] ?? []
    const lastColumn = Math.min(area.endColumn, cells.length)
    for (let column = area.startColumn; column < lastColumn; column++) {
      const shown = display.rendered(sheet, cells[column], options)
      if (shown === undefined || shown === '') continue
      const [line, at] =
        majorDimension === 'ROWS'
          ? [row - area.startRow, column - area.startColumn]
          : [column - area.startColumn, row - area.startRow]
      put(lines, line, at, shown)
    }
  }
  const range = writeA1(sheet.title, area)
  return lines.length > 0 ? { range, majorDimension, values: lines } : { range, majorDimension }
}

function put(lines: Shown[][], line: number, at: number, shown: Shown): void {
  while (lines.length <= line) lines.push([])
  const cells = lines[line] ?? []
  while (cells.length < at) cells.push('')
  cells[at] = shown
}
