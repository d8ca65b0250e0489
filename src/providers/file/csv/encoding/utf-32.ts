const FIRST_SURROGATE = 0xd800
const LAST_SURROGATE = 0xdfff
const FIRST_PAIR = 0x1_0000
const LAST_CHARACTER = 0x10_ffff

/** undefined where the bytes are no such text. */
export function decodeUtf32(bytes: Uint8Array, isLittleEndian: boolean): string | undefined {
  if (bytes.length % 4 !== 0) return undefined
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  const units = new Uint16Array(bytes.length / 2)
  let length = 0
  for (let at = 0; at < bytes.length; at += 4) {
    const code = view.getUint32(at, isLittleEndian)
    if (code > LAST_CHARACTER || (code >= FIRST_SURROGATE && code <= LAST_SURROGATE)) return undefined
    if (code < FIRST_PAIR) units[length++] = code
    else {
      units[length++] = FIRST_SURROGATE + ((code - FIRST_PAIR) >> 10)
      units[length++] = 0xdc00 + ((code - FIRST_PAIR) & 0x3ff)
    }
  }
  return Buffer.from(units.buffer, 0, length * 2).toString('utf16le')
}

export function encodeUtf32(text: string, isLittleEndian: boolean): Uint8Array {
  const bytes = new Uint8Array(text.length * 4)
  const view = new DataView(bytes.buffer)
  let length = 0
  for (const character of text) {
    view.setUint32(length, character.codePointAt(0) ?? 0, isLittleEndian)
    length += 4
  }
  return bytes.subarray(0, length)
}
