import { withBothColors } from '../cells/colors.ts'
import { type Mask, maskFor } from '../fields-mask.ts'
import { invalidArgument } from '../google-error.ts'
import { isObject, type Json, type JsonObject, type Sheet, type Spreadsheet } from '../model.ts'

const COLORS = ['tabColor', 'tabColorStyle']

/** Sets what the mask names; members the mask names but the request lacks go back to their default. */
export function applySheetProperties(
  draft: Spreadsheet,
  sheet: Sheet,
  properties: Record<string, unknown>,
  mask: Mask,
): void {
  const named = (name: string) =>
    mask === 'all' ? properties[name] !== undefined : maskFor(mask, name) !== undefined
  if (named('title')) {
    const title = typeof properties.title === 'string' ? properties.title : ''
    refuseTitle(draft, sheet, title)
    sheet.title = title
  }
  if (named('hidden')) sheet.hidden = properties.hidden === true
  if (draft.sheets.every((one) => one.hidden)) {
    throw invalidArgument("You can't hide all the sheets in a document.")
  }
  if (named('gridProperties')) {
    const given = isObject(properties.gridProperties) ? properties.gridProperties : {}
    applyGridProperties(sheet, given, maskFor(mask, 'gridProperties') ?? 'all')
    dropMetadataOutside(draft, sheet)
  }
  if (COLORS.some(named)) applyTabColor(sheet, properties)
  if (named('rightToLeft')) {
    if (properties.rightToLeft === true) sheet.otherProperties.rightToLeft = true
    else delete sheet.otherProperties.rightToLeft
  }
  if (named('index')) moveSheet(draft, sheet, properties.index)
}

export function refuseTitle(draft: Spreadsheet, sheet: Sheet, title: string): void {
  if (title === '') throw invalidArgument('The sheet name cannot be empty.')
  if (title.length > 100) throw invalidArgument('The sheet name cannot be greater than 100 characters.')
  const clash = draft.sheets.some((one) => one !== sheet && one.title.toLowerCase() === title.toLowerCase())
  if (clash) {
    throw invalidArgument(`A sheet with the name "${title}" already exists. Please enter another name.`)
  }
}

function applyGridProperties(sheet: Sheet, given: Record<string, unknown>, mask: Mask): void {
  const names = mask === 'all' ? Object.keys(given) : [...mask.keys()]
  for (const name of names) {
    const value = given[name]
    if (name === 'rowCount' || name === 'columnCount') resize(sheet, name, value)
    else if (value === undefined || value === 0 || value === false || value === null)
      delete sheet.gridProperties[name]
    else sheet.gridProperties[name] = value as Json
  }
  refuseFrozen(sheet, 'frozenRowCount', sheet.rowCount, 'rows')
  refuseFrozen(sheet, 'frozenColumnCount', sheet.columnCount, 'columns')
}

function dropMetadataOutside(draft: Spreadsheet, sheet: Sheet): void {
  const sizes = { ROWS: sheet.rowCount, COLUMNS: sheet.columnCount }
  draft.metadata = draft.metadata.filter(({ place }) => {
    if (place.kind === 'SPREADSHEET' || place.kind === 'SHEET' || place.sheetId !== sheet.sheetId) return true
    return place.endIndex <= sizes[place.kind]
  })
}

function refuseFrozen(sheet: Sheet, name: string, size: number, word: string): void {
  if (Number(sheet.gridProperties[name] ?? 0) >= size) {
    throw invalidArgument(`You can't freeze all visible ${word} on the sheet.`)
  }
}

function resize(sheet: Sheet, name: 'rowCount' | 'columnCount', value: unknown): void {
  const word = name === 'rowCount' ? 'rows' : 'columns'
  const size = typeof value === 'number' ? value : 0
  if (size < 1) throw invalidArgument(`You can't delete all the ${word} on the sheet.`)
  sheet[name] = size
  if (name === 'rowCount') {
    sheet.rows.length = Math.min(sheet.rows.length, size)
    sheet.rowProperties.length = Math.min(sheet.rowProperties.length, size)
  } else {
    sheet.rows = sheet.rows.map((row) => (row.length > size ? row.slice(0, size) : row))
    sheet.columnProperties.length = Math.min(sheet.columnProperties.length, size)
  }
}

function applyTabColor(sheet: Sheet, properties: Record<string, unknown>): void {
  const given: JsonObject = {}
  for (const name of COLORS) if (isObject(properties[name])) given[name] = properties[name] as JsonObject
  for (const name of COLORS) delete sheet.otherProperties[name]
  Object.assign(sheet.otherProperties, withBothColors(given))
}

/** The index counts places before the move: moving the first of three to the end needs 3. */
function moveSheet(draft: Spreadsheet, sheet: Sheet, index: unknown): void {
  const from = draft.sheets.indexOf(sheet)
  const to = typeof index === 'number' ? Math.min(index, draft.sheets.length) : 0
  if (to === from || to === from + 1) return
  draft.sheets.splice(from, 1)
  draft.sheets.splice(to > from ? to - 1 : to, 0, sheet)
}
