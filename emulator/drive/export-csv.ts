import { CellDisplay } from '../sheets/cells/cell-display.ts'
import type { Spreadsheet } from '../sheets/model.ts'

/** files.export as CSV and TSV: the first sheet as displayed, rows of equal length. */
export function exportText(spreadsheet: Spreadsheet, separator: ',' | '\t'): string {
  const [sheet] = spreadsheet.sheets
  if (!sheet) return ''
  const display = new CellDisplay(spreadsheet)
  const rows = sheet.rows.map((row) => Array.from(row, (cell) => display.formatted(sheet, cell) ?? ''))
  const height = rows.findLastIndex((row) => row.some((text) => text !== '')) + 1
  const width = Math.max(0, ...rows.map((row) => row.findLastIndex((text) => text !== '') + 1))
  return rows
    .slice(0, height)
    .map((row) =>
      Array.from({ length: width }, (_, column) => quoted(row[column] ?? '', separator)).join(separator),
    )
    .join('\r\n')
}

function quoted(text: string, separator: ',' | '\t'): string {
  if (separator === '\t') return text.replace(/[\t\n]/g, ' ')
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text
}
