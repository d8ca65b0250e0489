import { invalidArgument } from '../google-error.ts'
import type { Spreadsheet } from '../model.ts'

const MAX_CELLS = 10_000_000
const MAX_CELL_CHARACTERS = 50_000

export function refuseTooLong(text: string): void {
  if (text.length > MAX_CELL_CHARACTERS) {
    throw invalidArgument(
      `Your input contains more than the maximum of ${MAX_CELL_CHARACTERS} characters in a single cell.`,
    )
  }
}

/** Grid cells count whether filled or not. */
export function refuseTooManyCells(spreadsheet: Spreadsheet): void {
  const cells = spreadsheet.sheets.reduce((sum, sheet) => sum + sheet.rowCount * sheet.columnCount, 0)
  if (cells > MAX_CELLS) {
    throw invalidArgument(
      `This action would increase the number of cells in the workbook above the limit of ${MAX_CELLS} cells.`,
    )
  }
}
