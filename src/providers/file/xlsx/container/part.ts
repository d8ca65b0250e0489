import { createXmlScanner, type XmlHandler } from './xml.ts'
import { createXmlTextDecoder, type XmlEncoding, xmlEncodingOf } from './xml-text.ts'
import type { ZipArchive } from './zip.ts'

/** Inflates, decodes and scans one XML part piece by piece; it is never in memory as a whole. */
export async function readXmlPart(
  archive: ZipArchive,
  path: string,
  maxBytes: number,
  handler: XmlHandler,
): Promise<void> {
  const decoder = createXmlTextDecoder()
  const scanner = createXmlScanner(handler)
  for await (const chunk of archive.read(path, maxBytes)) scanner.write(decoder.write(chunk))
  scanner.write(decoder.end())
  scanner.end()
}

/** A part as a whole, for editing: what is not changed is copied from its text. */
export interface XmlPart {
  path: string
  text: string
  encoding: XmlEncoding
}

export async function readPartText(archive: ZipArchive, path: string, maxBytes: number): Promise<XmlPart> {
  const decoder = createXmlTextDecoder()
  const pieces: string[] = []
  let encoding: XmlEncoding | undefined
  for await (const chunk of archive.read(path, maxBytes)) {
    encoding ??= xmlEncodingOf(chunk)
    pieces.push(decoder.write(chunk))
  }
  pieces.push(decoder.end())
  return { path, text: pieces.join(''), encoding: encoding ?? 'utf-8' }
}
