import type { Grid } from '../../../sheets/rows/grid.ts'
import { tabNotFound, xlsxFailure } from '../xlsx/container/failure.ts'
import { MAX_DIRECTORY_PART_BYTES, MAX_INFLATED_BYTES } from '../xlsx/container/limits.ts'
import { failingInOwnersWords } from '../xlsx/container/open.ts'
import { readXmlPart } from '../xlsx/container/part.ts'
import { openDocumentType, refuseOtherFiles } from '../xlsx/container/recognise.ts'
import { openZip, type ZipArchive } from '../xlsx/container/zip.ts'
import { createContentHandler } from './content.ts'

export interface OdsOptions {
  /** Absent = the first visible tab. A hidden one is served when it is named. */
  tab?: string
  /** 'formatted' gives each cell as it is displayed, which the file says itself; absent = typed. */
  values?: 'typed' | 'formatted'
}

const CONTENT = 'content.xml'
const MANIFEST = 'META-INF/manifest.xml'

/** An OpenDocument spreadsheet, within the limits of workbooks: whatever the bytes are, a grid or a `ProviderFailure`. */
export async function decodeOds(bytes: Uint8Array, { tab, values = 'typed' }: OdsOptions): Promise<Grid> {
  return failingInOwnersWords(async () => {
    const archive = await openDocument(bytes)
    const content = createContentHandler(tab, values)
    await readXmlPart(archive, CONTENT, MAX_INFLATED_BYTES, content)
    const { grid, tabs } = content.found()
    if (grid) return { ...grid, readFrom: archive.readParts }
    const visible = tabs.filter(({ isVisible }) => isVisible).map(({ name }) => name)
    if (tab === undefined || visible.length === 0) throw xlsxFailure('noTab', `${tabs.length} tabs`)
    throw tabNotFound(tab, visible)
  })
}

/** The visible ones, in their order. */
export async function listOdsTabs(bytes: Uint8Array): Promise<string[]> {
  return failingInOwnersWords(async () => {
    const content = createContentHandler(null, 'typed')
    await readXmlPart(await openDocument(bytes), CONTENT, MAX_INFLATED_BYTES, content)
    return content
      .found()
      .tabs.filter(({ isVisible }) => isVisible)
      .map(({ name }) => name)
  })
}

async function openDocument(bytes: Uint8Array): Promise<ZipArchive> {
  refuseOtherFiles(bytes)
  const archive = openZip(bytes)
  if (!(await openDocumentType(archive)).startsWith('spreadsheet')) {
    throw xlsxFailure('notOpenDocument', 'no such mimetype')
  }
  if (!archive.has(CONTENT)) throw xlsxFailure('damaged', 'no content')
  if (archive.has(MANIFEST)) {
    await readXmlPart(archive, MANIFEST, MAX_DIRECTORY_PART_BYTES, {
      open(name) {
        if (name === 'encryption-data') throw xlsxFailure('password', 'encrypted content')
      },
    })
  }
  return archive
}
