import { isObject, type Sheet, type Spreadsheet } from '../model.ts'
import { indexOr, type Place, placeOfGridRange, sheetById } from '../resolve-range.ts'
import { wholeSheet } from '../spreadsheet/spreadsheet-json.ts'
import { firstRowAfterData } from './cell-requests.ts'
import { readLines } from './dimension-requests.ts'
import { objectIn } from './request.ts'

type Touched = (draft: Spreadsheet, request: Record<string, unknown>) => Place[]

const range: Touched = (draft, request) => [placeOfGridRange(draft, request.range)]

/** The cells a request would change: what a protection is held against. A request not listed changes none. */
export const touchedBy: Record<string, Touched> = {
  updateCells(draft, request) {
    if (!isObject(request.start)) return range(draft, request)
    const sheet = sheetById(draft, request.start.sheetId)
    const startRow = indexOr(request.start.rowIndex, 0)
    return [block(sheet, startRow, indexOr(request.start.columnIndex, 0), request.rows)]
  },
  appendCells(draft, request) {
    const sheet = sheetById(draft, request.sheetId)
    return [block(sheet, firstRowAfterData(sheet), 0, request.rows)]
  },
  repeatCell: range,
  setDataValidation: range,
  mergeCells: range,
  unmergeCells: range,
  sortRange: range,
  updateBorders: range,
  randomizeRange: range,
  trimWhitespace: range,
  deleteDuplicates: range,
  textToColumns: (draft, request) => [placeOfGridRange(draft, request.source)],
  pasteData(draft, request) {
    const { sheetId, rowIndex, columnIndex } = objectIn(request, 'coordinate')
    const [startRow, startColumn] = [indexOr(rowIndex, 0), indexOr(columnIndex, 0)]
    const area = { startRow, startColumn, endRow: startRow + 1, endColumn: startColumn + 1 }
    return [{ sheet: sheetById(draft, sheetId), area }]
  },
  autoFill(draft, request) {
    const { source } = objectIn(request, 'sourceAndDestination')
    return [placeOfGridRange(draft, source ?? request.range)]
  },
  deleteRange: shifted,
  insertRange: shifted,
  copyPaste: (draft, request) => [placeOfGridRange(draft, request.destination)],
  cutPaste(draft, request) {
    const source = placeOfGridRange(draft, request.source)
    const target = objectIn(request, 'destination')
    const startRow = indexOr(target.rowIndex, 0)
    const startColumn = indexOr(target.columnIndex, 0)
    const endRow = startRow + source.area.endRow - source.area.startRow
    const endColumn = startColumn + source.area.endColumn - source.area.startColumn
    const sheet = sheetById(draft, target.sheetId)
    return [source, { sheet, area: { startRow, endRow, startColumn, endColumn } }]
  },
  insertDimension(draft, request) {
    const { sheet, dimension, start } = readLines(draft, objectIn(request, 'range'))
    return [lines(sheet, dimension, start, start)]
  },
  deleteDimension: (draft, request) => [linesIn(draft, request, 'range')],
  moveDimension: (draft, request) => [linesIn(draft, request, 'source')],
  updateDimensionProperties: (draft, request) => [linesIn(draft, request, 'range')],
  appendDimension: (draft, request) => [beyond(sheetById(draft, request.sheetId))],
  updateSheetProperties: (draft, request) =>
    draft.sheets
      .filter((sheet) => sheet.sheetId === Number(objectIn(request, 'properties').sheetId ?? 0))
      .map(beyond),
  deleteSheet: (draft, request) =>
    draft.sheets.filter((sheet) => sheet.sheetId === Number(request.sheetId ?? 0)).map(wholeSheet),
}

function block(sheet: Sheet, startRow: number, startColumn: number, rows: unknown): Place {
  const list: unknown[] = Array.isArray(rows) ? rows : []
  const widths = list.map((row) => (isObject(row) && Array.isArray(row.values) ? row.values.length : 0))
  const width = widths.reduce((most, one) => Math.max(most, one), 0)
  return {
    sheet,
    area: { startRow, startColumn, endRow: startRow + list.length, endColumn: startColumn + width },
  }
}

/** What lies behind the range moves as well. */
function shifted(draft: Spreadsheet, request: Record<string, unknown>): Place[] {
  const { sheet, area } = placeOfGridRange(draft, request.range)
  const behind =
    request.shiftDimension === 'COLUMNS' ? { endColumn: sheet.columnCount } : { endRow: sheet.rowCount }
  return [{ sheet, area: { ...area, ...behind } }]
}

function linesIn(draft: Spreadsheet, request: Record<string, unknown>, name: string): Place {
  const { sheet, dimension, start, end } = readLines(draft, objectIn(request, name))
  return lines(sheet, dimension, start, end)
}

export function lines(sheet: Sheet, dimension: 'ROWS' | 'COLUMNS', start: number, end: number): Place {
  const { area } = wholeSheet(sheet)
  const across =
    dimension === 'ROWS' ? { startRow: start, endRow: end } : { startColumn: start, endColumn: end }
  return { sheet, area: { ...area, ...across } }
}

/** Past the last row and column, where only the protection of a whole tab reaches. */
function beyond(sheet: Sheet): Place {
  const { rowCount: startRow, columnCount: startColumn } = sheet
  return { sheet, area: { startRow, startColumn, endRow: startRow + 1, endColumn: startColumn + 1 } }
}
