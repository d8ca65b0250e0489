import type { Cell, HumanEdit, Protection } from '../google-api.ts'
import { CellDisplay } from './cells/cell-display.ts'
import { insertLines, moveLines, removeLines } from './dimensions.ts'
import type { Sheet, Spreadsheet } from './model.ts'
import { gridRangeOfCells } from './protection.ts'
import { listOf } from './requests/attachment-requests.ts'
import { sortedRows } from './sort-rows.ts'
import { writeAt } from './values/write-values.ts'

/** What a person does in the browser while a program is between two calls. */
export function applyHumanEdit(draft: Spreadsheet, edit: HumanEdit): void {
  const sheet = tabOf(draft, edit.tab)
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
  } else if (edit.op === 'sort') {
    sortBelowHeader(draft, sheet, edit.column, edit.descending === true)
  } else {
    editColumn(draft, sheet, edit)
  }
}

function editColumn(
  draft: Spreadsheet,
  sheet: Sheet,
  edit: HumanEdit & { op: 'insertColumn' | 'deleteColumn' | 'moveColumn' },
): void {
  const { column } = edit
  const size = sheet.columnCount
  if (column > size + (edit.op === 'insertColumn' ? 1 : 0)) throw new Error(`There is no column ${column}`)
  if (edit.op === 'insertColumn') {
    insertLines(draft, sheet, 'COLUMNS', column - 1, 1, false)
    if (edit.header !== undefined) type(draft, sheet, 1, column, [edit.header])
  } else if (edit.op === 'deleteColumn') {
    removeLines(draft, sheet, 'COLUMNS', column - 1, column)
  } else {
    if (edit.to > size) throw new Error(`There is no column ${edit.to}`)
    const target = edit.to > column ? edit.to : edit.to - 1
    moveLines(draft, sheet, 'COLUMNS', { start: column - 1, end: column, target, size })
  }
}

/** Data > Protect sheets and ranges, in the owner's browser. */
export function addProtection(draft: Spreadsheet, protectedRangeId: number, protection: Protection): void {
  const sheet = tabOf(draft, protection.tab)
  const whole = sheet.sheetId === 0 ? {} : { sheetId: sheet.sheetId }
  const range = protection.range === undefined ? whole : gridRangeOfCells(sheet, protection.range)
  if (!range) throw new Error(`${protection.range} is no range such as B2:C5 or B:B`)
  listOf(sheet, 'protectedRanges').push({
    protectedRangeId,
    range,
    ...(protection.warningOnly
      ? { warningOnly: true }
      : { editors: { users: [...new Set([...protection.editors, draft.owner])] } }),
  })
}

function tabOf(draft: Spreadsheet, title: string): Sheet {
  const sheet = draft.sheets.find((one) => one.title === title)
  if (!sheet) throw new Error(`There is no tab ${title}`)
  return sheet
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
    { input: 'USER_ENTERED', editor: undefined },
  )
}

/** People sort the data and leave the header where it is. */
function sortBelowHeader(draft: Spreadsheet, sheet: Sheet, column: number, descending: boolean): void {
  const area = { startRow: 1, endRow: sheet.rowCount, startColumn: 0, endColumn: sheet.columnCount }
  const rows = sortedRows(new CellDisplay(draft), sheet, area, [{ column: column - 1, descending }])
  sheet.rows = [...sheet.rows.slice(0, 1), ...rows]
}
