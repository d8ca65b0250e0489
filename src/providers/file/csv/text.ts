import { constants, isAscii, isUtf8 } from 'node:buffer'
import { ProviderFailure } from '../../../sheets/provider-failure.ts'

/**
 * A CSV file as text. UTF-8 that passed the check below goes to a string and back without a byte changed,
 * so edits may splice the string and leave the rest of the file exactly as it was.
 */
export interface CsvText {
  /** Without the byte order mark. */
  text: string
  hasBom: boolean
}

const BYTE_ORDER_MARK = '\uFEFF'
const BYTE_ORDER_MARK_BYTES = 3

export function readCsvText(bytes: Uint8Array): CsvText {
  const buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  if (buffer.length > constants.MAX_STRING_LENGTH) {
    throw tooLarge('read')
  }
  // A zero byte is valid UTF-8, but in practice it means UTF-16 without a mark, or no text at all.
  if (!isUtf8(buffer) || buffer.includes(0)) {
    throw new ProviderFailure(
      'the CSV file is not UTF-8 text; open it in your spreadsheet program and save it as "CSV UTF-8"',
    )
  }
  if (isAscii(buffer)) return { text: buffer.toString('latin1'), hasBom: false }
  const hasBom = buffer[0] === 0xef && buffer[1] === 0xbb && buffer[2] === 0xbf
  return { text: buffer.toString('utf8', hasBom ? BYTE_ORDER_MARK_BYTES : 0), hasBom }
}

/** Fails where the file could be written but not read again. */
export function writeCsvText({ text, hasBom }: CsvText): Uint8Array {
  if (text.length >= constants.MAX_STRING_LENGTH) throw tooLarge('written')
  const bytes = new TextEncoder().encode(hasBom ? BYTE_ORDER_MARK + text : text)
  if (bytes.length > constants.MAX_STRING_LENGTH) throw tooLarge('written')
  return bytes
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
