import { writeA1 } from '../a1.ts'
import type { RenderOptions } from '../cells/cell-display.ts'
import { refuseTooManyCells } from '../cells/cell-limit.ts'
import type { WrittenValues } from '../cells/value-input.ts'
import { insertLines } from '../dimensions.ts'
import type { Spreadsheet } from '../model.ts'
import { refuseProtected } from '../protection.ts'
import { lines } from '../requests/touched-cells.ts'
import type { Place } from '../resolve-range.ts'
import { lastTableIn } from './table-detection.ts'
import { type HowToWrite, updateAnswer, writeAt } from './write-values.ts'

/** values.append on a draft: below the last table the range touches, or at the range itself where there is none. */
export function appendValues(
  spreadsheet: Spreadsheet,
  place: Place,
  values: WrittenValues,
  options: { how: HowToWrite; insertRows: boolean; echo: RenderOptions | undefined },
): unknown {
  const { sheet } = place
  const table = lastTableIn(sheet, place.area)
  const startRow = table ? table.endRow : place.area.startRow
  const startColumn = table ? table.startColumn : place.area.startColumn
  const height = values.rows.length
  if (options.insertRows && height > 0) {
    const inserted = lines(sheet, 'ROWS', startRow, startRow)
    if (options.how.editor !== undefined) refuseProtected(spreadsheet, inserted, options.how.editor)
    insertLines(spreadsheet, sheet, 'ROWS', startRow, height, false)
  }
  const width = Math.max(0, ...values.rows.map((row) => row.length))
  sheet.rowCount = Math.max(sheet.rowCount, startRow + height)
  sheet.columnCount = Math.max(sheet.columnCount, startColumn + width)
  refuseTooManyCells(spreadsheet)
  const written = writeAt(spreadsheet, sheet, startRow, startColumn, values, options.how)
  return {
    spreadsheetId: spreadsheet.spreadsheetId,
    ...(table && { tableRange: writeA1(sheet.title, table) }),
    updates: updateAnswer(spreadsheet, { ...written, isToldFromOrigin: true }, values, options.echo),
  }
}
