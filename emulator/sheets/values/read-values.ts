import { writeA1 } from '../a1.ts'
import { CellDisplay, type RenderOptions } from '../cells/cell-display.ts'
import type { Dimension, Sheet, SheetRow, Spreadsheet } from '../model.ts'
import type { Place } from '../resolve-range.ts'

type Shown = string | number | boolean

export interface ValueRange {
  range: string
  majorDimension: Dimension
  values?: Shown[][]
}

/**
 * A row is never changed in place, so what it reads as stays true as long as it is there: after a write only the rows
 * that were written are rendered again. Rows with formulas are not kept, for they look elsewhere.
 */
const renderedRows = new WeakMap<SheetRow, { how: string; line: Shown[] }>()

/** Trailing empty rows and cells are cut, inner ones kept; without any value there is no `values` at all. */
export function readValues(
  spreadsheet: Spreadsheet,
  place: Place,
  majorDimension: Dimension,
  options: RenderOptions,
): ValueRange {
  const { sheet, area } = place
  const display = new CellDisplay(spreadsheet)
  const { startColumn, endColumn } = area
  const how = [options.value, options.dateTime, spreadsheet.properties.locale, startColumn, endColumn].join(
    ' ',
  )
  const rows = sheet.rows.slice(area.startRow, area.endRow).map((row) => {
    const known = renderedRows.get(row)
    if (known?.how === how) return known.line
    const line = rendered(display, sheet, row, { startColumn, endColumn }, options)
    const looksElsewhere = row.some((cell) => cell?.entered && 'formulaValue' in cell.entered)
    if (!looksElsewhere) renderedRows.set(row, { how, line })
    return line
  })
  const lines = majorDimension === 'ROWS' ? rows : columnsOf(rows)
  const length = lines.findLastIndex((line) => line.length > 0) + 1
  const range = writeA1(sheet.title, area)
  if (length === 0) return { range, majorDimension }
  return { range, majorDimension, values: lines.slice(0, length) }
}

function rendered(
  display: CellDisplay,
  sheet: Sheet,
  row: SheetRow,
  { startColumn, endColumn }: { startColumn: number; endColumn: number },
  options: RenderOptions,
): Shown[] {
  const line: Shown[] = []
  const lastColumn = Math.min(endColumn, row.length)
  for (let column = startColumn; column < lastColumn; column++) {
    const shown = display.rendered(sheet, row[column], options)
    if (shown !== undefined && shown !== '') put(line, column - startColumn, shown)
  }
  return line
}

function columnsOf(rows: Shown[][]): Shown[][] {
  const columns: Shown[][] = []
  rows.forEach((line, row) => {
    line.forEach((shown, column) => {
      if (shown === '') return
      while (columns.length <= column) columns.push([])
      put(columns[column] ?? [], row, shown)
    })
  })
  return columns
}

function put(line: Shown[], at: number, shown: Shown): void {
  while (line.length < at) line.push('')
  line[at] = shown
}
