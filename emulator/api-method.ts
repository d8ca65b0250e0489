import type { Service } from './front-end-errors.ts'

/** Files are uploaded beside it, by v2 too, as gspread does. */
const drivePath = /^\/(?:upload\/drive\/v2|upload\/drive\/v3|drive\/v3)\//

/** Where people open a spreadsheet is where they download it. */
const exportPath = /^\/spreadsheets\/d\/([^/]+)\/export$/

export function exportedIn(path: string): string | undefined {
  const id = exportPath.exec(path)?.[1]
  return id && decodeURIComponent(id)
}

/** Whether the body is a file, and not JSON. */
export function isUpload(path: string): boolean {
  return path.startsWith('/upload/')
}

/** Which API a path belongs to, or undefined for OAuth and everything else. */
export function serviceOf(path: string): Service | undefined {
  if (path === '/v4/spreadsheets' || path.startsWith('/v4/spreadsheets/')) return 'sheets'
  if (drivePath.test(path) || exportPath.test(path)) return 'drive'
  return undefined
}

/** Google takes a slash at the end of a path, and one before the colon of a verb, as google-spreadsheet (npm) sends them. */
export function withoutSpareSlashes(path: string): string {
  return serviceOf(path) ? path.replace(/\/(?=:[A-Za-z]+$)/, '').replace(/\/$/, '') : path
}

/** Pattern on `METHOD rest-of-path`, the name in Google's protocol and the name in its clients. */
const sheetsMethods: [RegExp, rpc: string, name: string][] = [
  [/^POST [^/:]*$/, 'CreateSpreadsheet', 'spreadsheets.create'],
  [/^POST [^/]+:batchUpdate$/, 'BatchUpdateSpreadsheet', 'spreadsheets.batchUpdate'],
  [/^POST [^/]+:getByDataFilter$/, 'GetSpreadsheetByDataFilter', 'spreadsheets.getByDataFilter'],
  [/^GET [^/]+$/, 'GetSpreadsheet', 'spreadsheets.get'],
  [/^GET [^/]+\/developerMetadata\//, 'GetDeveloperMetadata', 'developerMetadata.get'],
  [/^POST [^/]+\/developerMetadata:search$/, 'SearchDeveloperMetadata', 'developerMetadata.search'],
  [/^POST [^/]+\/sheets\/[^/]+:copyTo$/, 'CopySheetTo', 'sheets.copyTo'],
  [/^GET [^/]+\/values:batchGet$/, 'BatchGetValues', 'values.batchGet'],
  [/^POST [^/]+\/values:batchUpdate$/, 'BatchUpdateValues', 'values.batchUpdate'],
  [/^POST [^/]+\/values:batchClear$/, 'BatchClearValues', 'values.batchClear'],
  [/^POST [^/]+\/values:batchGetByDataFilter$/, 'BatchGetValuesByDataFilter', 'values.batchGetByDataFilter'],
  [
    /^POST [^/]+\/values:batchUpdateByDataFilter$/,
    'BatchUpdateValuesByDataFilter',
    'values.batchUpdateByDataFilter',
  ],
  [
    /^POST [^/]+\/values:batchClearByDataFilter$/,
    'BatchClearValuesByDataFilter',
    'values.batchClearByDataFilter',
  ],
  [/^POST [^/]+\/values\/.*:append$/, 'AppendValues', 'values.append'],
  [/^POST [^/]+\/values\/.*:clear$/, 'ClearValues', 'values.clear'],
  [/^GET [^/]+\/values\//, 'GetValues', 'values.get'],
  [/^PUT [^/]+\/values\//, 'UpdateValues', 'values.update'],
]

const driveMethods: [RegExp, name: string][] = [
  [/^GET about$/, 'about.get'],
  [/^GET files$/, 'files.list'],
  [/^POST files$/, 'files.create'],
  [/^GET files\/[^/]+$/, 'files.get'],
  [/^(?:PATCH|PUT) files\/[^/]+$/, 'files.update'],
  [/^DELETE files\/[^/]+$/, 'files.delete'],
  [/^POST files\/[^/]+\/copy$/, 'files.copy'],
  [/^GET files\/[^/]+\/export$/, 'files.export'],
  [/^GET changes$/, 'changes.list'],
  [/^GET changes\/startPageToken$/, 'changes.getStartPageToken'],
  [/^GET files\/[^/]+\/comments$/, 'comments.list'],
  [/^POST files\/[^/]+\/comments$/, 'comments.create'],
  [/^GET files\/[^/]+\/comments\/[^/]+$/, 'comments.get'],
  [/^PATCH files\/[^/]+\/comments\/[^/]+$/, 'comments.update'],
  [/^DELETE files\/[^/]+\/comments\/[^/]+$/, 'comments.delete'],
  [/^GET files\/[^/]+\/comments\/[^/]+\/replies$/, 'replies.list'],
  [/^POST files\/[^/]+\/comments\/[^/]+\/replies$/, 'replies.create'],
  [/^GET files\/[^/]+\/comments\/[^/]+\/replies\/[^/]+$/, 'replies.get'],
  [/^PATCH files\/[^/]+\/comments\/[^/]+\/replies\/[^/]+$/, 'replies.update'],
  [/^DELETE files\/[^/]+\/comments\/[^/]+\/replies\/[^/]+$/, 'replies.delete'],
  [/^GET files\/[^/]+\/permissions$/, 'permissions.list'],
  [/^POST files\/[^/]+\/permissions$/, 'permissions.create'],
  [/^GET files\/[^/]+\/permissions\/[^/]+$/, 'permissions.get'],
  [/^PATCH files\/[^/]+\/permissions\/[^/]+$/, 'permissions.update'],
  [/^DELETE files\/[^/]+\/permissions\/[^/]+$/, 'permissions.delete'],
]

export const apiMethodNames: readonly string[] = [
  ...sheetsMethods.map(([, , name]) => name),
  ...driveMethods.map(([, name]) => name),
]

/** `values.get`, as docs/google.md#methods calls it; empty for a path that no method has. */
export function apiMethodName(method: string, path: string): string {
  const service = serviceOf(path)
  if (service === 'drive') {
    const wanted = `${method} ${path.replace(drivePath, '')}`
    return driveMethods.find(([pattern]) => pattern.test(wanted))?.[1] ?? ''
  }
  return service === 'sheets' ? (sheetsMethodOf(method, path)?.[2] ?? '') : ''
}

function sheetsMethodOf(method: string, path: string): (typeof sheetsMethods)[number] | undefined {
  // Clients may percent-encode the colon before the verb, too.
  const rest = path
    .slice('/v4/spreadsheets'.length)
    .replace(/^\//, '')
    .replace(/%3A(?=[A-Za-z]+$)/i, ':')
  return sheetsMethods.find(([pattern]) => pattern.test(`${method} ${rest}`))
}

const driveVerbs: Record<string, string> = { GET: 'Get', POST: 'Create', PATCH: 'Update', DELETE: 'Delete' }

/** The name that ErrorInfo carries in `metadata.method`. */
export function rpcName(service: Service, method: string, path: string): string {
  if (service === 'drive') {
    const verb = method === 'GET' && path === '/drive/v3/files' ? 'List' : (driveVerbs[method] ?? 'Get')
    return `google.apps.drive.v3.DriveFiles.${verb}`
  }
  const name = sheetsMethodOf(method, path)?.[1] ?? 'GetSpreadsheet'
  return `google.apps.sheets.v4.SpreadsheetsService.${name}`
}

const scopeRoot = 'https://www.googleapis.com/auth/'
/** Reaches only what the app created or the person picked; every other scope that a call accepts reaches all. */
export const driveFileScope = `${scopeRoot}drive.file`
const acceptedScopes: Record<`${Service} ${'read' | 'write'}`, readonly string[]> = {
  'sheets read': ['drive', 'drive.readonly', 'drive.file', 'spreadsheets', 'spreadsheets.readonly'],
  'sheets write': ['drive', 'drive.file', 'spreadsheets'],
  'drive read': ['drive', 'drive.readonly', 'drive.file', 'drive.metadata', 'drive.metadata.readonly'],
  'drive write': ['drive', 'drive.file'],
}

export function acceptableScopes(service: Service, kind: 'read' | 'write'): string[] {
  return acceptedScopes[`${service} ${kind}`].map((name) => scopeRoot + name)
}
