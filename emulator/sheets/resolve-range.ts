import { type A1Range, cellName, columnLetters, parseA1, parseCells, quoteTitle } from './a1.ts'
import { invalidArgument } from './google-error.ts'
import { type Area, isObject, type Sheet, type Spreadsheet } from './model.ts'

export interface Place {
  sheet: Sheet
  area: Area
}

/** The sheet and cells an A1 range stands for, clamped to the grid as Google clamps it. */
export function resolveA1(spreadsheet: Spreadsheet, text: string): Place {
  const parsed = parseA1(text)
  if (!parsed) throw unparsable(text)
  const sheet =
    parsed.sheet === undefined
      ? firstVisible(spreadsheet)
      : spreadsheet.sheets.find((candidate) => sameTitle(candidate.title, parsed.sheet))
  if (!sheet) throw unparsable(text)
  if (parsed.name !== undefined) return resolveName(spreadsheet, parsed, text)
  return { sheet, area: inGrid(sheet, parsed) }
}

function resolveName(spreadsheet: Spreadsheet, parsed: A1Range, text: string): Place {
  const named = spreadsheet.namedRanges.find((candidate) => sameTitle(candidate.name, parsed.name))
  if (named) return placeOfGridRange(spreadsheet, named.range)
  const tab =
    parsed.sheet === undefined && spreadsheet.sheets.find((one) => sameTitle(one.title, parsed.name))
  if (!tab) throw unparsable(text)
  return { sheet: tab, area: inGrid(tab, {}) }
}

function inGrid(sheet: Sheet, range: A1Range): Area {
  const startRow = range.startRow ?? 0
  const startColumn = range.startColumn ?? 0
  if (startRow >= sheet.rowCount || startColumn >= sheet.columnCount) {
    throw exceedsGrid(sheet, echoOf(sheet, range))
  }
  return {
    startRow,
    startColumn,
    endRow: Math.min((range.endRow ?? sheet.rowCount - 1) + 1, sheet.rowCount),
    endColumn: Math.min((range.endColumn ?? sheet.columnCount - 1) + 1, sheet.columnCount),
  }
}

/** The range as asked for, in Google's spelling: open ends stay open. */
function echoOf(sheet: Sheet, range: A1Range): string {
  const start = corner(range.startRow, range.startColumn)
  const end = corner(range.endRow, range.endColumn)
  const single = start === end && range.startRow !== undefined && range.startColumn !== undefined
  return `${quoteTitle(sheet.title)}!${single ? start : `${start}:${end}`}`
}

function corner(row: number | undefined, column: number | undefined): string {
  return (column === undefined ? '' : columnLetters(column)) + (row === undefined ? '' : String(row + 1))
}

export function exceedsGrid(sheet: Sheet, range: string): Error {
  return invalidArgument(
    `Range (${range}) exceeds grid limits. Max rows: ${sheet.rowCount}, max columns: ${sheet.columnCount}`,
  )
}

export function cellExceedsGrid(sheet: Sheet, row: number, column: number): Error {
  return exceedsGrid(sheet, `${quoteTitle(sheet.title)}!${cellName(row, column)}`)
}

/** A GridRange of a batchUpdate request or a DataFilter: indexes, half-open, all but sheetId optional. */
export function placeOfGridRange(spreadsheet: Spreadsheet, range: unknown): Place {
  const given = isObject(range) ? range : {}
  const sheet = sheetById(spreadsheet, given.sheetId)
  const startRow = indexOr(given.startRowIndex, 0)
  const startColumn = indexOr(given.startColumnIndex, 0)
  const endRow = indexOr(given.endRowIndex, sheet.rowCount)
  const endColumn = indexOr(given.endColumnIndex, sheet.columnCount)
  if (startRow >= sheet.rowCount || startColumn >= sheet.columnCount) {
    const asked: A1Range = { startRow, startColumn }
    if (given.endRowIndex !== undefined) asked.endRow = endRow - 1
    if (given.endColumnIndex !== undefined) asked.endColumn = endColumn - 1
    throw exceedsGrid(sheet, echoOf(sheet, asked))
  }
  return {
    sheet,
    area: {
      startRow,
      startColumn,
      endRow: Math.min(endRow, sheet.rowCount),
      endColumn: Math.min(endColumn, sheet.columnCount),
    },
  }
}

export function indexOr(value: unknown, otherwise: number): number {
  return typeof value === 'number' && Number.isInteger(value) && value >= 0 ? value : otherwise
}

export function sheetById(spreadsheet: Spreadsheet, sheetId: unknown): Sheet {
  const wanted = typeof sheetId === 'number' ? sheetId : Number(sheetId ?? 0)
  const sheet = spreadsheet.sheets.find((candidate) => candidate.sheetId === wanted)
  if (!sheet) throw invalidArgument(`No grid with id: ${wanted}`)
  return sheet
}

export function firstVisible(spreadsheet: Spreadsheet): Sheet | undefined {
  return spreadsheet.sheets.find((sheet) => !sheet.hidden) ?? spreadsheet.sheets[0]
}

function sameTitle(title: string, asked: string | undefined): boolean {
  return asked !== undefined && title.toLowerCase() === asked.toLowerCase()
}

function unparsable(text: string): Error {
  return invalidArgument(`Unable to parse range: ${text}`)
}

export { parseCells }
