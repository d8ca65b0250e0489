import { constants, isAscii, isUtf8 } from 'node:buffer'
import { ProviderFailure } from '../../../sheets/provider-failure.ts'
import { decodeSingleByte, encodeSingleByte, type SingleByteEncoding } from './encoding/single-byte.ts'
import { decodeUtf32, encodeUtf32 } from './encoding/utf-32.ts'
import { looksWestern } from './encoding/western.ts'

export type UnicodeEncoding = 'utf-8' | 'utf-16le' | 'utf-16be' | 'utf-32le' | 'utf-32be'
export type CsvEncoding = UnicodeEncoding | SingleByteEncoding

/**
 * A CSV file as text. Bytes that passed the checks below go to a string and back without one changed, so edits may splice
 * the string and leave the rest of the file exactly as it was.
 */
export interface CsvText {
  /** Without the byte order mark, and without the hint. */
  text: string
  /** The line before the headers that tells Excel the delimiter (`sep=;`), which it does not show; absent in most files. */
  hint?: string
  encoding: CsvEncoding
  hasBom: boolean
}

/** The longer one first: the mark of UTF-32 begins like that of UTF-16. */
const MARKS: readonly [UnicodeEncoding, Buffer][] = [
  ['utf-32le', Buffer.from('fffe0000', 'hex')],
  ['utf-32be', Buffer.from('0000feff', 'hex')],
  ['utf-16le', Buffer.from('fffe', 'hex')],
  ['utf-16be', Buffer.from('feff', 'hex')],
  ['utf-8', Buffer.from('efbbbf', 'hex')],
]

const HINT = /^(?:sep=[,;\t|]|"sep=[,;\t|]")(?:\r\n|\r|\n)/i

/** `otherwise` is the encoding that the owner says the file has where it is not Unicode; without one it is told by its bytes. */
export function readCsvText(bytes: Uint8Array, otherwise?: SingleByteEncoding): CsvText {
  const buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  if (buffer.length > constants.MAX_STRING_LENGTH) {
    throw tooLarge('read')
  }
  const { encoding, markBytes } = encodingOf(buffer, otherwise)
  const text = decode(buffer.subarray(markBytes), encoding)
  // A character U+0000 is valid, but in practice it means UTF-16 without a mark, or no text at all.
  if (text === undefined || (encoding !== 'utf-8' && (text.includes('\0') || !text.isWellFormed()))) {
    throw unreadable(encoding)
  }
  const hint = HINT.exec(text)?.[0]
  const csv = { text, encoding, hasBom: markBytes > 0 }
  return hint === undefined ? csv : { ...csv, text: text.slice(hint.length), hint }
}

function encodingOf(
  buffer: Buffer,
  otherwise?: SingleByteEncoding,
): { encoding: CsvEncoding; markBytes: number } {
  const marked = MARKS.find(([, mark]) => buffer.subarray(0, mark.length).equals(mark))
  if (marked) return { encoding: marked[0], markBytes: marked[1].length }
  if (buffer.includes(0)) throw unreadable()
  if (isUtf8(buffer)) return { encoding: 'utf-8', markBytes: 0 }
  if (otherwise !== undefined) return { encoding: otherwise, markBytes: 0 }
  if (looksWestern(buffer)) return { encoding: 'windows-1252', markBytes: 0 }
  throw unreadable()
}

/** undefined where the bytes are no text in this encoding. */
function decode(buffer: Buffer, encoding: CsvEncoding): string | undefined {
  switch (encoding) {
    case 'utf-8':
      if (isAscii(buffer)) return buffer.includes(0) ? undefined : buffer.toString('latin1')
      return isUtf8(buffer) && !buffer.includes(0) ? buffer.toString('utf8') : undefined
    case 'utf-16le':
      return buffer.length % 2 === 0 ? buffer.toString('utf16le') : undefined
    case 'utf-16be':
      return buffer.length % 2 === 0 ? Buffer.from(buffer).swap16().toString('utf16le') : undefined
    case 'utf-32le':
    case 'utf-32be':
      return decodeUtf32(buffer, encoding === 'utf-32le')
    default:
      return decodeSingleByte(buffer, encoding)
  }
}

/** Fails where the file could be written but not read again. */
export function writeCsvText({ text, hint = '', encoding, hasBom }: CsvText): Uint8Array {
  if (text.length + hint.length >= constants.MAX_STRING_LENGTH) throw tooLarge('written')
  const body = encode(hint + text, encoding)
  const mark = hasBom ? MARKS.find(([marked]) => marked === encoding)?.[1] : undefined
  const bytes = mark === undefined ? body : Buffer.concat([mark, body])
  if (bytes.length > constants.MAX_STRING_LENGTH) throw tooLarge('written')
  return bytes
}

function encode(text: string, encoding: CsvEncoding): Uint8Array {
  switch (encoding) {
    case 'utf-8':
      return new TextEncoder().encode(text)
    case 'utf-16le':
      return Buffer.from(text, 'utf16le')
    case 'utf-16be':
      return Buffer.from(text, 'utf16le').swap16()
    case 'utf-32le':
    case 'utf-32be':
      return encodeUtf32(text, encoding === 'utf-32le')
    default:
      return encodeSingleByte(text, encoding)
  }
}

/** Pieces as one text, as long as there can be such a text. */
export function joinCsvText(pieces: readonly string[]): string {
  const length = pieces.reduce((sum, piece) => sum + piece.length, 0)
  if (length > constants.MAX_STRING_LENGTH) throw tooLarge('written')
  return pieces.join('')
}

function tooLarge(done: 'read' | 'written'): ProviderFailure {
  return new ProviderFailure(`the CSV file is too large to be ${done}; split it into smaller files`)
}

/** `encoding` is what the file was taken for. */
function unreadable(encoding?: CsvEncoding): ProviderFailure {
  const found =
    encoding === undefined || encoding === 'utf-8'
      ? 'the CSV file is neither UTF-8 nor, as far as its bytes tell, Windows-1252'
      : `the CSV file is damaged, or not ${encoding}, as it seemed to be`
  return new ProviderFailure(
    `${found}; open it in your spreadsheet program and save it as "CSV UTF-8", or name its encoding in the settings of the sheet`,
  )
}
