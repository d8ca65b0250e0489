import { xlsxFailure } from '../../container/failure.ts'
import type { XmlPart } from '../../container/part.ts'
import type { XmlEncoding } from '../../container/xml-text.ts'

const CHUNK_CHARS = 256 * 1024

/** A part's new text as bytes in the encoding that the old one had. */
export function* encodeXml(pieces: Iterable<string>, encoding: XmlEncoding): Generator<Buffer> {
  if (encoding !== 'utf-8') yield encode('\uFEFF', encoding)
  let waiting: string[] = []
  let waitingChars = 0
  for (const piece of pieces) {
    for (const slice of slices(piece)) {
      waiting.push(slice)
      waitingChars += slice.length
      if (waitingChars < CHUNK_CHARS) continue
      yield encode(waiting.join(''), encoding)
      waiting = []
      waitingChars = 0
    }
  }
  yield encode(waiting.join(''), encoding)
}

/** A cut between the two halves of a character would lose it. */
function* slices(piece: string): Generator<string> {
  let at = 0
  while (at < piece.length) {
    let end = Math.min(at + CHUNK_CHARS, piece.length)
    const code = piece.charCodeAt(end - 1)
    if (code >= 0xd800 && code <= 0xdbff && end < piece.length) end++
    yield piece.slice(at, end)
    at = end
  }
}

function encode(text: string, encoding: XmlEncoding): Buffer {
  if (encoding === 'utf-16le') return Buffer.from(text, 'utf16le')
  if (encoding === 'utf-16be') return Buffer.from(text, 'utf16le').swap16()
  return Buffer.from(text, 'utf8')
}

/** OPC allows no other (ECMA-376-2, 8.1.4); read as UTF-8 a part may pass, but what we write would not. */
export function refuseOtherEncodings({ text }: XmlPart): void {
  const declared = /^<\?xml[^>]*\sencoding\s*=\s*["']([^"']*)["']/.exec(text.slice(0, 200))?.[1]
  if (declared !== undefined && !/^utf-?(?:8|16)/i.test(declared)) {
    throw xlsxFailure('damaged', 'XML that says it is neither UTF-8 nor UTF-16')
  }
}
