import type { GoogleCall } from '../google-api.ts'

export interface FoundMethod {
  name: string
  spreadsheetId?: string
  target: string
}

/** HTTP method, the path behind /v4/spreadsheets, and Google's name. {id} and {target} take one path segment. */
const ROUTES: [string, RegExp, string, isWrite: boolean][] = [
  ['POST', /^$/, 'spreadsheets.create', true],
  ['GET', /^\/(?<id>[^/:]+)$/, 'spreadsheets.get', false],
  ['POST', /^\/(?<id>[^/:]+):batchUpdate$/, 'spreadsheets.batchUpdate', true],
  ['POST', /^\/(?<id>[^/:]+):getByDataFilter$/, 'spreadsheets.getByDataFilter', false],
  ['POST', /^\/(?<id>[^/:]+)\/sheets\/(?<target>[^/:]+):copyTo$/, 'spreadsheets.sheets.copyTo', true],
  [
    'GET',
    /^\/(?<id>[^/:]+)\/developerMetadata\/(?<target>[^/]+)$/,
    'spreadsheets.developerMetadata.get',
    false,
  ],
  ['POST', /^\/(?<id>[^/:]+)\/developerMetadata:search$/, 'spreadsheets.developerMetadata.search', false],
  ['GET', /^\/(?<id>[^/:]+)\/values:batchGet$/, 'values.batchGet', false],
  ['POST', /^\/(?<id>[^/:]+)\/values:batchUpdate$/, 'values.batchUpdate', true],
  ['POST', /^\/(?<id>[^/:]+)\/values:batchClear$/, 'values.batchClear', true],
  ['POST', /^\/(?<id>[^/:]+)\/values:batchGetByDataFilter$/, 'values.batchGetByDataFilter', false],
  ['POST', /^\/(?<id>[^/:]+)\/values:batchUpdateByDataFilter$/, 'values.batchUpdateByDataFilter', true],
  ['POST', /^\/(?<id>[^/:]+)\/values:batchClearByDataFilter$/, 'values.batchClearByDataFilter', true],
  ['POST', /^\/(?<id>[^/:]+)\/values\/(?<target>[^/]+):append$/, 'values.append', true],
  ['POST', /^\/(?<id>[^/:]+)\/values\/(?<target>[^/]+):clear$/, 'values.clear', true],
  ['GET', /^\/(?<id>[^/:]+)\/values\/(?<target>[^/]+)$/, 'values.get', false],
  ['PUT', /^\/(?<id>[^/:]+)\/values\/(?<target>[^/]+)$/, 'values.update', true],
]

const ROOT = '/v4/spreadsheets'

/** Throws URIError for broken percent-encoding. */
export function methodOf(call: Pick<GoogleCall, 'method' | 'path'>): FoundMethod | undefined {
  const route = routeOf(call)
  if (!route) return undefined
  const { groups } = route.match
  return {
    name: route.name,
    ...(groups?.id !== undefined && { spreadsheetId: decodeURIComponent(groups.id) }),
    target: decodeURIComponent(groups?.target ?? ''),
  }
}

export function isSheetsWrite(call: Pick<GoogleCall, 'method' | 'path'>): boolean {
  return routeOf(call)?.isWrite ?? call.method !== 'GET'
}

function routeOf(
  call: Pick<GoogleCall, 'method' | 'path'>,
): { match: RegExpExecArray; name: string; isWrite: boolean } | undefined {
  if (!call.path.startsWith(ROOT)) return undefined
  // Clients may also percent-encode the colon before a custom verb.
  const rest = call.path.slice(ROOT.length).replace(/%3A(?=[a-z]+[A-Za-z]*$)/i, (colon, at, path: string) => {
    return /%3A(append|clear|batch\w+|getByDataFilter|copyTo|search)$/i.test(path.slice(at)) ? ':' : colon
  })
  for (const [method, pattern, name, isWrite] of ROUTES) {
    const match = method === call.method ? pattern.exec(rest) : null
    if (match) return { match, name, isWrite }
  }
  return undefined
}
