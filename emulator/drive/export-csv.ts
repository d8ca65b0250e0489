import { CellDisplay } from '../sheets/cells/cell-display.ts'
import type { Sheet, Spreadsheet } from '../sheets/model.ts'

export const exportTypes: Record<string, string> = { csv: 'text/csv', tsv: 'text/tab-separated-values' }

/** files.export as CSV and TSV: one sheet as displayed, rows of equal length. */
export function exportText(
  spreadsheet: Spreadsheet,
  mimeType: string,
  sheet: Sheet | undefined = spreadsheet.sheets[0],
): string | undefined {
  const separator = separators[mimeType]
  if (!separator) return undefined
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

const separators: Record<string, ',' | '\t'> = { 'text/csv': ',', 'text/tab-separated-values': '\t' }

function quoted(text: string, separator: ',' | '\t'): string {
  if (separator === '\t') return text.replace(/[\t\n]/g, ' ')
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text
}
