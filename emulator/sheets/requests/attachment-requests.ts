import { merge, readFields } from '../cells/cell-fields.ts'
import { invalidArgument } from '../google-error.ts'
import { isJsonObject, isObject, type JsonObject, type Sheet, type Spreadsheet } from '../model.ts'
import { mayEdit, protectedCell, protectedRangeJson } from '../protection.ts'
import { placeOfGridRange, sheetById } from '../resolve-range.ts'
import { objectIn, type RequestHandler } from './request.ts'

/** Named and protected ranges, filters, banding and rules: kept and given back. Only protections are acted on. */
export const attachmentRequests: Record<string, RequestHandler> = {
  addNamedRange({ draft, newId }, request) {
    const given = objectIn(request, 'namedRange')
    const name = String(given.name ?? '')
    if (!/^[\p{L}_][\p{L}\p{N}_]*$/u.test(name)) throw invalidArgument(`Invalid name: ${name}`)
    if (draft.namedRanges.some((one) => one.name.toLowerCase() === name.toLowerCase())) {
      throw invalidArgument(`A named range with the name "${name}" already exists.`)
    }
    const namedRangeId = typeof given.namedRangeId === 'string' ? given.namedRangeId : String(newId())
    const namedRange = { namedRangeId, name, range: rangeOf(draft, given.range) }
    draft.namedRanges.push(namedRange)
    return { addNamedRange: { namedRange } }
  },

  updateNamedRange({ draft }, request) {
    const given = objectIn(request, 'namedRange')
    const named = namedById(draft, given.namedRangeId)
    const mask = readFields(request.fields)
    if ((mask === 'all' || mask.has('name')) && typeof given.name === 'string') named.name = given.name
    if ((mask === 'all' || mask.has('range')) && given.range !== undefined)
      named.range = rangeOf(draft, given.range)
    return {}
  },

  deleteNamedRange({ draft }, request) {
    const named = namedById(draft, request.namedRangeId)
    draft.namedRanges = draft.namedRanges.filter((one) => one !== named)
    return {}
  },

  addProtectedRange({ draft, user, newId }, request) {
    const given = objectIn(request, 'protectedRange') as JsonObject
    const range = given.range === undefined ? undefined : rangeOf(draft, given.range)
    const place = range ?? draft.namedRanges.find((one) => one.namedRangeId === given.namedRangeId)?.range
    const sheet = sheetById(draft, place?.sheetId)
    const warning = given.warningOnly === true
    const protectedRange: JsonObject = {
      protectedRangeId: typeof given.protectedRangeId === 'number' ? given.protectedRangeId : newId(),
      ...given,
      ...(range && { range }),
      ...(!warning && { editors: withUsers(given.editors, [draft.owner, user]) }),
    }
    listOf(sheet, 'protectedRanges').push(protectedRange)
    return {
      addProtectedRange: { protectedRange: protectedRangeJson(protectedRange, draft.owner, user) },
    }
  },

  updateProtectedRange({ draft, user }, request) {
    const given = objectIn(request, 'protectedRange') as JsonObject
    const { list, at, range } = protectedById(draft, given.protectedRangeId)
    if (!mayEdit(range, draft.owner, user)) throw protectedCell()
    const { requestingUserCanEdit: _can, ...next } = {
      ...range,
      ...merge(range, given, readFields(request.fields)),
    }
    list[at] =
      next.editors === undefined ? next : { ...next, editors: withUsers(next.editors, [draft.owner]) }
    return {}
  },

  deleteProtectedRange({ draft, user }, request) {
    const { list, at, sheet, range } = protectedById(draft, request.protectedRangeId)
    if (!mayEdit(range, draft.owner, user)) throw protectedCell()
    list.splice(at, 1)
    if (list.length === 0) delete sheet.attachments.protectedRanges
    return {}
  },

  addConditionalFormatRule({ draft }, request) {
    const rule = objectIn(request, 'rule') as JsonObject
    const first = Array.isArray(rule.ranges) ? rule.ranges[0] : undefined
    const sheet = sheetById(draft, isJsonObject(first) ? first.sheetId : 0)
    listOf(sheet, 'conditionalFormats').splice(Number(request.index ?? 0), 0, rule)
    return {}
  },

  updateConditionalFormatRule({ draft }, request) {
    const given = isObject(request.rule) ? (request.rule as JsonObject) : undefined
    const first = Array.isArray(given?.ranges) ? given.ranges[0] : undefined
    const sheetId = request.sheetId ?? (isJsonObject(first ?? null) ? (first as JsonObject).sheetId : 0)
    const list = listOf(sheetById(draft, sheetId), 'conditionalFormats')
    const oldIndex = Number(request.index ?? 0)
    const [oldRule] = list.splice(oldIndex, 1)
    if (!oldRule)
      throw invalidArgument(`No conditional format on sheet: ${String(sheetId)} at index: ${oldIndex}`)
    const newIndex = given ? oldIndex : Number(request.newIndex ?? 0)
    const newRule = given ?? oldRule
    list.splice(newIndex, 0, newRule)
    return { updateConditionalFormatRule: { newRule, newIndex, oldRule, oldIndex } }
  },

  deleteConditionalFormatRule({ draft }, request) {
    const sheet = sheetById(draft, request.sheetId)
    const list = listOf(sheet, 'conditionalFormats')
    const [rule] = list.splice(Number(request.index ?? 0), 1)
    if (!rule)
      throw invalidArgument(
        `No conditional format on sheet: ${sheet.sheetId} at index: ${request.index ?? 0}`,
      )
    if (list.length === 0) delete sheet.attachments.conditionalFormats
    return { deleteConditionalFormatRule: { rule } }
  },
}

/** The range as Google gives it back: checked, and without the sheet id of the first sheet. */
export function rangeOf(draft: Spreadsheet, range: unknown): JsonObject {
  const { sheet } = placeOfGridRange(draft, range)
  const { sheetId: _sheetId, ...bounds } = (isObject(range) ? range : {}) as JsonObject
  return sheet.sheetId === 0 ? bounds : { sheetId: sheet.sheetId, ...bounds }
}

function namedById(draft: Spreadsheet, id: unknown): Spreadsheet['namedRanges'][number] {
  const named = draft.namedRanges.find((one) => one.namedRangeId === id)
  if (!named) throw invalidArgument(`No named range with id: ${String(id)}`)
  return named
}

function protectedById(
  draft: Spreadsheet,
  id: unknown,
): { sheet: Sheet; list: JsonObject[]; at: number; range: JsonObject } {
  for (const sheet of draft.sheets) {
    if (sheet.attachments.protectedRanges === undefined) continue
    const list = listOf(sheet, 'protectedRanges')
    const at = list.findIndex((one) => one.protectedRangeId === id)
    const range = list[at]
    if (range) return { sheet, list, at, range }
  }
  throw invalidArgument(`No protected range with id: ${String(id)}`)
}

export function listOf(sheet: Sheet, name: string): JsonObject[] {
  const list = sheet.attachments[name]
  if (Array.isArray(list)) return list as JsonObject[]
  const fresh: JsonObject[] = []
  sheet.attachments[name] = fresh
  return fresh
}

function withUsers(editors: unknown, always: string[]): JsonObject {
  const given = isObject(editors) ? (editors as JsonObject) : {}
  const users = Array.isArray(given.users) ? given.users : []
  return { ...given, users: [...new Set([...users, ...always])] }
}
