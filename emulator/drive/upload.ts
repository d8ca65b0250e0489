import type { GoogleAnswer, GoogleCall } from '../google-api.ts'
import { draftOf, newSheet } from '../sheets/model.ts'
import { writeAt } from '../sheets/values/write-values.ts'
import { DriveError, invalidParameter } from './drive-error.ts'
import { fileJson } from './file-json.ts'
import type { DriveFile, FileStore } from './file-store.ts'
import { refuseReader, USUAL_FIELDS } from './files.ts'
import { parseSeparated } from './parse-csv.ts'
import { shaped } from './shape-answer.ts'

/** The grid of a new sheet. */
const GRID = { rows: 1000, columns: 26 }
const separators: Record<string, ',' | '\t'> = { 'text/csv': ',', 'text/tab-separated-values': '\t' }

/** Text takes the place of all that is in the spreadsheet: files.update of v2 (with `convert`) and of v3, with `uploadType=media`. */
export function uploadInto(
  store: FileStore,
  file: DriveFile,
  call: GoogleCall,
  version: '2' | '3',
): GoogleAnswer {
  refuseReader(file, call.user)
  const { mimeType = '', text = '' } = call.media ?? {}
  const separator = separators[mimeType.split(';')[0]?.trim().toLowerCase() ?? '']
  if (call.query.get('uploadType') !== 'media') throw invalidParameter('uploadType')
  if (!separator || !file.spreadsheet) {
    throw new DriveError(400, 'badRequest', 'The requested conversion is not supported.', 'convert')
  }
  const rows = parseSeparated(text, separator)
  const draft = draftOf(file.spreadsheet)
  const [first] = draft.sheets
  const width = Math.max(GRID.columns, ...rows.map((row) => row.length))
  const height = Math.max(GRID.rows, rows.length)
  const sheet = newSheet(first?.sheetId ?? 0, first?.title ?? 'Sheet1', height, width)
  draft.sheets = [sheet]
  draft.namedRanges = []
  draft.metadata = []
  const values = { range: undefined, majorDimension: 'ROWS' as const, rows }
  writeAt(draft, sheet, 0, 0, values, { input: 'USER_ENTERED', editor: undefined })
  store.commit(file, draft)
  return version === '2'
    ? shaped(call, secondVersionJson(file), '*')
    : shaped(call, fileJson(file, call), USUAL_FIELDS)
}

/** Drive v2 has other names for some of it. */
function secondVersionJson(file: DriveFile): Record<string, unknown> {
  return {
    kind: 'drive#file',
    id: file.id,
    title: file.name,
    mimeType: file.mimeType,
    labels: { starred: false, hidden: false, trashed: file.trashed, restricted: false, viewed: true },
    createdDate: new Date(file.createdMs).toISOString(),
    modifiedDate: new Date(file.modifiedMs).toISOString(),
    version: String(file.version),
    alternateLink: `https://docs.google.com/spreadsheets/d/${file.id}/edit?usp=drivesdk`,
  }
}
