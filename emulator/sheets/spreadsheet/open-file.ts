import { accessOf, type DriveFile, type FileStore, isWithinReach } from '../../drive/file-store.ts'
import type { Caller } from '../../google-api.ts'
import { entityNotFound, permissionDenied } from '../google-error.ts'
import type { Spreadsheet } from '../model.ts'

export interface SpreadsheetFile extends DriveFile {
  spreadsheet: Spreadsheet
}

export function openFile(store: FileStore, id: string, caller: Caller, toWrite: boolean): SpreadsheetFile {
  const file = store.find(id)
  if (!file || !hasSpreadsheet(file) || !isWithinReach(file, caller)) throw entityNotFound()
  const access = accessOf(file, caller.user)
  if (access === 'none' || (toWrite && access !== 'write')) throw permissionDenied()
  return file
}

export function hasSpreadsheet(file: DriveFile): file is SpreadsheetFile {
  return file.spreadsheet !== undefined
}
