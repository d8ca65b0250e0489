import { invalidArgument } from '../google-error.ts'
import type { JsonObject } from '../model.ts'
import { listOf } from './attachment-requests.ts'
import { type Lines, readLines } from './dimension-requests.ts'
import { objectIn, type RequestHandler } from './request.ts'

export const groupRequests: Record<string, RequestHandler> = {
  addDimensionGroup({ draft }, request) {
    const lines = readLines(draft, objectIn(request, 'range'))
    const groups = groupsOf(lines)
    const depth = 1 + groups.filter((group) => covers(group, lines)).length
    groups.push({ range: rangeJson(lines), depth })
    return { addDimensionGroup: { dimensionGroups: structuredClone(groups) } }
  },

  deleteDimensionGroup({ draft }, request) {
    const lines = readLines(draft, objectIn(request, 'range'))
    const groups = groupsOf(lines)
    const at = groups.findLastIndex((group) => covers(group, lines))
    if (at < 0) throw invalidArgument('There are no groups over the given range.')
    groups.splice(at, 1)
    const name = lines.dimension === 'ROWS' ? 'rowGroups' : 'columnGroups'
    if (groups.length === 0) delete lines.sheet.attachments[name]
    return { deleteDimensionGroup: groups.length > 0 ? { dimensionGroups: structuredClone(groups) } : {} }
  },
}

function groupsOf(lines: Lines): JsonObject[] {
  return listOf(lines.sheet, lines.dimension === 'ROWS' ? 'rowGroups' : 'columnGroups')
}

function rangeJson({ sheet, dimension, start, end }: Lines): JsonObject {
  return {
    ...(sheet.sheetId !== 0 && { sheetId: sheet.sheetId }),
    dimension,
    startIndex: start,
    endIndex: end,
  }
}

function covers(group: JsonObject, lines: Lines): boolean {
  const range = group.range as JsonObject
  return Number(range.startIndex) <= lines.start && lines.end <= Number(range.endIndex)
}
