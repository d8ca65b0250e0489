import { type A1Range, parseCells } from './a1.ts'
import { type GoogleError, invalidArgument } from './google-error.ts'
import { type Area, isJsonObject, type Json, type JsonObject, type Sheet, type Spreadsheet } from './model.ts'
import type { Place } from './resolve-range.ts'

/** Cells that a user may not change, but for those of `open`. Infinite where the protection has no bound. */
export interface ClosedArea {
  closed: Area
  open: Area[]
}

export function protectedRangesOf(sheet: Sheet): JsonObject[] {
  const list = sheet.attachments.protectedRanges
  return Array.isArray(list) ? list.filter(isJsonObject) : []
}

/** The owner always may; a range that only warns stops nobody at the API. */
export function mayEdit(range: JsonObject, owner: string, user: string): boolean {
  if (range.warningOnly === true || user === owner) return true
  const editors = isJsonObject(range.editors) ? range.editors : {}
  const users = Array.isArray(editors.users) ? editors.users : []
  return users.includes(user) || (editors.domainUsersCanEdit === true && domainOf(user) === domainOf(owner))
}

function domainOf(address: string): string {
  return address.slice(address.indexOf('@') + 1)
}

export function closedTo(spreadsheet: Spreadsheet, sheet: Sheet, user: string): ClosedArea[] {
  return protectedRangesOf(sheet)
    .filter((range) => !mayEdit(range, spreadsheet.owner, user))
    .map((range) => ({
      closed: boundsOf(rangeOf(spreadsheet, range)),
      open: Array.isArray(range.unprotectedRanges) ? range.unprotectedRanges.map(boundsOf) : [],
    }))
}

function rangeOf(spreadsheet: Spreadsheet, range: JsonObject): Json | undefined {
  if (range.namedRangeId === undefined) return range.range
  return spreadsheet.namedRanges.find((named) => named.namedRangeId === range.namedRangeId)?.range
}

function boundsOf(range: Json | undefined): Area {
  const given = isJsonObject(range) ? range : {}
  const bound = (name: string, otherwise: number) => {
    const value = given[name]
    return typeof value === 'number' ? value : otherwise
  }
  return {
    startRow: bound('startRowIndex', -Infinity),
    endRow: bound('endRowIndex', Infinity),
    startColumn: bound('startColumnIndex', -Infinity),
    endColumn: bound('endColumnIndex', Infinity),
  }
}

/** An area without height or width stands for an insertion there: it hits only what it would tear apart. */
export function isClosed(areas: ClosedArea[], area: Area): boolean {
  return areas.some(({ closed, open }) => overlap(closed, area) && !open.some((one) => contains(one, area)))
}

export function refuseProtected(spreadsheet: Spreadsheet, { sheet, area }: Place, user: string): void {
  if (isClosed(closedTo(spreadsheet, sheet, user), area)) throw protectedCell()
}

export function protectedCell(): GoogleError {
  return invalidArgument(
    'You are trying to edit a protected cell or object. Please contact the spreadsheet owner to remove protection if you need to edit.',
  )
}

/** The ProtectedRange resource: who may not edit does not learn who may. */
export function protectedRangeJson(range: JsonObject, owner: string, user: string): JsonObject {
  const { editors, ...shown } = range
  if (!mayEdit(range, owner, user)) return shown
  return { ...shown, requestingUserCanEdit: true, ...(editors !== undefined && { editors }) }
}

/** A GridRange for `B2:C5` or `B:B` on a tab; undefined where the text is no range. */
export function gridRangeOfCells(sheet: Sheet, text: string): JsonObject | undefined {
  const cells: A1Range | undefined = parseCells(text)
  if (!cells) return undefined
  const { startRow, endRow, startColumn, endColumn } = cells
  return {
    ...(sheet.sheetId !== 0 && { sheetId: sheet.sheetId }),
    ...(startRow !== undefined && { startRowIndex: startRow }),
    ...(endRow !== undefined && { endRowIndex: endRow + 1 }),
    ...(startColumn !== undefined && { startColumnIndex: startColumn }),
    ...(endColumn !== undefined && { endColumnIndex: endColumn + 1 }),
  }
}

function overlap(one: Area, other: Area): boolean {
  return (
    one.startRow < other.endRow &&
    other.startRow < one.endRow &&
    one.startColumn < other.endColumn &&
    other.startColumn < one.endColumn
  )
}

function contains(outer: Area, inner: Area): boolean {
  return (
    outer.startRow <= inner.startRow &&
    inner.endRow <= outer.endRow &&
    outer.startColumn <= inner.startColumn &&
    inner.endColumn <= outer.endColumn
  )
}
