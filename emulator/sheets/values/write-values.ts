import { columnLetters, writeA1 } from '../a1.ts'
import type { RenderOptions } from '../cells/cell-display.ts'
import { localeOf } from '../cells/locale.ts'
import { cellWith, type InputOption, type WrittenValues } from '../cells/value-input.ts'
import { invalidArgument } from '../google-error.ts'
import { type Area, putCell, type Sheet, type SheetCell, type Spreadsheet } from '../model.ts'
import { closedTo, isClosed, protectedCell, refuseProtected } from '../protection.ts'
import { cellExceedsGrid, type Place } from '../resolve-range.ts'
import { readValues } from './read-values.ts'

/** What a write touched; untouched (null) cells do not count. */
export interface Written {
  sheet: Sheet
  origin: { row: number; column: number }
  rows: Set<number>
  columns: Set<number>
  cells: number
  /** What is told of it begins at its origin, also where the first cells were left alone: so it is after an append. */
  isToldFromOrigin?: boolean
}

export interface HowToWrite {
  input: InputOption
  /** Held to the protections; undefined for hands that nothing stops. */
  editor: string | undefined
}

/** One cell is only where writing starts; of a larger range the values must not run out. */
export function writeWithin(
  spreadsheet: Spreadsheet,
  place: Place,
  values: WrittenValues,
  how: HowToWrite,
): Written {
  const { sheet, area } = place
  const isOneCell = area.endRow - area.startRow === 1 && area.endColumn - area.startColumn === 1
  if (!isOneCell) refuseOverrun(place, values)
  return writeAt(spreadsheet, sheet, area.startRow, area.startColumn, values, how)
}

function refuseOverrun({ sheet, area }: Place, values: WrittenValues): void {
  const within = `Requested writing within range [${writeA1(sheet.title, area)}], but tried writing to`
  if (values.rows.length > area.endRow - area.startRow) {
    throw invalidArgument(`${within} row [${area.endRow + 1}]`)
  }
  if (values.rows.some((row) => row.length > area.endColumn - area.startColumn)) {
    throw invalidArgument(`${within} column [${columnLetters(area.endColumn)}]`)
  }
}

export function writeAt(
  spreadsheet: Spreadsheet,
  sheet: Sheet,
  startRow: number,
  startColumn: number,
  values: WrittenValues,
  { input, editor }: HowToWrite,
): Written {
  const closed = editor === undefined ? [] : closedTo(spreadsheet, sheet, editor)
  const locale = localeOf(spreadsheet.properties.locale)
  const written: Written = {
    sheet,
    origin: { row: startRow, column: startColumn },
    rows: new Set(),
    columns: new Set(),
    cells: 0,
  }
  values.rows.forEach((line, rowOffset) => {
    const row = startRow + rowOffset
    const next: (SheetCell | undefined)[] = sheet.rows[row]?.slice() ?? []
    let touched = false
    line.forEach((value, columnOffset) => {
      if (value === null) return
      const column = startColumn + columnOffset
      if (row >= sheet.rowCount || column >= sheet.columnCount) throw cellExceedsGrid(sheet, row, column)
      if (closed.length > 0 && isClosed(closed, oneCell(row, column))) throw protectedCell()
      if (!isCovered(sheet, row, column)) {
        while (next.length < column) next.push(undefined)
        const cell = cellWith(next[column], value, input, locale)
        next[column] = Object.keys(cell).length > 0 ? cell : undefined
      }
      touched = true
      written.columns.add(column)
      written.cells += 1
    })
    if (!touched) return
    written.rows.add(row)
    while (sheet.rows.length < row) sheet.rows.push([])
    sheet.rows[row] = next
  })
  return written
}

/** Of merged cells only the first can hold a value; what is written to the others is dropped without a word. */
function isCovered({ merges }: Sheet, row: number, column: number): boolean {
  return merges.some(
    ({ startRow, endRow, startColumn, endColumn }) =>
      row >= startRow &&
      row < endRow &&
      column >= startColumn &&
      column < endColumn &&
      (row > startRow || column > startColumn),
  )
}

function oneCell(row: number, column: number): Area {
  return { startRow: row, endRow: row + 1, startColumn: column, endColumn: column + 1 }
}

export function writtenArea(written: Written): Area {
  const { row, column } = written.origin
  if (written.cells === 0) return oneCell(row, column)
  const rows = [...written.rows]
  const columns = [...written.columns]
  if (written.isToldFromOrigin) {
    rows.push(row)
    columns.push(column)
  }
  return {
    startRow: rows.reduce((least, one) => Math.min(least, one)),
    endRow: rows.reduce((most, one) => Math.max(most, one)) + 1,
    startColumn: columns.reduce((least, one) => Math.min(least, one)),
    endColumn: columns.reduce((most, one) => Math.max(most, one)) + 1,
  }
}

/** UpdateValuesResponse; counts of zero are left out, as everywhere at Google. */
export function updateAnswer(
  spreadsheet: Spreadsheet,
  written: Written,
  values: WrittenValues,
  echo: RenderOptions | undefined,
): Record<string, unknown> {
  const area = writtenArea(written)
  return {
    spreadsheetId: spreadsheet.spreadsheetId,
    updatedRange: writeA1(written.sheet.title, area),
    ...(written.rows.size > 0 && { updatedRows: written.rows.size }),
    ...(written.columns.size > 0 && { updatedColumns: written.columns.size }),
    ...(written.cells > 0 && { updatedCells: written.cells }),
    ...(echo && {
      updatedData: readValues(spreadsheet, { sheet: written.sheet, area }, values.majorDimension, echo),
    }),
  }
}

/** Totals over several writes: a row or column written twice counts once per sheet. */
export function totalsOf(all: Written[]): Record<string, number> {
  const sheets = new Map<Sheet, { rows: Set<number>; columns: Set<number> }>()
  for (const written of all) {
    if (written.cells === 0) continue
    const seen = sheets.get(written.sheet) ?? { rows: new Set(), columns: new Set() }
    sheets.set(written.sheet, {
      rows: seen.rows.union(written.rows),
      columns: seen.columns.union(written.columns),
    })
  }
  const touched = [...sheets.values()]
  const totals = {
    totalUpdatedRows: touched.reduce((sum, one) => sum + one.rows.size, 0),
    totalUpdatedColumns: touched.reduce((sum, one) => sum + one.columns.size, 0),
    totalUpdatedCells: all.reduce((sum, one) => sum + one.cells, 0),
    totalUpdatedSheets: touched.length,
  }
  return Object.fromEntries(Object.entries(totals).filter(([, count]) => count > 0))
}

export function clearArea(spreadsheet: Spreadsheet, { sheet, area }: Place, editor: string): void {
  refuseProtected(spreadsheet, { sheet, area }, editor)
  const lastRow = Math.min(area.endRow, sheet.rows.length)
  for (let row = area.startRow; row < lastRow; row++) {
    const cells = sheet.rows[row]
    if (!cells?.slice(area.startColumn, area.endColumn).some((cell) => cell?.entered)) continue
    for (let column = area.startColumn; column < Math.min(area.endColumn, cells.length); column++) {
      const { entered: _entered, given: _given, ...kept } = cells[column] ?? {}
      putCell(sheet, row, column, kept)
    }
  }
}
