import type { Cell, Grid } from '../../../sheets/rows/grid.ts'
import { fieldsOf, listOf, textOf } from '../../remote/json-fields.ts'
import { shortError } from './google-decode.ts'
import { createRangeCheck, type RowRange } from './row-ranges.ts'
import { serialText } from './serial-text.ts'
import { shownAs } from './shown-kind.ts'

/** Some rows of a tab, cell by cell: what values alone do not tell, all of one moment. */
export interface TabView {
  title: string
  rowCount: number
  columnCount: number
  frozenRowCount: number
  /** Blank where nothing is; means something only for rows that were asked for. */
  row(rowNumber: number): readonly SeenCell[]
}

export interface SeenCell {
  /** As a typed read gives it (docs/contract.md#values). */
  value: Cell
  /** The same, but for a date: its number. */
  raw: Cell
  /** A formula, or a cell that a formula elsewhere fills: its value may change without anyone touching it. */
  isFormula: boolean
  /** A number in it would be shown, and so be read, as a date or time. */
  isDateFormat: boolean
  /** Its own format, as Google writes it; null where it has none. */
  numberFormat: Record<string, unknown> | null
}

/** Of a Spreadsheet resource: all that `readTabView` needs. */
export const tabViewFields =
  'sheets(properties(sheetId,title,gridProperties(rowCount,columnCount,frozenRowCount)),' +
  'data(startRow,rowData(values(userEnteredValue,effectiveValue,formattedValue,' +
  'userEnteredFormat(numberFormat),effectiveFormat(numberFormat(type))))))'

/** The same without what only a write must know. */
export const tabCellFields =
  'sheets(properties(sheetId,gridProperties(rowCount,columnCount)),' +
  'data(startRow,rowData(values(effectiveValue,formattedValue,effectiveFormat(numberFormat(type))))))'

/** null when it is not what was asked for. */
export function readTabView(spreadsheet: unknown, tabId: number): TabView | null {
  const sheet = sheetIn(spreadsheet, tabId)
  const properties = fieldsOf(sheet?.properties)
  const title = textOf(properties.title)
  const { rowCount, columnCount, frozenRowCount } = fieldsOf(properties.gridProperties)
  if (title === null || typeof rowCount !== 'number' || typeof columnCount !== 'number') return null
  const rows = rowsIn(sheet)
  return {
    title,
    rowCount,
    columnCount,
    frozenRowCount: typeof frozenRowCount === 'number' ? frozenRowCount : 0,
    row: (rowNumber) => rows.get(rowNumber) ?? [],
  }
}

/** By row number; null when it is not what was asked for. */
export function cellsOfTab(spreadsheet: unknown, tabId: number): ReadonlyMap<number, SeenCell[]> | null {
  const sheet = sheetIn(spreadsheet, tabId)
  return sheet ? rowsIn(sheet) : null
}

function sheetIn(spreadsheet: unknown, tabId: number): Record<string, unknown> | undefined {
  return listOf(fieldsOf(spreadsheet).sheets)
    .map(fieldsOf)
    .find(({ properties }) => (fieldsOf(properties).sheetId ?? 0) === tabId)
}

function rowsIn(sheet: Record<string, unknown> | undefined): Map<number, SeenCell[]> {
  const rows = new Map<number, SeenCell[]>()
  for (const data of listOf(sheet?.data).map(fieldsOf)) {
    // Left out when it is 0.
    const startRow = typeof data.startRow === 'number' ? data.startRow : 0
    listOf(data.rowData).forEach((row, at) => {
      rows.set(startRow + at + 1, listOf(fieldsOf(row).values).map(seenCell))
    })
  }
  return rows
}

const dateTypes = new Set<unknown>(['DATE', 'TIME', 'DATE_TIME'])

function seenCell(data: unknown): SeenCell {
  const { userEnteredValue, effectiveValue, formattedValue, userEnteredFormat, effectiveFormat } =
    fieldsOf(data)
  const own = fieldsOf(userEnteredFormat).numberFormat
  const type = fieldsOf(fieldsOf(effectiveFormat).numberFormat).type
  const shown = textOf(formattedValue) ?? ''
  const isDateFormat = dateTypes.has(type)
  const raw = rawValue(fieldsOf(effectiveValue), shown)
  const isDate = isDateFormat && typeof raw === 'number' && shown !== ''
  return {
    value: isDate ? serialText(raw, shownAs(raw, shown).kind) : raw,
    raw,
    isFormula: isComputed(userEnteredValue, effectiveValue),
    isDateFormat,
    numberFormat: own === undefined ? null : fieldsOf(own),
  }
}

function isComputed(entered: unknown, effective: unknown): boolean {
  return entered === undefined ? effective !== undefined : fieldsOf(entered).formulaValue !== undefined
}

function rawValue(effective: Record<string, unknown>, shown: string): Cell {
  const { numberValue, boolValue, stringValue, errorValue } = effective
  if (typeof numberValue === 'number') return numberValue
  if (typeof boolValue === 'boolean') return boolValue
  if (typeof stringValue === 'string') return stringValue === '' ? null : shortError(stringValue)
  if (errorValue !== undefined) return shown === '' ? '#ERROR!' : shortError(shown)
  return null
}

export function valuesOf(cells: readonly SeenCell[]): Cell[] {
  return cells.map(({ value }) => value)
}

export function isBlankRow(cells: readonly SeenCell[]): boolean {
  return cells.every(({ value }) => value === null)
}

/** What is held against another view must not show more than that does. */
export function onlyRowsOf(view: TabView, ranges: readonly RowRange[]): TabView {
  const isWithin = createRangeCheck(ranges)
  return { ...view, row: (rowNumber) => (isWithin(rowNumber, rowNumber) ? view.row(rowNumber) : []) }
}

/** Of a view of all rows. */
export function gridOf({ rowCount, row }: TabView): Grid {
  const rows = Array.from({ length: rowCount }, (_, at) => valuesOf(row(at + 1)))
  return { rows: rows.slice(0, rows.findLastIndex((cells) => cells.some((cell) => cell !== null)) + 1) }
}
