import { CellDisplay } from '../cells/cell-display.ts'
import { plainCellFormat } from '../cells/default-format.ts'
import type { NumberFormat } from '../cells/number-format.ts'
import {
  type Dimension,
  isJsonObject,
  type JsonObject,
  type Sheet,
  type SheetCell,
  type Spreadsheet,
} from '../model.ts'
import type { Place } from '../resolve-range.ts'
import { metadataJson } from './developer-metadata.ts'

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
    // Made for those who ask: an object for each of 100,000 rows takes its time.
    get rowMetadata() {
      return lineProperties(
        sheet.rowProperties,
        metadataOf(spreadsheet, sheet, 'ROWS'),
        { start: area.startRow, end: area.endRow },
        21,
      )
    },
    get columnMetadata() {
      return lineProperties(
        sheet.columnProperties,
        metadataOf(spreadsheet, sheet, 'COLUMNS'),
        { start: area.startColumn, end: area.endColumn },
        100,
      )
    },
  }
}

function metadataOf(spreadsheet: Spreadsheet, sheet: Sheet, dimension: Dimension): Map<number, unknown[]> {
  const byLine = new Map<number, unknown[]>()
  for (const entry of spreadsheet.metadata) {
    const { place } = entry
    if (place.kind !== dimension || place.sheetId !== sheet.sheetId) continue
    byLine.set(place.startIndex, [...(byLine.get(place.startIndex) ?? []), metadataJson(entry)])
  }
  return byLine
}

function lineProperties(
  lines: JsonObject[],
  metadata: Map<number, unknown[]>,
  { start, end }: { start: number; end: number },
  pixelSize: number,
): unknown[] {
  return Array.from({ length: end - start }, (_, index) => {
    const developerMetadata = metadata.get(start + index)
    return { pixelSize, ...lines[start + index], ...(developerMetadata && { developerMetadata }) }
  })
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
    ...(shows && {
      effectiveFormat: effectiveFormat(cell, effectiveValue, display.numberFormat(sheet, cell)),
    }),
    ...(cell.note !== undefined && { note: cell.note }),
    ...hyperlinkOf(cell),
    ...cell.extras,
  }
}

/** Of `=HYPERLINK("…", …)`; an address that a formula computes is not followed up. */
function hyperlinkOf({ entered }: SheetCell): { hyperlink?: string } {
  const formula = entered && 'formulaValue' in entered ? entered.formulaValue : ''
  const address = /^=\s*HYPERLINK\(\s*"((?:[^"]|"")*)"/i.exec(formula)?.[1]
  return address === undefined ? {} : { hyperlink: address.replaceAll('""', '"') }
}

function alignmentOf(value: object | undefined): 'RIGHT' | 'CENTER' | 'LEFT' {
  if (value && 'numberValue' in value) return 'RIGHT'
  return value && ('boolValue' in value || 'errorValue' in value) ? 'CENTER' : 'LEFT'
}

/** Nobody changes an answer: cells without a format of their own share theirs. */
const plainFormats = {
  RIGHT: plainCellFormat('RIGHT'),
  CENTER: plainCellFormat('CENTER'),
  LEFT: plainCellFormat('LEFT'),
}

function effectiveFormat(
  { format = {} }: SheetCell,
  value: object | undefined,
  numberFormat: NumberFormat | undefined,
): JsonObject {
  const brought = numberFormat && !format.numberFormat ? { numberFormat: { ...numberFormat } } : {}
  if (Object.keys(format).length === 0 && !numberFormat) return plainFormats[alignmentOf(value)]
  return merged(plainCellFormat(alignmentOf(value)), { ...format, ...brought })
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
