import { merge, readFields } from '../cells/cell-fields.ts'
import { invalidArgument } from '../google-error.ts'
import { cellAt, type JsonObject, putCell, type Sheet, type Spreadsheet } from '../model.ts'
import { placeOfGridRange, sheetById } from '../resolve-range.ts'
import { areaJson } from '../spreadsheet/grid-range-json.ts'
import { listOf } from './attachment-requests.ts'
import { forEachCell } from './cell-requests.ts'
import { objectIn, type RequestContext, type RequestHandler } from './request.ts'

/** What changes how rows are shown and nothing of what they hold: filters, views of them, bands and borders. */
export const filterRequests: Record<string, RequestHandler> = {
  setBasicFilter({ draft }, request) {
    const filter = objectIn(request, 'filter') as JsonObject
    const { sheet } = placeOfGridRange(draft, filter.range)
    sheet.attachments.basicFilter = { ...filter, range: wholeRangeOf(draft, filter.range) }
    return {}
  },

  clearBasicFilter({ draft }, request) {
    delete sheetById(draft, request.sheetId).attachments.basicFilter
    return {}
  },

  addFilterView(context, request) {
    const filter = added(context, objectIn(request, 'filter') as JsonObject, filterViews)
    return { addFilterView: { filter } }
  },

  duplicateFilterView(context, request) {
    const { one } = found(context.draft, filterViews, request.filterId)
    const { filterViewId: _id, ...rest } = one
    const filter = added(context, { ...rest, title: `Copy of ${String(one.title ?? '')}` }, filterViews)
    return { duplicateFilterView: { filter } }
  },

  updateFilterView: ({ draft }, request) =>
    updated(draft, objectIn(request, 'filter') as JsonObject, request.fields, filterViews),

  deleteFilterView: ({ draft }, request) => removed(draft, filterViews, request.filterId),

  addBanding(context, request) {
    const bandedRange = added(context, objectIn(request, 'bandedRange') as JsonObject, bandedRanges)
    return { addBanding: { bandedRange } }
  },

  updateBanding: ({ draft }, request) =>
    updated(draft, objectIn(request, 'bandedRange') as JsonObject, request.fields, bandedRanges),

  deleteBanding: ({ draft }, request) => removed(draft, bandedRanges, request.bandedRangeId),

  updateBorders({ draft }, request) {
    const { sheet, area } = placeOfGridRange(draft, request.range)
    forEachCell(area, (row, column) => {
      const sides: JsonObject = {}
      const side = (name: string, border: unknown) => {
        if (border !== undefined) sides[name] = border as JsonObject
      }
      side('top', row === area.startRow ? request.top : request.innerHorizontal)
      side('bottom', row === area.endRow - 1 ? request.bottom : request.innerHorizontal)
      side('left', column === area.startColumn ? request.left : request.innerVertical)
      side('right', column === area.endColumn - 1 ? request.right : request.innerVertical)
      if (Object.keys(sides).length === 0) return
      const cell = cellAt(sheet, row, column)
      const borders = { ...(cell?.format?.borders as JsonObject | undefined), ...sides }
      putCell(sheet, row, column, { ...cell, format: { ...cell?.format, borders } })
    })
    return {}
  },
}

/** A list of a sheet whose members have an id and a range. */
interface Kind {
  list: string
  id: string
  words: string
}

const filterViews: Kind = { list: 'filterViews', id: 'filterViewId', words: 'filter view' }
const bandedRanges: Kind = { list: 'bandedRanges', id: 'bandedRangeId', words: 'banded range' }

function added({ draft, newId }: RequestContext, given: JsonObject, { list, id }: Kind): JsonObject {
  const { sheet } = placeOfGridRange(draft, given.range)
  const range = wholeRangeOf(draft, given.range)
  const one = { ...given, [id]: typeof given[id] === 'number' ? given[id] : newId(), range }
  listOf(sheet, list).push(one)
  return one
}

function updated(draft: Spreadsheet, given: JsonObject, fields: unknown, kind: Kind): Record<string, never> {
  const { all, at, one } = found(draft, kind, given[kind.id])
  const next = { ...one, ...merge(one, given, readFields(fields)) }
  all[at] = { ...next, range: wholeRangeOf(draft, next.range) }
  return {}
}

function removed(draft: Spreadsheet, kind: Kind, id: unknown): Record<string, never> {
  const { sheet, all, at } = found(draft, kind, id)
  all.splice(at, 1)
  if (all.length === 0) delete sheet.attachments[kind.list]
  return {}
}

function found(
  draft: Spreadsheet,
  { list, id, words }: Kind,
  wanted: unknown,
): { sheet: Sheet; all: JsonObject[]; at: number; one: JsonObject } {
  for (const sheet of draft.sheets) {
    if (sheet.attachments[list] === undefined) continue
    const all = listOf(sheet, list)
    const at = all.findIndex((candidate) => candidate[id] === wanted)
    const one = all[at]
    if (one) return { sheet, all, at, one }
  }
  throw invalidArgument(`No ${words} with id: ${String(wanted)}`)
}

/** All four sides, also those that were left open. */
function wholeRangeOf(draft: Spreadsheet, range: unknown): JsonObject {
  const { sheet, area } = placeOfGridRange(draft, range)
  return areaJson(sheet.sheetId, area)
}
