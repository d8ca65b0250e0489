import { CellDisplay } from '../cells/cell-display.ts'

import { invalidArgument } from '../google-error.ts'
import { type Area, cellAt, putCell, type Sheet, type SheetCell } from '../model.ts'
import { indexOr, type Place, placeOfGridRange, sheetById } from '../resolve-range.ts'
import { sortedRows } from '../sort-rows.ts'
import { forEachCell } from './cell-requests.ts'
import { objectIn, type RequestHandler } from './request.ts'

/** Requests that move whole blocks of cells about. */
export const blockRequests: Record<string, RequestHandler> = {
  deleteRange({ draft }, request) {
    const place = placeOfGridRange(draft, request.range)
    const { sheet, area } = place
    if (request.shiftDimension === 'ROWS') {
      if (spansColumns(place)) removeShift(sheet, area)
      else shiftCells(sheet, area, 'up')
    } else if (request.shiftDimension === 'COLUMNS') shiftCells(sheet, area, 'left')
    else throw invalidArgument('No shiftDimension specified.')
    return {}
  },

  insertRange({ draft }, request) {
    const { sheet, area } = placeOfGridRange(draft, request.range)
    const height = area.endRow - area.startRow
    const width = area.endColumn - area.startColumn
    if (request.shiftDimension === 'COLUMNS') {
      for (let row = area.startRow; row < area.endRow; row++) {
        const cells = padded(sheet.rows[row] ?? [], area.startColumn)
        setRow(
          sheet,
          row,
          cells.toSpliced(area.startColumn, 0, ...Array.from({ length: width }, () => undefined)),
        )
      }
      return {}
    }
    for (let row = sheet.rows.length - 1; row >= area.startRow; row--) {
      for (let column = area.startColumn; column < area.endColumn; column++) {
        putCell(sheet, row + height, column, cellAt(sheet, row, column))
        putCell(sheet, row, column, undefined)
      }
    }
    sheet.rowCount = Math.max(sheet.rowCount, sheet.rows.length)
    return {}
  },

  mergeCells({ draft }, request) {
    const { sheet, area } = placeOfGridRange(draft, request.range)
    for (const part of mergeParts(area, request.mergeType)) {
      sheet.merges = sheet.merges.filter((merge) => !overlaps(merge, part))
      sheet.merges.push(part)
      const kept = cellAt(sheet, part.startRow, part.startColumn)
      forEachCell(part, (row, column) => {
        const isFirst = row === part.startRow && column === part.startColumn
        const { entered: _entered, given: _given, ...rest } = cellAt(sheet, row, column) ?? {}
        if (!isFirst) putCell(sheet, row, column, rest)
      })
      if (kept) putCell(sheet, part.startRow, part.startColumn, kept)
    }
    return {}
  },

  unmergeCells({ draft }, request) {
    const { sheet, area } = placeOfGridRange(draft, request.range)
    sheet.merges = sheet.merges.filter((merge) => !overlaps(merge, area))
    return {}
  },

  sortRange({ draft }, request) {
    const { sheet, area } = placeOfGridRange(draft, request.range)
    const specs = Array.isArray(request.sortSpecs) ? request.sortSpecs : []
    const keys = specs.map((spec: { dimensionIndex?: unknown; sortOrder?: unknown }) => ({
      column: indexOr(spec.dimensionIndex, 0),
      descending: spec.sortOrder === 'DESCENDING',
    }))
    const rows = sortedRows(new CellDisplay(draft), sheet, area, keys)
    rows.forEach((cells, offset) => {
      cells.forEach((cell, columnOffset) => {
        putCell(sheet, area.startRow + offset, area.startColumn + columnOffset, cell)
      })
    })
    return {}
  },

  copyPaste({ draft }, request) {
    const source = placeOfGridRange(draft, request.source)
    const target = placeOfGridRange(draft, request.destination)
    paste(source, target.sheet, target.area.startRow, target.area.startColumn)
    return {}
  },

  cutPaste({ draft }, request) {
    const source = placeOfGridRange(draft, request.source)
    const target = objectIn(request, 'destination')
    const cells = blockOf(source)
    forEachCell(source.area, (row, column) => putCell(source.sheet, row, column, undefined))
    const [row, column] = [indexOr(target.rowIndex, 0), indexOr(target.columnIndex, 0)]
    pasteBlock(cells, sheetById(draft, target.sheetId), row, column)
    return {}
  },
}

function spansColumns({ sheet, area }: Place): boolean {
  return (
    area.startColumn === 0 &&
    area.endColumn === sheet.columnCount &&
    area.endRow - area.startRow < sheet.rowCount
  )
}

/** Cells leave but the grid keeps its size, unlike deleteDimension. */
function removeShift(sheet: Sheet, area: Area): void {
  sheet.rows.splice(area.startRow, area.endRow - area.startRow)
}

function shiftCells(sheet: Sheet, area: Area, direction: 'up' | 'left'): void {
  const height = area.endRow - area.startRow
  const width = area.endColumn - area.startColumn
  if (direction === 'left') {
    for (let row = area.startRow; row < Math.min(area.endRow, sheet.rows.length); row++) {
      setRow(sheet, row, (sheet.rows[row] ?? []).toSpliced(area.startColumn, width))
    }
    return
  }
  for (let row = area.startRow; row < sheet.rows.length; row++) {
    for (let column = area.startColumn; column < area.endColumn; column++) {
      putCell(sheet, row, column, cellAt(sheet, row + height, column))
    }
  }
}

function setRow(sheet: Sheet, row: number, cells: (SheetCell | undefined)[]): void {
  while (sheet.rows.length < row) sheet.rows.push([])
  sheet.rows[row] = cells.slice(0, sheet.columnCount)
}

function padded(cells: readonly (SheetCell | undefined)[], length: number): (SheetCell | undefined)[] {
  return cells.concat(Array.from({ length: Math.max(0, length - cells.length) }, () => undefined))
}

function mergeParts(area: Area, type: unknown): Area[] {
  if (type === 'MERGE_ROWS') {
    return Array.from({ length: area.endRow - area.startRow }, (_, index) => ({
      ...area,
      startRow: area.startRow + index,
      endRow: area.startRow + index + 1,
    }))
  }
  if (type === 'MERGE_COLUMNS') {
    return Array.from({ length: area.endColumn - area.startColumn }, (_, index) => ({
      ...area,
      startColumn: area.startColumn + index,
      endColumn: area.startColumn + index + 1,
    }))
  }
  return [{ ...area }]
}

function overlaps(one: Area, other: Area): boolean {
  const rows = one.startRow < other.endRow && other.startRow < one.endRow
  return rows && one.startColumn < other.endColumn && other.startColumn < one.endColumn
}

function blockOf({ sheet, area }: Place): (SheetCell | undefined)[][] {
  return Array.from({ length: area.endRow - area.startRow }, (_, row) =>
    Array.from({ length: area.endColumn - area.startColumn }, (_, column) =>
      cellAt(sheet, area.startRow + row, area.startColumn + column),
    ),
  )
}

function paste(source: Place, sheet: Sheet, row: number, column: number): void {
  pasteBlock(blockOf(source), sheet, row, column)
}

function pasteBlock(cells: (SheetCell | undefined)[][], sheet: Sheet, row: number, column: number): void {
  cells.forEach((line, rowOffset) => {
    line.forEach((cell, columnOffset) => {
      const [atRow, atColumn] = [row + rowOffset, column + columnOffset]
      if (atRow < sheet.rowCount && atColumn < sheet.columnCount) putCell(sheet, atRow, atColumn, cell)
    })
  })
}
