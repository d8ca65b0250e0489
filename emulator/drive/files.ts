import type { GoogleAnswer, GoogleCall } from '../google-api.ts'
import { draftOf, isObject } from '../sheets/model.ts'
import { newSpreadsheet } from '../sheets/spreadsheet/new-spreadsheet.ts'
import { DriveError } from './drive-error.ts'
import { exportText, exportTypes } from './export-csv.ts'
import { fileJson } from './file-json.ts'
import { accessOf, type DriveFile, type FileStore, openingBy, SPREADSHEET_MIME } from './file-store.ts'
import { shaped } from './shape-answer.ts'

export const USUAL_FIELDS = 'kind,id,name,mimeType'

export function createFile(store: FileStore, call: GoogleCall): GoogleAnswer {
  const file = addFile(store, call, isObject(call.body) ? call.body : {})
  return shaped(call, fileJson(file, call), USUAL_FIELDS)
}

export function addFile(store: FileStore, call: GoogleCall, given: Record<string, unknown>): DriveFile {
  const mimeType = typeof given.mimeType === 'string' ? given.mimeType : 'application/octet-stream'
  const file = store.add({
    name: typeof given.name === 'string' ? given.name : 'Untitled',
    mimeType,
    owner: call.user,
    openedBy: [openingBy(call)],
    ...(Array.isArray(given.parents) && { parents: given.parents.map(String) }),
  })
  if (mimeType === SPREADSHEET_MIME) file.spreadsheet = newSpreadsheet(file.id, file.name, call.user)
  return file
}

export function getFile(file: DriveFile, call: GoogleCall): GoogleAnswer {
  return shaped(call, fileJson(file, call), USUAL_FIELDS)
}

export function updateFile(store: FileStore, file: DriveFile, call: GoogleCall): GoogleAnswer {
  refuseReader(file, call.user)
  const given = isObject(call.body) ? call.body : {}
  if (typeof given.name === 'string') {
    file.name = given.name
    if (file.spreadsheet) {
      const draft = draftOf(file.spreadsheet)
      draft.properties.title = given.name
      file.spreadsheet = draft
    }
  }
  if (typeof given.description === 'string') file.description = given.description
  if (typeof given.trashed === 'boolean') file.trashed = given.trashed
  const added = call.query.get('addParents')?.split(',') ?? []
  const removed = call.query.get('removeParents')?.split(',') ?? []
  file.parents = [...file.parents.filter((parent) => !removed.includes(parent)), ...added]
  store.touch(file)
  return shaped(call, fileJson(file, call), USUAL_FIELDS)
}

export function deleteFile(store: FileStore, file: DriveFile, call: GoogleCall): GoogleAnswer {
  if (file.owner !== call.user) throw insufficientPermissions()
  store.remove(file.id)
  return { status: 204, body: undefined }
}

export function copyFile(store: FileStore, file: DriveFile, call: GoogleCall): GoogleAnswer {
  const given = isObject(call.body) ? call.body : {}
  const copy = store.add({
    name: typeof given.name === 'string' ? given.name : `Copy of ${file.name}`,
    mimeType: file.mimeType,
    owner: call.user,
    openedBy: [openingBy(call)],
    parents: Array.isArray(given.parents) ? given.parents.map(String) : file.parents,
  })
  if (file.spreadsheet) {
    copy.spreadsheet = { ...draftOf(file.spreadsheet), spreadsheetId: copy.id, owner: call.user }
    copy.spreadsheet.properties.title = copy.name
  }
  return shaped(call, fileJson(copy, call), USUAL_FIELDS)
}

export function exportFile(file: DriveFile, call: GoogleCall): GoogleAnswer {
  const mimeType = call.query.get('mimeType') ?? ''
  if (!file.spreadsheet) {
    throw new DriveError(403, 'fileNotExportable', 'Export only supports Docs Editors files.')
  }
  const body = exportText(file.spreadsheet, mimeType)
  if (body !== undefined) return { status: 200, body }
  throw new DriveError(400, 'badRequest', 'The requested conversion is not supported.', 'convertTo')
}

/** What docs.google.com answers to `/export?format=csv&gid=0`; its refusals are pages there, and not known. */
export function downloadTab({ spreadsheet }: DriveFile, { query }: GoogleCall): GoogleAnswer {
  const gid = query.get('gid')
  const sheet = spreadsheet?.sheets.find((one) => gid === null || String(one.sheetId) === gid)
  const body =
    spreadsheet && sheet && exportText(spreadsheet, exportTypes[query.get('format') ?? ''] ?? '', sheet)
  if (body !== undefined) return { status: 200, body }
  throw new DriveError(400, 'badRequest', 'The requested conversion is not supported.', 'format')
}

export function refuseReader(file: DriveFile, user: string): void {
  if (accessOf(file, user) !== 'write') throw insufficientPermissions()
}

export function insufficientPermissions(): DriveError {
  return new DriveError(
    403,
    'insufficientFilePermissions',
    'The user does not have sufficient permissions for this file.',
  )
}
