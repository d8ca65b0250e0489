import type { Grid } from '../../../../sheets/rows/grid.ts'
import { chooseTab, failingInOwnersWords, openWorkbook, visibleNames } from '../container/open.ts'
import { readCellFormats, readDisplayFormats } from './cell-formats.ts'
import { createDisplayReader, createTypedReader } from './cell-value.ts'
import { type KnownStrings, passOverStrings, readSharedStrings } from './shared-strings.ts'
import { readWorksheet } from './worksheet.ts'

export interface XlsxOptions {
  /** Absent = the first visible worksheet. A hidden one is served when it is named. */
  tab?: string
  /**
   * 'formatted' gives each cell as its number format shows it (docs/contract.md#values-as-displayed); absent = typed.
   */
  values?: 'typed' | 'formatted'
}

/** Whatever the bytes are, the outcome is a grid or a `ProviderFailure`, within the limits of limits.ts. */
export async function decodeXlsx(
  bytes: Uint8Array,
  options: XlsxOptions,
  known: KnownStrings | null = null,
): Promise<Grid> {
  return failingInOwnersWords(async () => {
    const { archive, workbook } = await openWorkbook(bytes)
    const tab = chooseTab(workbook.tabs, options.tab)
    const { uses1904, stylesPath, sharedStringsPath } = workbook
    const sharedStrings =
      known !== null && known.path === sharedStringsPath
        ? await passOverStrings(archive, known)
        : await readSharedStrings(archive, sharedStringsPath)
    const reader =
      options.values === 'formatted'
        ? createDisplayReader({ sharedStrings, uses1904 }, await readDisplayFormats(archive, stylesPath))
        : createTypedReader({
            sharedStrings,
            uses1904,
            cellFormats: await readCellFormats(archive, stylesPath),
          })
    const grid = await readWorksheet(archive, tab.path, reader, workbook.staleResults)
    return { ...grid, readFrom: archive.readParts }
  })
}

/** The visible worksheets in the order of their tabs: the first is what `decodeXlsx` takes by default. */
export async function listXlsxTabs(bytes: Uint8Array): Promise<string[]> {
  return failingInOwnersWords(async () => visibleNames((await openWorkbook(bytes)).workbook.tabs))
}
