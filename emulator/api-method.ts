import type { Service } from './front-end-errors.ts'

/** Which API a path belongs to, or undefined for OAuth and everything else. */
export function serviceOf(path: string): Service | undefined {
  if (path === '/v4/spreadsheets' || path.startsWith('/v4/spreadsheets/')) return 'sheets'
  if (path.startsWith('/drive/v3/')) return 'drive'
  return undefined
}

const sheetsMethods: [RegExp, string][] = [
  [/^POST [^/:]*$/, 'CreateSpreadsheet'],
  [/^POST [^/]+:batchUpdate$/, 'BatchUpdateSpreadsheet'],
  [/^POST [^/]+:getByDataFilter$/, 'GetSpreadsheetByDataFilter'],
  [/^GET [^/]+$/, 'GetSpreadsheet'],
  [/^GET [^/]+\/developerMetadata\//, 'GetDeveloperMetadata'],
  [/^POST [^/]+\/developerMetadata:search$/, 'SearchDeveloperMetadata'],
  [/^POST [^/]+\/sheets\/[^/]+:copyTo$/, 'CopySheetTo'],
  [/^GET [^/]+\/values:batchGet$/, 'BatchGetValues'],
  [/^POST [^/]+\/values:batchUpdate$/, 'BatchUpdateValues'],
  [/^POST [^/]+\/values:batchClear$/, 'BatchClearValues'],
  [/^POST [^/]+\/values:batchGetByDataFilter$/, 'BatchGetValuesByDataFilter'],
  [/^POST [^/]+\/values:batchUpdateByDataFilter$/, 'BatchUpdateValuesByDataFilter'],
  [/^POST [^/]+\/values:batchClearByDataFilter$/, 'BatchClearValuesByDataFilter'],
  [/^POST [^/]+\/values\/.*:append$/, 'AppendValues'],
  [/^POST [^/]+\/values\/.*:clear$/, 'ClearValues'],
  [/^GET [^/]+\/values\//, 'GetValues'],
  [/^PUT [^/]+\/values\//, 'UpdateValues'],
]

const driveVerbs: Record<string, string> = { GET: 'Get', POST: 'Create', PATCH: 'Update', DELETE: 'Delete' }

/** The name that ErrorInfo carries in `metadata.method`. */
export function methodName(service: Service, method: string, path: string): string {
  if (service === 'drive') {
    const verb = method === 'GET' && path === '/drive/v3/files' ? 'List' : (driveVerbs[method] ?? 'Get')
    return `google.apps.drive.v3.DriveFiles.${verb}`
  }
  const wanted = `${method} ${path.slice('/v4/spreadsheets'.length).replace(/^\//, '')}`
  const name = sheetsMethods.find(([pattern]) => pattern.test(wanted))?.[1] ?? 'GetSpreadsheet'
  return `google.apps.sheets.v4.SpreadsheetsService.${name}`
}

const scopeRoot = 'https://www.googleapis.com/auth/'
const acceptedScopes: Record<`${Service} ${'read' | 'write'}`, readonly string[]> = {
  'sheets read': ['drive', 'drive.readonly', 'drive.file', 'spreadsheets', 'spreadsheets.readonly'],
  'sheets write': ['drive', 'drive.file', 'spreadsheets'],
  'drive read': ['drive', 'drive.readonly', 'drive.file', 'drive.metadata', 'drive.metadata.readonly'],
  'drive write': ['drive', 'drive.file'],
}

export function acceptableScopes(service: Service, kind: 'read' | 'write'): string[] {
  return acceptedScopes[`${service} ${kind}`].map((name) => scopeRoot + name)
}
