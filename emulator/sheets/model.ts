/** What a spreadsheet is made of. Cells and rows are never changed in place: a write replaces them. */

export type Json = null | boolean | number | string | Json[] | { [key: string]: Json }
export type JsonObject = { [key: string]: Json }

export type EnteredValue =
  | { numberValue: number }
  | { stringValue: string }
  | { boolValue: boolean }
  | { formulaValue: string }

export interface SheetCell {
  readonly entered?: EnteredValue
  /** The result of a formula that was given rather than computed. */
  readonly given?: EffectiveValue
  readonly format?: JsonObject
  readonly note?: string
  /** Everything else of CellData that is only kept and given back. */
  readonly extras?: JsonObject
}

export type EffectiveValue =
  | { numberValue: number }
  | { stringValue: string }
  | { boolValue: boolean }
  | { errorValue: { type: string; message?: string } }

export type SheetRow = readonly (SheetCell | undefined)[]

export type Dimension = 'ROWS' | 'COLUMNS'

/** Half-open and zero-based, always inside its sheet. */
export interface Area {
  startRow: number
  endRow: number
  startColumn: number
  endColumn: number
}

export interface Sheet {
  sheetId: number
  title: string
  sheetType: string
  rowCount: number
  columnCount: number
  /** May be shorter than rowCount; missing rows are empty. */
  rows: SheetRow[]
  hidden: boolean
  /** frozenRowCount and its kin, tabColor, rightToLeft: kept as Google shows them. */
  gridProperties: JsonObject
  otherProperties: JsonObject
  merges: Area[]
  /** Further members of the Sheet resource (protectedRanges, basicFilter, rowGroups …), as given back. */
  attachments: JsonObject
  rowProperties: JsonObject[]
  columnProperties: JsonObject[]
}

export interface NamedRange {
  namedRangeId: string
  name: string
  range: JsonObject
}

export type MetadataPlace =
  | { kind: 'SPREADSHEET' }
  | { kind: 'SHEET'; sheetId: number }
  | { kind: Dimension; sheetId: number; startIndex: number; endIndex: number }

export interface DeveloperMetadata {
  metadataId: number
  metadataKey: string
  metadataValue?: string
  visibility: string
  place: MetadataPlace
  /** PROJECT visibility hides it from tokens of other projects; the emulator has one project. */
}

export interface Spreadsheet {
  spreadsheetId: string
  owner: string
  properties: JsonObject
  sheets: Sheet[]
  namedRanges: NamedRange[]
  metadata: DeveloperMetadata[]
}

/** A draft whose changes reach nobody until it replaces the original. */
export function draftOf(spreadsheet: Spreadsheet): Spreadsheet {
  return {
    ...spreadsheet,
    properties: structuredClone(spreadsheet.properties),
    sheets: spreadsheet.sheets.map(copyOfSheet),
    namedRanges: structuredClone(spreadsheet.namedRanges),
    metadata: structuredClone(spreadsheet.metadata),
  }
}

export function copyOfSheet(sheet: Sheet): Sheet {
  return {
    ...sheet,
    rows: sheet.rows.slice(),
    gridProperties: structuredClone(sheet.gridProperties),
    otherProperties: structuredClone(sheet.otherProperties),
    merges: structuredClone(sheet.merges),
    attachments: structuredClone(sheet.attachments),
    rowProperties: sheet.rowProperties.slice(),
    columnProperties: sheet.columnProperties.slice(),
  }
}

export function newSheet(sheetId: number, title: string, rowCount = 1000, columnCount = 26): Sheet {
  return {
    sheetId,
    title,
    sheetType: 'GRID',
    rowCount,
    columnCount,
    rows: [],
    hidden: false,
    gridProperties: {},
    otherProperties: {},
    merges: [],
    attachments: {},
    rowProperties: [],
    columnProperties: [],
  }
}

export function cellAt(sheet: Sheet, row: number, column: number): SheetCell | undefined {
  return sheet.rows[row]?.[column]
}

export function putCell(sheet: Sheet, row: number, column: number, cell: SheetCell | undefined): void {
  const old = sheet.rows[row]
  if (!cell && !old?.[column]) return
  while (sheet.rows.length <= row) sheet.rows.push([])
  const next = old ? old.slice() : []
  while (next.length < column) next.push(undefined)
  next[column] = cell && Object.keys(cell).length > 0 ? cell : undefined
  sheet.rows[row] = next
}

export function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

export function isJsonObject(value: Json | undefined): value is JsonObject {
  return isObject(value)
}
