import { inContext, invalidArgument, invalidFields } from './google-error.ts'
import { isObject, type Spreadsheet } from './model.ts'
import { refuseProtected } from './protection.ts'
import { attachmentRequests } from './requests/attachment-requests.ts'
import { blockRequests } from './requests/block-requests.ts'
import { cellRequests } from './requests/cell-requests.ts'
import { dimensionRequests } from './requests/dimension-requests.ts'
import { filterRequests } from './requests/filter-requests.ts'
import { groupRequests } from './requests/group-requests.ts'
import { metadataRequests } from './requests/metadata-requests.ts'
import type { RequestHandler } from './requests/request.ts'
import { sheetRequests } from './requests/sheet-requests.ts'
import { textRequests } from './requests/text-requests.ts'
import { touchedBy } from './requests/touched-cells.ts'
import { resolveA1 } from './resolve-range.ts'
import { spreadsheetJson } from './spreadsheet/spreadsheet-json.ts'

const HANDLERS: Record<string, RequestHandler> = {
  ...sheetRequests,
  ...dimensionRequests,
  ...cellRequests,
  ...blockRequests,
  ...attachmentRequests,
  ...filterRequests,
  ...textRequests,
  ...groupRequests,
  ...metadataRequests,
}

/** Body errors come before anything is looked up, so that a bad body for a missing spreadsheet is 400. */
export function readRequests(body: unknown): { kind: string; request: Record<string, unknown> }[] {
  const requests = isObject(body) ? body.requests : undefined
  const list = Array.isArray(requests) ? requests : requests === undefined ? [] : [requests]
  return list.flatMap((entry: unknown, index) => {
    // Clients that make requests by condition leave holes, and Google passes over them.
    if (entry === null) return []
    const kinds = isObject(entry) ? Object.keys(entry) : []
    const unknown = kinds.find((kind) => !Object.hasOwn(HANDLERS, kind))
    if (unknown !== undefined) {
      const description = `Invalid JSON payload received. Unknown name "${unknown}" at 'requests[${index}]': Cannot find field.`
      throw invalidFields([{ field: `requests[${index}]`, description }])
    }
    const [kind] = kinds
    if (kind === undefined || !isObject(entry))
      throw invalidArgument(`Invalid requests[${index}]: No request set.`)
    return [{ kind, request: isObject(entry[kind]) ? entry[kind] : {} }]
  })
}

/** Runs all requests on the draft; the first failing one throws and the caller drops the draft. */
export function runBatch(
  draft: Spreadsheet,
  body: unknown,
  { user, newId }: { user: string; newId: () => number },
): Record<string, unknown> {
  const requests = readRequests(body)
  if (requests.length === 0) throw invalidArgument('Must specify at least one request.')
  const replies = requests.map(({ kind, request }, index) => {
    try {
      for (const place of touchedBy[kind]?.(draft, request) ?? []) refuseProtected(draft, place, user)
      return HANDLERS[kind]?.({ draft, user, newId }, request) ?? {}
    } catch (error) {
      throw inContext(`Invalid requests[${index}].${kind}`, error)
    }
  })
  const options = isObject(body) ? body : {}
  return {
    spreadsheetId: draft.spreadsheetId,
    replies,
    ...(options.includeSpreadsheetInResponse === true && {
      updatedSpreadsheet: updatedSpreadsheet(draft, user, options),
    }),
  }
}

function updatedSpreadsheet(draft: Spreadsheet, user: string, options: Record<string, unknown>): unknown {
  const ranges = Array.isArray(options.responseRanges) ? options.responseRanges.map(String) : []
  const places = ranges.map((range) => resolveA1(draft, range))
  const withData = options.responseIncludeGridData === true
  return spreadsheetJson(draft, { user, withData, ...(places.length > 0 && { places }) })
}
