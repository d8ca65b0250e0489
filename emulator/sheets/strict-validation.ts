import { cellName, quoteTitle } from './a1.ts'
import { CellDisplay } from './cells/cell-display.ts'
import { invalidArgument } from './google-error.ts'
import {
  type EffectiveValue,
  isJsonObject,
  type Json,
  type JsonObject,
  type Sheet,
  type SheetCell,
  type Spreadsheet,
} from './model.ts'
import { resolveA1 } from './resolve-range.ts'

/**
 * Whether Google holds strict rules against writes of the API is not known (docs/google.md#strict-validation): off
 * unless asked for. The sentence is that of the browser and of Apps Script.
 */
export function refuseInvalid(before: Spreadsheet, draft: Spreadsheet): void {
  const old = new Set<unknown>()
  for (const sheet of before.sheets) {
    for (const row of sheet.rows) for (const cell of row) if (cell?.entered) old.add(cell.entered)
  }
  const display = new CellDisplay(draft)
  for (const sheet of draft.sheets) {
    sheet.rows.forEach((row, rowIndex) => {
      row.forEach((cell, column) => {
        // A value that was written is another object, even where it is the same value.
        if (!cell?.entered || old.has(cell.entered)) return
        if (isValid(draft, display, sheet, cell)) return
        const place = `${quoteTitle(sheet.title)}!${cellName(rowIndex, column)}`
        throw invalidArgument(
          `The data you entered in cell ${place} violates the data validation rules set on this cell.`,
        )
      })
    })
  }
}

function isValid(spreadsheet: Spreadsheet, display: CellDisplay, sheet: Sheet, cell: SheetCell): boolean {
  const rule = cell.extras?.dataValidation
  if (!isJsonObject(rule) || rule.strict !== true || !isJsonObject(rule.condition)) return true
  const value = display.effective(sheet, cell)
  const shown = display.formatted(sheet, cell) ?? ''
  const allowed = valuesOf(rule.condition)
  const type = String(rule.condition.type ?? '')
  if (type === 'ONE_OF_LIST') return allowed.includes(shown)
  if (type === 'ONE_OF_RANGE') return rangeHolds(spreadsheet, display, sheet, allowed[0] ?? '', shown)
  if (type === 'BOOLEAN') return allowed.length > 0 ? allowed.includes(shown) : isBoolean(value)
  if (type.startsWith('NUMBER_')) return numberFits(type, value, allowed.map(Number))
  if (type.startsWith('TEXT_')) return textFits(type, shown.toLowerCase(), allowed[0]?.toLowerCase() ?? '')
  if (type === 'DATE_IS_VALID') return value !== undefined && 'numberValue' in value
  return true
}

function valuesOf(condition: JsonObject): string[] {
  const values: Json[] = Array.isArray(condition.values) ? condition.values : []
  return values.map((value) => (isJsonObject(value) ? String(value.userEnteredValue ?? '') : ''))
}

function rangeHolds(
  spreadsheet: Spreadsheet,
  display: CellDisplay,
  sheet: Sheet,
  reference: string,
  shown: string,
): boolean {
  const text = reference.replace(/^=/, '').replaceAll('$', '')
  const place = resolveA1(spreadsheet, text.includes('!') ? text : `${quoteTitle(sheet.title)}!${text}`)
  return place.sheet.rows
    .slice(place.area.startRow, place.area.endRow)
    .some((row) =>
      row
        .slice(place.area.startColumn, place.area.endColumn)
        .some((cell) => display.formatted(place.sheet, cell) === shown),
    )
}

function isBoolean(value: EffectiveValue | undefined): boolean {
  return value !== undefined && 'boolValue' in value
}

function numberFits(type: string, value: EffectiveValue | undefined, [low = 0, high = 0]: number[]): boolean {
  if (!value || !('numberValue' in value)) return false
  const { numberValue: number } = value
  const verdicts: Record<string, boolean> = {
    NUMBER_GREATER: number > low,
    NUMBER_GREATER_THAN_EQ: number >= low,
    NUMBER_LESS: number < low,
    NUMBER_LESS_THAN_EQ: number <= low,
    NUMBER_EQ: number === low,
    NUMBER_NOT_EQ: number !== low,
    NUMBER_BETWEEN: number >= low && number <= high,
    NUMBER_NOT_BETWEEN: number < low || number > high,
  }
  return verdicts[type] ?? true
}

function textFits(type: string, text: string, wanted: string): boolean {
  const verdicts: Record<string, boolean> = {
    TEXT_CONTAINS: text.includes(wanted),
    TEXT_NOT_CONTAINS: !text.includes(wanted),
    TEXT_EQ: text === wanted,
    TEXT_IS_EMAIL: /^[^\s@]+@[^\s@]+\.[^\s@]+$/.test(text),
    TEXT_IS_URL: URL.canParse(text),
  }
  return verdicts[type] ?? true
}
