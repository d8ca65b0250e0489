import type { Cell, Grid } from '../../../sheets/rows/grid.ts'
import { fieldsOf, listOf, textOf } from '../../remote/json-fields.ts'
import { serialText } from './dates/serial-text.ts'
import { shownAs } from './dates/shown-kind.ts'
import { shortError } from './google-decode.ts'
import { createRangeCheck, type RowRange } from './row-ranges.ts'

/** Some rows of a tab, cell by cell: what values alone do not tell, all of one moment. */
export interface TabView {
  title: string
  rowCount: number
  columnCount: number
  frozenRowCount: number
  /** Blank where nothing is; means something only for rows that were asked for. */
  row(rowNumber: number): readonly SeenCell[]
}

/** A view in a form that threads can hand to each other. */
export interface TabCells extends Omit<TabView, 'row'> {
  rows: ReadonlyMap<number, readonly SeenCell[]>
}

export interface SeenCell {
  /** As a typed read gives it (docs/contract.md#values). */
  value: Cell
  /** The value, but for a date: its number. */
  raw: Cell
  /** A formula, or a cell that a formula elsewhere fills: its value may change without anyone touching it. */
  isFormula: boolean
  /** A number in it would be shown, and so be read, as a date or time. */
  isDateFormat: boolean
  /** Its own format, as Google writes it; null where it has none. */
  numberFormat: Record<string, unknown> | null
}

/** All that `readTabView` needs of a Spreadsheet resource. */
export const tabViewFields =
  'sheets(properties(sheetId,title,gridProperties(rowCount,columnCount,frozenRowCount)),' +
  'data(startRow,startColumn,rowData(values(userEnteredValue,effectiveValue,formattedValue,' +
  'userEnteredFormat(numberFormat),effectiveFormat(numberFormat(type))))))'

/** Those fields without what only a write must know. */
export const tabCellFields =
  'sheets(properties(sheetId,gridProperties(rowCount,columnCount)),' +
  'data(startRow,rowData(values(effectiveValue,formattedValue,effectiveFormat(numberFormat(type))))))'

/** null when it is not what was asked for. */
export function readTabView(spreadsheet: unknown, tabId: number): TabView | null {
  const sheet = sheetIn(spreadsheet, tabId)
  const size = sizeOf(sheet)
  if (!size) return null
  const told = new Map<number, RowData[]>()
  for (const row of rowDataIn(sheet)) {
    const known = told.get(row.rowNumber)
    if (known) known.push(row)
    else told.set(row.rowNumber, [row])
  }
  const seen = new Map<number, SeenCell[]>()
  return {
    ...size,
    // Each when it is asked for: hundreds of rows of hundreds of cells are not looked at in one go.
    row(rowNumber) {
      const known = seen.get(rowNumber)
      if (known) return known
      const cells = (told.get(rowNumber) ?? []).reduce(withCells, [])
      seen.set(rowNumber, cells)
      told.delete(rowNumber)
      return cells
    },
  }
}

/** Read from the answer in a millisecond or two. */
const cellsInATurn = 5_000

/** Has rows read from the answer, so that whoever goes through them all finds them read. */
export async function readRowsInTurns(view: TabView, ranges: readonly RowRange[]): Promise<void> {
  let cells = 0
  for (const { from, to } of ranges) {
    for (let rowNumber = from; rowNumber <= Math.min(to, view.rowCount); rowNumber++) {
      cells += view.row(rowNumber).length
      if (cells < cellsInATurn) continue
      cells = 0
      await new Promise(setImmediate)
    }
  }
}

export function viewOf({ rows, ...size }: TabCells): TabView {
  return { ...size, row: (rowNumber) => rows.get(rowNumber) ?? [] }
}

/** Some rows and one whole column, its cells by the number of their row; null when it is not what was asked for. */
export function readRowsAndColumn(
  spreadsheet: unknown,
  tabId: number,
  { ranges, columnIndex }: { ranges: readonly RowRange[]; columnIndex: number },
): { tab: TabCells; column: ReadonlyMap<number, SeenCell> } | null {
  const sheet = sheetIn(spreadsheet, tabId)
  const size = sizeOf(sheet)
  if (!size) return null
  const isWithin = createRangeCheck(ranges)
  const rows = rowsIn(sheet, (rowNumber) => isWithin(rowNumber, rowNumber))
  const column = new Map<number, SeenCell>()
  // What the rows have of it as well is the same cell of the same moment.
  for (const { rowNumber, firstColumn, values } of rowDataIn(sheet)) {
    const cell = values[columnIndex - firstColumn]
    if (cell !== undefined) column.set(rowNumber, rows.get(rowNumber)?.[columnIndex] ?? seenCell(cell))
  }
  return { tab: { ...size, rows }, column }
}

function sizeOf(sheet: Record<string, unknown> | undefined): Omit<TabView, 'row'> | null {
  const properties = fieldsOf(sheet?.properties)
  const title = textOf(properties.title)
  const { rowCount, columnCount, frozenRowCount } = fieldsOf(properties.gridProperties)
  if (title === null || typeof rowCount !== 'number' || typeof columnCount !== 'number') return null
  const frozen = typeof frozenRowCount === 'number' ? frozenRowCount : 0
  return { title, rowCount, columnCount, frozenRowCount: frozen }
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

/** Ranges may lie over each other: what one shows of a row is put beside what another does. */
function rowsIn(
  sheet: Record<string, unknown> | undefined,
  isWanted: (rowNumber: number) => boolean = () => true,
): Map<number, SeenCell[]> {
  const rows = new Map<number, SeenCell[]>()
  for (const { rowNumber, firstColumn, values } of rowDataIn(sheet)) {
    if (isWanted(rowNumber))
      rows.set(rowNumber, withCells(rows.get(rowNumber) ?? [], { firstColumn, values }))
  }
  return rows
}

function withCells(
  known: readonly SeenCell[],
  { firstColumn, values }: Pick<RowData, 'firstColumn' | 'values'>,
): SeenCell[] {
  if (known.length === 0 && firstColumn === 0) return values.map(seenCell)
  const length = Math.max(known.length, firstColumn + values.length)
  return Array.from({ length }, (_, at) =>
    at >= firstColumn && at < firstColumn + values.length
      ? seenCell(values[at - firstColumn])
      : (known[at] ?? seenCell({})),
  )
}

interface RowData {
  rowNumber: number
  /** By position, from 0. */
  firstColumn: number
  values: readonly unknown[]
}

function* rowDataIn(sheet: Record<string, unknown> | undefined): Generator<RowData> {
  for (const data of listOf(sheet?.data).map(fieldsOf)) {
    // Left out when they are 0.
    const startRow = typeof data.startRow === 'number' ? data.startRow : 0
    const firstColumn = typeof data.startColumn === 'number' ? data.startColumn : 0
    for (const [at, row] of listOf(data.rowData).entries()) {
      yield { rowNumber: startRow + at + 1, firstColumn, values: listOf(fieldsOf(row).values) }
    }
  }
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

/** The grid of a view of all rows. */
export function gridOf({ rowCount, row }: TabView): Grid {
  const rows = Array.from({ length: rowCount }, (_, at) => valuesOf(row(at + 1)))
  return { rows: rows.slice(0, rows.findLastIndex((cells) => cells.some((cell) => cell !== null)) + 1) }
}
