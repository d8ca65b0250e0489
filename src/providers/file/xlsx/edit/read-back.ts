import type { Grid } from '../../../../sheets/rows/grid.ts'
import { isSameRow, notAsAsked } from '../../reading-back.ts'
import { MAX_INFLATED_BYTES } from '../container/limits.ts'
import { readXmlPart } from '../container/part.ts'
import { compressedData, openZip, partKey, readCentralDirectory, type ZipEntry } from '../container/zip.ts'
import type { KnownStrings } from '../read/shared-strings.ts'
import { decodeXlsx } from '../read/xlsx.ts'

/** What was meant to change. */
export interface Meant {
  tab: string | undefined
  tabPart: string
  /** The tab's rows after the changes. */
  grid: Grid
  /** Keys of `partKey`: of parts that are new, and of those that go. */
  changedParts: ReadonlySet<string>
  goneParts: ReadonlySet<string>
  /** The shared strings of the former workbook: where no change concerns their part, they are not read a second time. */
  strings?: KnownStrings | null
}

/**
 * Reads the new workbook as any reader would, within the same limits, and throws unless the tab holds the rows that were
 * meant, each other part is the same to the byte, and what changed beside the tab is still XML.
 */
export async function refuseUnlessReadBack(former: Uint8Array, now: Uint8Array, meant: Meant): Promise<void> {
  refuseOtherParts(asBuffer(former), asBuffer(now), meant)
  const archive = openZip(now)
  for (const key of meant.changedParts) {
    // That one is decoded below.
    if (key !== meant.tabPart) await readXmlPart(archive, key, MAX_INFLATED_BYTES, {})
  }
  const { strings = null, changedParts } = meant
  const known = strings && !changedParts.has(partKey(strings.path)) ? strings : null
  const { rows } = await decodeXlsx(now, { ...(meant.tab !== undefined && { tab: meant.tab }) }, known)
  if (rows.length !== meant.grid.rows.length) throw notAsAsked('the number of rows is another')
  for (const [at, row] of rows.entries()) {
    if (!isSameRow(row, meant.grid.rows[at] ?? [])) throw notAsAsked(`row ${at + 1} is another`)
  }
}

function refuseOtherParts(former: Buffer, now: Buffer, { changedParts, goneParts }: Meant): void {
  const left = readCentralDirectory(former).filter(({ key }) => !goneParts.has(key))
  const entries = readCentralDirectory(now)
  if (left.length !== entries.length) throw notAsAsked('the number of parts is another')
  for (const [at, entry] of entries.entries()) {
    const one = left[at]
    if (one?.key !== entry.key) throw notAsAsked(`part ${at} has another name`)
    if (changedParts.has(entry.key)) continue
    if (!isSameEntry(one, entry) || !compressedData(former, one).equals(compressedData(now, entry))) {
      throw notAsAsked(`part ${at} is another`)
    }
  }
}

function isSameEntry(one: ZipEntry, other: ZipEntry): boolean {
  return (
    one.method === other.method &&
    one.checksum === other.checksum &&
    one.inflatedBytes === other.inflatedBytes
  )
}

function asBuffer(bytes: Uint8Array): Buffer {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
}
