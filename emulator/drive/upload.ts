import type { GoogleAnswer, GoogleCall } from '../google-api.ts'
import { draftOf, isObject, newSheet, type Spreadsheet } from '../sheets/model.ts'
import { writeAt } from '../sheets/values/write-values.ts'
import { DriveError, invalidParameter } from './drive-error.ts'
import { fileJson } from './file-json.ts'
import { type DriveFile, type FileStore, SPREADSHEET_MIME } from './file-store.ts'
import { addFile, refuseReader, USUAL_FIELDS, updateFile } from './files.ts'
import { type Media, readMultipart } from './multipart.ts'
import { parseSeparated } from './parse-csv.ts'
import { shaped } from './shape-answer.ts'

/** The grid of a new sheet. */
const GRID = { rows: 1000, columns: 26 }
const separators: Record<string, ',' | '\t'> = { 'text/csv': ',', 'text/tab-separated-values': '\t' }

/** Text takes the place of all that is in the spreadsheet: files.update of v2 (with `convert`) and of v3. */
export function uploadInto(
  store: FileStore,
  file: DriveFile,
  call: GoogleCall,
  version: '2' | '3',
): GoogleAnswer {
  refuseReader(file, call.user)
  const { metadata, media } = uploadedBy(call)
  const rows = readRows(media)
  if (!rows || !file.spreadsheet) throw unsupportedConversion()
  fill(store, file, file.spreadsheet, rows)
  // The name is v2's `title`, which no client of ours sends beside a file.
  if (version === '2') return shaped(call, secondVersionJson(file), '*')
  return updateFile(store, file, { ...call, body: metadata })
}

/** files.create of v3: text becomes a spreadsheet where the name part asks for one; of any other file only its name is kept. */
export function uploadNew(store: FileStore, call: GoogleCall): GoogleAnswer {
  const { metadata, media } = uploadedBy(call)
  const given = isObject(metadata) ? metadata : {}
  const mimeType = typeof given.mimeType === 'string' ? given.mimeType : media.mimeType
  const rows = readRows(media)
  if (mimeType === SPREADSHEET_MIME && !rows) throw unsupportedConversion()
  const file = addFile(store, call, { ...given, mimeType })
  if (file.spreadsheet && rows) fill(store, file, file.spreadsheet, rows)
  return shaped(call, fileJson(file, call), USUAL_FIELDS)
}

function uploadedBy({ query, media = { mimeType: '', text: '' } }: GoogleCall): {
  metadata: unknown
  media: Media
} {
  const kind = query.get('uploadType')
  if (kind === 'media') return { metadata: undefined, media }
  if (kind === 'multipart') return readMultipart(media)
  throw invalidParameter('uploadType')
}

function readRows({ mimeType, text }: Media): string[][] | undefined {
  const separator = separators[mimeType.split(';')[0]?.trim().toLowerCase() ?? '']
  return separator && parseSeparated(text, separator)
}

function fill(store: FileStore, file: DriveFile, spreadsheet: Spreadsheet, rows: string[][]): void {
  const draft = draftOf(spreadsheet)
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
}

function unsupportedConversion(): DriveError {
  return new DriveError(400, 'badRequest', 'The requested conversion is not supported.', 'convert')
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
