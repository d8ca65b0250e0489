import { locateFile, parseFileLocation } from '../../providers/file/file-location.ts'
import type { SheetRecord } from '../../store/sheets/sheets.ts'
import type { Store } from '../../store/store.ts'

/** Those of the sheets that are connected to the file at this path, whatever it was called before. */
export function sheetsAt(path: string, sheets: readonly SheetRecord[]): SheetRecord[] {
  const real = pathIn(locateFile(path, null).location)
  return sheets.filter((sheet) => sheet.provider === 'file' && pathIn(sheet.location) === real)
}

/**
 * Location and source of a file for a sheet of this account. A file that was renamed keeps its source, so the source is that of the
 * sheets which are connected to it; and a file that has the former name of another one gets a source that nobody has.
 */
export async function locateInAccount(
  store: Pick<Store, 'sheetsOf' | 'sheetsOfSource'>,
  accountId: string,
  path: string,
  tab: string | null,
): Promise<{ location: string; source: string }> {
  const { location, source } = locateFile(path, tab)
  const [connected] = sheetsAt(path, await store.sheetsOf(accountId))
  if (connected) return { location, source: connected.source }
  for (let count = 1; ; count++) {
    // By counting: two sheets that are connected at the same moment must come to the same one.
    const candidate = count === 1 ? source : `${source}#${count}`
    const others = await store.sheetsOfSource(candidate)
    if (others.every((sheet) => pathIn(sheet.location) === pathIn(location))) {
      return { location, source: candidate }
    }
  }
}

export function pathIn(location: string): string {
  return parseFileLocation(location).path
}
