import { readFields } from '../cells/cell-fields.ts'
import { refuseTooManyCells } from '../cells/cell-limit.ts'
import { maskPaths } from '../fields-mask.ts'
import { invalidArgument } from '../google-error.ts'
import { copyOfSheet, type JsonObject, newSheet, type Sheet, type Spreadsheet } from '../model.ts'
import { indexOr } from '../resolve-range.ts'
import { sheetProperties } from '../spreadsheet/spreadsheet-json.ts'
import { objectIn, type RequestContext, type RequestHandler } from './request.ts'
import { applySheetProperties, refuseTitle } from './sheet-properties.ts'

export const sheetRequests: Record<string, RequestHandler> = {
  addSheet(context, request) {
    const { draft } = context
    const properties = objectIn(request, 'properties')
    const title = typeof properties.title === 'string' ? properties.title : freeTitle(draft)
    const sheet = newSheet(freeSheetId(context, properties.sheetId), title)
    refuseTitle(draft, sheet, title)
    draft.sheets.splice(indexOr(properties.index, draft.sheets.length), 0, sheet)
    const { index: _index, sheetId: _sheetId, title: _title, sheetType: _type, ...others } = properties
    applySheetProperties(draft, sheet, others, 'all')
    refuseTooManyCells(draft)
    return { addSheet: { properties: sheetProperties(draft, sheet) } }
  },

  deleteSheet({ draft }, request) {
    const sheet = knownSheet(draft, request.sheetId)
    if (draft.sheets.length === 1) throw invalidArgument("You can't remove all the sheets in a document.")
    if (!draft.sheets.some((one) => one !== sheet && !one.hidden)) {
      throw invalidArgument("You can't remove all the visible sheets in a document.")
    }
    draft.sheets = draft.sheets.filter((one) => one !== sheet)
    draft.metadata = draft.metadata.filter(
      ({ place }) => place.kind === 'SPREADSHEET' || place.sheetId !== sheet.sheetId,
    )
    draft.namedRanges = draft.namedRanges.filter(({ range }) => (range.sheetId ?? 0) !== sheet.sheetId)
    return {}
  },

  duplicateSheet(context, request) {
    const { draft } = context
    const source = knownSheet(draft, request.sourceSheetId)
    const title =
      typeof request.newSheetName === 'string' ? request.newSheetName : copyTitle(draft, source.title)
    const sheet = { ...copyOfSheet(source), sheetId: freeSheetId(context, request.newSheetId), title }
    refuseTitle(draft, sheet, title)
    draft.sheets.splice(indexOr(request.insertSheetIndex, 0), 0, sheet)
    refuseTooManyCells(draft)
    return { duplicateSheet: { properties: sheetProperties(draft, sheet) } }
  },

  updateSheetProperties({ draft }, request) {
    const properties = objectIn(request, 'properties')
    const mask = readFields(request.fields)
    applySheetProperties(draft, knownSheet(draft, properties.sheetId), properties, mask)
    refuseTooManyCells(draft)
    return {}
  },

  updateSpreadsheetProperties({ draft }, request) {
    const properties = objectIn(request, 'properties')
    for (const [name] of maskPaths(readFields(request.fields))) {
      if (name === undefined) Object.assign(draft.properties, properties)
      else if (name === 'title') draft.properties.title = newTitle(properties.title)
      else if (isKept(properties[name])) draft.properties[name] = properties[name]
    }
    return {}
  },
}

function isKept(value: unknown): value is string | JsonObject {
  return typeof value === 'string' || (typeof value === 'object' && value !== null)
}

function newTitle(title: unknown): string {
  if (typeof title === 'string' && title !== '') return title
  throw invalidArgument('The document title cannot be empty.')
}

function knownSheet(draft: Spreadsheet, sheetId: unknown): Sheet {
  const wanted = typeof sheetId === 'number' ? sheetId : Number(sheetId ?? 0)
  const sheet = draft.sheets.find((candidate) => candidate.sheetId === wanted)
  if (!sheet) throw invalidArgument(`No sheet with id: ${wanted}`)
  return sheet
}

function freeSheetId(context: RequestContext, wanted: unknown): number {
  if (typeof wanted !== 'number') return context.newId()
  if (context.draft.sheets.some((sheet) => sheet.sheetId === wanted)) {
    throw invalidArgument(`Sheet with id ${wanted} already exists.`)
  }
  return wanted
}

function freeTitle(draft: Spreadsheet): string {
  let number = draft.sheets.length + 1
  while (draft.sheets.some((sheet) => sheet.title === `Sheet${number}`)) number += 1
  return `Sheet${number}`
}

function copyTitle(draft: Spreadsheet, title: string): string {
  const taken = (candidate: string) => draft.sheets.some((sheet) => sheet.title === candidate)
  if (!taken(`Copy of ${title}`)) return `Copy of ${title}`
  let number = 2
  while (taken(`Copy of ${title} ${number}`)) number += 1
  return `Copy of ${title} ${number}`
}
