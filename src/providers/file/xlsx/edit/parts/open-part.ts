import { xlsxFailure } from '../../container/failure.ts'
import { MAX_FOLLOWED_PART_BYTES } from '../../container/limits.ts'
import { readPartText, type XmlPart } from '../../container/part.ts'
import type { ZipArchive } from '../../container/zip.ts'
import { readXmlTree, type XmlElement } from '../xml/xml-tree.ts'

/** A part beside the tab, to be changed with it. */
export async function openPart(
  archive: ZipArchive,
  path: string,
): Promise<{ part: XmlPart; root: XmlElement }> {
  if (!archive.has(path)) throw xlsxFailure('damaged', `missing part ${path.slice(0, 200)}`)
  const part = await readPartText(archive, path, MAX_FOLLOWED_PART_BYTES)
  return { part, root: readXmlTree(part.text) }
}
