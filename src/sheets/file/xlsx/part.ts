import { createXmlScanner, type XmlHandler } from './xml.ts'
import { createXmlTextDecoder } from './xml-text.ts'
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
