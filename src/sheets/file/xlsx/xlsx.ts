import type { Grid } from '../../grid.ts'
import { ProviderFailure } from '../../provider-failure.ts'
import { readCellFormats } from './cell-formats.ts'
import { tabNotFound, xlsxFailure } from './failure.ts'
import { refuseOpenDocument, refuseOtherFiles } from './recognise.ts'
import { readSharedStrings } from './shared-strings.ts'
import { readWorkbook, type Workbook, type WorkbookTab } from './workbook.ts'
import { readWorksheet } from './worksheet.ts'
import { openZip, type ZipArchive } from './zip.ts'

export interface XlsxOptions {
  /** Absent = the first visible worksheet. A hidden one is served when it is named. */
  tab?: string
}

/** Whatever the bytes are, the outcome is a grid or a `ProviderFailure`, within the limits of limits.ts. */
export async function decodeXlsx(bytes: Uint8Array, options: XlsxOptions): Promise<Grid> {
  return failingInOwnersWords(async () => {
    const { archive, workbook } = await openWorkbook(bytes)
    const tab = chooseTab(workbook.tabs, options.tab)
    const sharedStrings = await readSharedStrings(archive, workbook.sharedStringsPath)
    const cellFormats = await readCellFormats(archive, workbook.stylesPath)
    return readWorksheet(archive, tab.path, { sharedStrings, cellFormats, uses1904: workbook.uses1904 })
  })
}

/** The visible worksheets in the order of their tabs: the first is what `decodeXlsx` takes by default. */
export async function listXlsxTabs(bytes: Uint8Array): Promise<string[]> {
  return failingInOwnersWords(async () => visibleNames((await openWorkbook(bytes)).workbook.tabs))
}

async function openWorkbook(bytes: Uint8Array): Promise<{ archive: ZipArchive; workbook: Workbook }> {
  refuseOtherFiles(bytes)
  const archive = openZip(bytes)
  await refuseOpenDocument(archive)
  return { archive, workbook: await readWorkbook(archive) }
}

function chooseTab(tabs: readonly WorkbookTab[], wanted: string | undefined): WorkbookTab {
  const first = tabs.find((tab) => tab.visible)
  if (first === undefined) throw xlsxFailure('noTab', `${tabs.length} tabs`)
  if (wanted === undefined) return first
  const tab =
    tabs.find(({ name }) => name === wanted) ??
    tabs.find(({ name }) => name.toLowerCase() === wanted.toLowerCase())
  if (tab === undefined) throw tabNotFound(wanted, visibleNames(tabs))
  return tab
}

function visibleNames(tabs: readonly WorkbookTab[]): string[] {
  return tabs.filter((tab) => tab.visible).map((tab) => tab.name)
}

async function failingInOwnersWords<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work()
  } catch (error) {
    throw error instanceof ProviderFailure ? error : xlsxFailure('damaged', error)
  }
}
