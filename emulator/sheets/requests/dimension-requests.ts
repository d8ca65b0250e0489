import { CellDisplay } from '../cells/cell-display.ts'
import { merge, readFields } from '../cells/cell-fields.ts'
import { refuseTooManyCells } from '../cells/cell-limit.ts'
import { insertLines, moveLines, removeLines } from '../dimensions.ts'
import { invalidArgument } from '../google-error.ts'
import type { Dimension, JsonObject, Sheet, Spreadsheet } from '../model.ts'
import { indexOr, sheetById } from '../resolve-range.ts'
import { objectIn, type RequestHandler } from './request.ts'

export interface Lines {
  sheet: Sheet
  dimension: Dimension
  start: number
  end: number
  size: number
}

export const dimensionRequests: Record<string, RequestHandler> = {
  insertDimension({ draft }, request) {
    const { sheet, dimension, start, end, size } = readLines(draft, objectIn(request, 'range'))
    const inherit = request.inheritFromBefore === true
    if (inherit && start === 0) {
      throw invalidArgument('inheritFromBefore cannot be true if inserting at the first row or column.')
    }
    if (start > size) {
      throw invalidArgument(
        `range.startIndex[${start}] is after the last ${word(dimension)} in the sheet[${size}]`,
      )
    }
    insertLines(draft, sheet, dimension, start, end - start, inherit)
    refuseTooManyCells(draft)
    return {}
  },

  deleteDimension({ draft }, request) {
    const { sheet, dimension, start, end, size } = readLines(draft, objectIn(request, 'range'))
    if (start >= size) {
      throw invalidArgument(
        `Cannot delete a ${word(dimension)} that doesn't exist. Tried to delete ${word(dimension)} index ${start} but there are only ${size} ${word(dimension)}s.`,
      )
    }
    removeLines(draft, sheet, dimension, start, end)
    return {}
  },

  appendDimension({ draft }, request) {
    const sheet = sheetById(draft, request.sheetId)
    const length = typeof request.length === 'number' ? request.length : 0
    if (length < 1) throw invalidArgument('length must be greater than 0')
    if (request.dimension === 'COLUMNS') sheet.columnCount += length
    else sheet.rowCount += length
    refuseTooManyCells(draft)
    return {}
  },

  updateDimensionProperties({ draft }, request) {
    const { sheet, dimension, start, end } = readLines(draft, objectIn(request, 'range'))
    const mask = readFields(request.fields)
    const given = objectIn(request, 'properties') as JsonObject
    const lines = dimension === 'ROWS' ? sheet.rowProperties : sheet.columnProperties
    while (lines.length < end) lines.push({})
    for (let index = start; index < end; index++) {
      const { hiddenByUser, ...others } = merge(lines[index] ?? {}, given, mask)
      lines[index] = hiddenByUser === true ? { ...others, hiddenByUser } : others
    }
    return {}
  },

  /** How wide text runs in a browser is nothing a client of the API can check; that it changed, it can. */
  autoResizeDimensions({ draft }, request) {
    const { sheet, dimension, start, end } = readLines(draft, objectIn(request, 'dimensions'))
    const display = new CellDisplay(draft)
    const lines = dimension === 'ROWS' ? sheet.rowProperties : sheet.columnProperties
    while (lines.length < end) lines.push({})
    for (let index = start; index < end; index++) {
      const cells = dimension === 'ROWS' ? [] : sheet.rows.map((row) => row[index])
      const longest = cells.reduce(
        (most, cell) => Math.max(most, (cell && display.formatted(sheet, cell)?.length) || 0),
        0,
      )
      const pixelSize = dimension === 'ROWS' ? 21 : Math.max(21, 12 + 8 * longest)
      lines[index] = { ...lines[index], pixelSize }
    }
    return {}
  },

  moveDimension({ draft }, request) {
    const { sheet, dimension, start, end, size } = readLines(draft, objectIn(request, 'source'))
    const target = indexOr(request.destinationIndex, 0)
    moveLines(draft, sheet, dimension, { start, end, target, size })
    return {}
  },
}

export function readLines(draft: Spreadsheet, range: Record<string, unknown>): Lines {
  const sheet = sheetById(draft, range.sheetId)
  const { dimension } = range
  if (dimension !== 'ROWS' && dimension !== 'COLUMNS') throw invalidArgument('No dimension specified.')
  const size = dimension === 'ROWS' ? sheet.rowCount : sheet.columnCount
  const start = indexOr(range.startIndex, 0)
  const end = indexOr(range.endIndex, size)
  if (end <= start) {
    throw invalidArgument(`endIndex [${end}] must be after startIndex [${start}]`)
  }
  return { sheet, dimension, start, end, size }
}

function word(dimension: Dimension): string {
  return dimension === 'ROWS' ? 'row' : 'column'
}
