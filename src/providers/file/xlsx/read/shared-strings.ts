import { xlsxFailure } from '../container/failure.ts'
import { MAX_INFLATED_BYTES, MAX_SHARED_STRINGS } from '../container/limits.ts'
import { readXmlPart } from '../container/part.ts'
import type { ZipArchive } from '../container/zip.ts'
import { createStringItem } from './string-item.ts'

const ITEM_DEPTH = 2

/** What was read before of a part that is known to have the same bytes still. */
export interface KnownStrings {
  path: string
  strings: string[]
}

/** Unpacks the part within the limits of reading, and does not look at its markup. */
export async function passOverStrings(
  archive: ZipArchive,
  { path, strings }: KnownStrings,
): Promise<string[]> {
  if (!archive.has(path)) return strings
  for await (const _ of archive.read(path, MAX_INFLATED_BYTES));
  return strings
}

export async function readSharedStrings(archive: ZipArchive, path: string | undefined): Promise<string[]> {
  const strings: string[] = []
  if (path === undefined || !archive.has(path)) return strings
  const item = createStringItem()
  await readXmlPart(archive, path, MAX_INFLATED_BYTES, {
    open(name, depth) {
      if (depth > ITEM_DEPTH) item.open(name, depth - ITEM_DEPTH)
      else item.start()
    },
    text: (text) => item.text(text),
    close(name, depth) {
      if (depth > ITEM_DEPTH) item.close()
      else if (depth === ITEM_DEPTH && name === 'si') {
        if (strings.length === MAX_SHARED_STRINGS) throw xlsxFailure('tooLarge', 'too many shared strings')
        strings.push(item.value())
      }
    },
  })
  return strings
}
