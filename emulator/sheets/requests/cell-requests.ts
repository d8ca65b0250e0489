import { cellWithFields, readFields } from '../cells/cell-fields.ts'
import { refuseTooManyCells } from '../cells/cell-limit.ts'
import type { Mask } from '../fields-mask.ts'
import { invalidArgument } from '../google-error.ts'
import { type Area, cellAt, isObject, type JsonObject, putCell, type Sheet } from '../model.ts'
import { indexOr, placeOfGridRange, sheetById } from '../resolve-range.ts'
import { objectIn, type RequestHandler } from './request.ts'

export const cellRequests: Record<string, RequestHandler> = {
  updateCells({ draft }, request) {
    const mask = readFields(request.fields)
    const rows = readRows(request.rows)
    if (isObject(request.start)) {
      const sheet = sheetById(draft, request.start.sheetId)
      const startRow = indexOr(request.start.rowIndex, 0)
      const startColumn = indexOr(request.start.columnIndex, 0)
      const bounds = { startRow, startColumn, endRow: sheet.rowCount, endColumn: sheet.columnCount }
      writeRows(sheet, bounds, rows, mask)
      return {}
    }
    const { sheet, area } = placeOfGridRange(draft, request.range)
    refuseOverrun(area, rows)
    // Cells of the range that the rows do not reach are cleared of the named fields.
    forEachCell(area, (row, column) => {
      const data = rows[row - area.startRow]?.[column - area.startColumn] ?? {}
      const before = cellAt(sheet, row, column)
      if (before || Object.keys(data).length > 0)
        putCell(sheet, row, column, cellWithFields(before, data, mask))
    })
    return {}
  },

  repeatCell({ draft }, request) {
    const mask = readFields(request.fields)
    const { sheet, area } = placeOfGridRange(draft, request.range)
    const data = objectIn(request, 'cell') as JsonObject
    forEachCell(area, (row, column) => {
      putCell(sheet, row, column, cellWithFields(cellAt(sheet, row, column), data, mask))
    })
    return {}
  },

  appendCells({ draft }, request) {
    const mask = readFields(request.fields)
    const sheet = sheetById(draft, request.sheetId)
    const rows = readRows(request.rows)
    const startRow = firstRowAfterData(sheet)
    sheet.rowCount = Math.max(sheet.rowCount, startRow + rows.length)
    refuseTooManyCells(draft)
    const bounds = { startRow, startColumn: 0, endRow: sheet.rowCount, endColumn: sheet.columnCount }
    writeRows(sheet, bounds, rows, mask)
    return {}
  },

  setDataValidation({ draft }, request) {
    const { sheet, area } = placeOfGridRange(draft, request.range)
    const data: JsonObject = isObject(request.rule) ? { dataValidation: request.rule as JsonObject } : {}
    const mask = readFields('dataValidation')
    forEachCell(area, (row, column) => {
      putCell(sheet, row, column, cellWithFields(cellAt(sheet, row, column), data, mask))
    })
    return {}
  },
}

/** A formula that shows nothing is data all the same. */
export function firstRowAfterData(sheet: Sheet): number {
  return sheet.rows.findLastIndex((row) => row.some((cell) => cell?.entered)) + 1
}

export function forEachCell(area: Area, visit: (row: number, column: number) => void): void {
  for (let row = area.startRow; row < area.endRow; row++) {
    for (let column = area.startColumn; column < area.endColumn; column++) visit(row, column)
  }
}

function readRows(rows: unknown): JsonObject[][] {
  if (!Array.isArray(rows)) return []
  return rows.map((row: unknown) => {
    const values = isObject(row) && Array.isArray(row.values) ? row.values : []
    return values.map((value: unknown) => (isObject(value) ? (value as JsonObject) : {}))
  })
}

function writeRows(sheet: Sheet, bounds: Area, rows: JsonObject[][], mask: Mask): void {
  refuseOverrun(bounds, rows)
  rows.forEach((row, rowOffset) => {
    row.forEach((data, columnOffset) => {
      const [at, column] = [bounds.startRow + rowOffset, bounds.startColumn + columnOffset]
      putCell(sheet, at, column, cellWithFields(cellAt(sheet, at, column), data, mask))
    })
  })
}

function refuseOverrun(bounds: Area, rows: JsonObject[][]): void {
  const height = bounds.endRow - bounds.startRow
  const width = bounds.endColumn - bounds.startColumn
  if (rows.length > height) {
    throw invalidArgument(
      `Attempting to write row: ${bounds.startRow + Math.max(0, height)}, beyond the last requested row of: ${bounds.endRow - 1}`,
    )
  }
  if (rows.some((row) => row.length > width)) {
    throw invalidArgument(
      `Attempting to write column: ${bounds.startColumn + Math.max(0, width)}, beyond the last requested column of: ${bounds.endColumn - 1}`,
    )
  }
}
