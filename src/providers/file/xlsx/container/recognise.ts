import { xlsxFailure } from './failure.ts'
import { MAX_DIRECTORY_PART_BYTES, MAX_WORKBOOK_BYTES } from './limits.ts'
import type { ZipArchive } from './zip.ts'

const ZIP_SIGNATURE = Buffer.from('PK\x03\x04', 'latin1')
const COMPOUND_FILE_SIGNATURE = Buffer.from('d0cf11e0a1b11ae1', 'hex')

/** Says what the file is when it cannot be a workbook, before anything of it is read. */
export function refuseOtherFiles(bytes: Uint8Array): void {
  const file = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  if (file.length === 0) throw xlsxFailure('empty', 'no bytes')
  if (file.length > MAX_WORKBOOK_BYTES) throw xlsxFailure('tooLarge', `${file.length} bytes`)
  if (file.subarray(0, 8).equals(COMPOUND_FILE_SIGNATURE)) refuseCompoundFile(file)
  if (!file.subarray(0, 4).equals(ZIP_SIGNATURE)) throw xlsxFailure('notWorkbook', 'no ZIP signature')
}

/** Old Office files and encrypted new ones share a container; the names of its streams tell them apart. */
function refuseCompoundFile(file: Buffer): never {
  if (hasStream(file, 'EncryptedPackage')) throw xlsxFailure('password', 'encrypted package')
  if (hasStream(file, 'Workbook') || hasStream(file, 'Book')) throw xlsxFailure('oldExcel', 'BIFF workbook')
  throw xlsxFailure('notWorkbook', 'compound file of another kind')
}

const DIRECTORY_ENTRY_BYTES = 128
const STREAM_TYPE = 2

/** Directory entries stand at multiples of their size, in whichever sector: no need to follow the sector chain. */
function hasStream(file: Buffer, name: string): boolean {
  const needle = Buffer.from(`${name}\0`, 'utf16le')
  for (let at = file.indexOf(needle); at !== -1; at = file.indexOf(needle, at + 1)) {
    const isEntry = at % DIRECTORY_ENTRY_BYTES === 0 && at + DIRECTORY_ENTRY_BYTES <= file.length
    if (isEntry && file[at + 64] === needle.length && file[at + 66] === STREAM_TYPE) return true
  }
  return false
}

export async function refuseOpenDocument(archive: ZipArchive): Promise<void> {
  const type = await openDocumentType(archive)
  if (type.startsWith('spreadsheet')) throw xlsxFailure('openDocument', type)
}

const OPEN_DOCUMENT = 'application/vnd.oasis.opendocument.'

/** `spreadsheet`, `text` and so on; nothing where it is no OpenDocument. */
export async function openDocumentType(archive: ZipArchive): Promise<string> {
  if (!archive.has('mimetype')) return ''
  for await (const chunk of archive.read('mimetype', MAX_DIRECTORY_PART_BYTES)) {
    const mimeType = chunk.toString('latin1', 0, 100)
    return mimeType.startsWith(OPEN_DOCUMENT) ? mimeType.slice(OPEN_DOCUMENT.length) : ''
  }
  return ''
}
