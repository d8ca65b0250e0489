import { constants, isAscii, isUtf8 } from 'node:buffer'
import { ProviderFailure } from '../../provider-failure.ts'

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
    throw new ProviderFailure('the CSV file is too large to be read; split it into smaller files')
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

export function writeCsvText({ text, hasBom }: CsvText): Uint8Array {
  return new TextEncoder().encode(hasBom ? BYTE_ORDER_MARK + text : text)
}
