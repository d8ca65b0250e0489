import type { Cell, HumanEdit } from '../google-api.ts'
import { CellDisplay } from './cell-display.ts'
import { insertLines, removeLines } from './dimensions.ts'
import type { Sheet, Spreadsheet } from './model.ts'
import { sortedRows } from './sort-rows.ts'
import { writeAt } from './write-values.ts'

/** What a person does in the browser while a program is between two calls. */
export function applyHumanEdit(draft: Spreadsheet, edit: HumanEdit): void {
  const sheet = draft.sheets.find((one) => one.title === edit.tab)
  if (!sheet) throw new Error(`There is no tab ${edit.tab}`)
  if (edit.op === 'set') {
    growTo(sheet, edit.row, edit.column)
    type(draft, sheet, edit.row, edit.column, [edit.value ?? ''])
  } else if (edit.op === 'insertRow') {
    if (edit.row < 1 || edit.row > sheet.rowCount + 1) throw new Error(`There is no row ${edit.row}`)
    insertLines(draft, sheet, 'ROWS', edit.row - 1, 1, false)
    if (edit.values) {
      growTo(sheet, edit.row, edit.values.length)
      type(draft, sheet, edit.row, 1, edit.values)
    }
  } else if (edit.op === 'deleteRow') {
    if (edit.row < 1 || edit.row > sheet.rowCount) throw new Error(`There is no row ${edit.row}`)
    removeLines(draft, sheet, 'ROWS', edit.row - 1, edit.row)
  } else {
    sortBelowHeader(draft, sheet, edit.column, edit.descending === true)
  }
}

function growTo(sheet: Sheet, row: number, column: number): void {
  if (row < 1 || column < 0) throw new Error(`There is no cell in row ${row}, column ${column}`)
  sheet.rowCount = Math.max(sheet.rowCount, row)
  sheet.columnCount = Math.max(sheet.columnCount, column)
}

function type(draft: Spreadsheet, sheet: Sheet, row: number, column: number, values: Cell[]): void {
  const rows = [values]
  writeAt(
    draft,
    sheet,
    row - 1,
    column - 1,
    { range: undefined, majorDimension: 'ROWS', rows },
    'USER_ENTERED',
  )
}

/** People sort the data and leave the header where it is. */
function sortBelowHeader(draft: Spreadsheet, sheet: Sheet, column: number, descending: boolean): void {
  const area = { startRow: 1, endRow: sheet.rowCount, startColumn: 0, endColumn: sheet.columnCount }
  const rows = sortedRows(new CellDisplay(draft), sheet, area, [{ column: column - 1, descending }])
  sheet.rows = [...sheet.rows.slice(0, 1), ...rows]
}
