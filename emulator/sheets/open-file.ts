import { accessOf, type DriveFile, type FileStore } from '../drive/file-store.ts'
import { entityNotFound, permissionDenied } from './google-error.ts'
import type { Spreadsheet } from './model.ts'

export interface SpreadsheetFile extends DriveFile {
  spreadsheet: Spreadsheet
}

export function openFile(store: FileStore, id: string, user: string, toWrite: boolean): SpreadsheetFile {
  const file = store.find(id)
  if (!file || !hasSpreadsheet(file)) throw entityNotFound()
  const access = accessOf(file, user)
  if (access === 'none' || (toWrite && access !== 'write')) throw permissionDenied()
  return file
}

function hasSpreadsheet(file: DriveFile): file is SpreadsheetFile {
  return file.spreadsheet !== undefined
}
