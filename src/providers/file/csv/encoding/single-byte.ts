/**
 * Encodings that have a byte for each character, by the names that the Encoding Standard gives them. Those of several bytes
 * (Shift JIS, GBK) are not among them: their bytes do not survive the way to a text and back.
 */
export const singleByteEncodings = [
  'windows-1250',
  'windows-1251',
  'windows-1252',
  'windows-1253',
  'windows-1254',
  'windows-1255',
  'windows-1256',
  'windows-1257',
  'windows-1258',
  'iso-8859-2',
  'iso-8859-5',
  'iso-8859-7',
  'iso-8859-15',
  'koi8-r',
  'koi8-u',
  'macintosh',
  'ibm866',
] as const

export type SingleByteEncoding = (typeof singleByteEncodings)[number]

export function isSingleByteEncoding(name: string): name is SingleByteEncoding {
  return (singleByteEncodings as readonly string[]).includes(name)
}

/** The name in the Encoding Standard of what people call `latin1`, `cp1252` or `UTF8`; undefined for what it does not know. */
export function standardEncodingName(label: string): string | undefined {
  try {
    return new TextDecoder(label).encoding
  } catch {
    return undefined
  }
}

/** What bytes 0x80 to 0x9F are in Windows-1252. Five are nothing: a runtime that has a character for them is of another opinion. */
const WINDOWS_1252_UPPER = '€\uFFFD‚ƒ„…†‡ˆ‰Š‹Œ\uFFFDŽ\uFFFD\uFFFD‘’“”•–—˜™š›œ\uFFFDžŸ'
const NOTHING = 0xfffd

interface ByteTable {
  /** The UTF-16 unit of each byte, or `NOTHING`. */
  unitOfByte: Uint16Array
  byteOfUnit: ReadonlyMap<number, number>
}

const tables = new Map<SingleByteEncoding, ByteTable>()

function tableOf(encoding: SingleByteEncoding): ByteTable {
  const known = tables.get(encoding)
  if (known) return known
  const all = Uint8Array.from({ length: 256 }, (_, byte) => byte)
  const characters =
    encoding === 'windows-1252'
      ? latin1(all.subarray(0, 0x80)) + WINDOWS_1252_UPPER + latin1(all.subarray(0xa0))
      : new TextDecoder(encoding).decode(all)
  const unitOfByte = Uint16Array.from(all, (byte) => unitAt(characters, byte))
  const byteOfUnit = new Map<number, number>()
  for (const [byte, unit] of unitOfByte.entries()) if (unit !== NOTHING) byteOfUnit.set(unit, byte)
  const table = { unitOfByte, byteOfUnit }
  tables.set(encoding, table)
  return table
}

/** The Encoding Standard gives bytes that are nothing the control characters of their numbers. */
function unitAt(characters: string, byte: number): number {
  const unit = characters.charCodeAt(byte)
  return byte >= 0x80 && unit < 0xa0 ? NOTHING : unit
}

function latin1(bytes: Uint8Array): string {
  return Buffer.from(bytes).toString('latin1')
}

/** undefined where a byte is nothing in this encoding: the text is in another one. */
export function decodeSingleByte(bytes: Uint8Array, encoding: SingleByteEncoding): string | undefined {
  const { unitOfByte } = tableOf(encoding)
  const units = new Uint16Array(bytes.length)
  for (let at = 0; at < bytes.length; at++) {
    const unit = unitOfByte[bytes[at] ?? 0] ?? NOTHING
    if (unit === NOTHING) return undefined
    units[at] = unit
  }
  return Buffer.from(units.buffer).toString('utf16le')
}

/** A character that the encoding lacks is a programming error: `missingCharacter` tells. */
export function encodeSingleByte(text: string, encoding: SingleByteEncoding): Uint8Array {
  const { byteOfUnit } = tableOf(encoding)
  const bytes = new Uint8Array(text.length)
  for (let at = 0; at < text.length; at++) {
    const byte = byteOfUnit.get(text.charCodeAt(at))
    if (byte === undefined) throw new Error('a character that the encoding lacks reached the encoder')
    bytes[at] = byte
  }
  return bytes
}

/** The first character of the text for which the encoding has no byte. */
export function missingCharacter(text: string, encoding: SingleByteEncoding): string | undefined {
  const { byteOfUnit } = tableOf(encoding)
  for (const character of text) {
    if (character.length > 1 || !byteOfUnit.has(character.charCodeAt(0))) return character
  }
  return undefined
}
