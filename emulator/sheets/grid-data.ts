import { CellDisplay } from './cell-display.ts'
import { plainCellFormat } from './default-format.ts'
import { isJsonObject, type JsonObject, type Sheet, type SheetCell, type Spreadsheet } from './model.ts'
import type { Place } from './resolve-range.ts'

/** GridData of one range: rows cut after the last cell that holds anything. */
export function gridData(spreadsheet: Spreadsheet, { sheet, area }: Place): Record<string, unknown> {
  const display = new CellDisplay(spreadsheet)
  const rowData: Record<string, unknown>[] = []
  const lastRow = Math.min(area.endRow, sheet.rows.length)
  for (let row = area.startRow; row < lastRow; row++) {
    const cells = (sheet.rows[row] ?? []).slice(area.startColumn, area.endColumn)
    const length = cells.findLastIndex((cell) => cell !== undefined) + 1
    const values = Array.from({ length }, (_, index) => cellData(display, sheet, cells[index]))
    rowData.push(length > 0 ? { values } : {})
  }
  while (rowData.length > 0 && rowData.at(-1)?.values === undefined) rowData.pop()
  return {
    ...(area.startRow > 0 && { startRow: area.startRow }),
    ...(area.startColumn > 0 && { startColumn: area.startColumn }),
    ...(rowData.length > 0 && { rowData }),
    rowMetadata: lineProperties(sheet.rowProperties, area.startRow, area.endRow, 21),
    columnMetadata: lineProperties(sheet.columnProperties, area.startColumn, area.endColumn, 100),
  }
}

function lineProperties(lines: JsonObject[], start: number, end: number, pixelSize: number): JsonObject[] {
  return Array.from({ length: end - start }, (_, index) => ({ pixelSize, ...lines[start + index] }))
}

export function cellData(
  display: CellDisplay,
  sheet: Sheet,
  cell: SheetCell | undefined,
): Record<string, unknown> {
  if (!cell) return {}
  const effectiveValue = display.effective(sheet, cell)
  const formattedValue = display.formatted(sheet, cell)
  const shows = cell.entered !== undefined || cell.format !== undefined
  return {
    ...(cell.entered && { userEnteredValue: cell.entered }),
    ...(effectiveValue && { effectiveValue }),
    ...(formattedValue !== undefined && { formattedValue }),
    ...(cell.format && { userEnteredFormat: cell.format }),
    ...(shows && { effectiveFormat: effectiveFormat(cell.format, alignmentOf(effectiveValue)) }),
    ...(cell.note !== undefined && { note: cell.note }),
    ...cell.extras,
  }
}

function alignmentOf(value: object | undefined): string {
  if (value && 'numberValue' in value) return 'RIGHT'
  return value && ('boolValue' in value || 'errorValue' in value) ? 'CENTER' : 'LEFT'
}

function effectiveFormat(own: JsonObject | undefined, alignment: string): JsonObject {
  return merged(plainCellFormat(alignment), own ?? {})
}

function merged(base: JsonObject, over: JsonObject): JsonObject {
  const result = { ...base }
  for (const [key, value] of Object.entries(over)) {
    const old = result[key]
    const isColor = /color/i.test(key)
    result[key] = isJsonObject(old) && isJsonObject(value) && !isColor ? merged(old, value) : value
  }
  return result
}
