import { ProviderFailure } from '../../../../sheets/provider-failure.ts'
import { readWorkbook, type Workbook, type WorkbookTab } from '../read/workbook.ts'
import { tabNotFound, xlsxFailure } from './failure.ts'
import { refuseOpenDocument, refuseOtherFiles } from './recognise.ts'
import { openZip, type ZipArchive } from './zip.ts'

export async function openWorkbook(bytes: Uint8Array): Promise<{ archive: ZipArchive; workbook: Workbook }> {
  refuseOtherFiles(bytes)
  const archive = openZip(bytes)
  await refuseOpenDocument(archive)
  return { archive, workbook: await readWorkbook(archive) }
}

/** The tab of that name, else the first visible one. */
export function chooseTab(tabs: readonly WorkbookTab[], wanted: string | undefined): WorkbookTab {
  const first = tabs.find((tab) => tab.visible)
  if (first === undefined) throw xlsxFailure('noTab', `${tabs.length} tabs`)
  if (wanted === undefined) return first
  const tab =
    tabs.find(({ name }) => name === wanted) ??
    tabs.find(({ name }) => name.toLowerCase() === wanted.toLowerCase())
  if (tab === undefined) throw tabNotFound(wanted, visibleNames(tabs))
  return tab
}

export function visibleNames(tabs: readonly WorkbookTab[]): string[] {
  return tabs.filter((tab) => tab.visible).map((tab) => tab.name)
}

/** Whatever goes wrong inside, the owner reads a sentence. */
export async function failingInOwnersWords<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work()
  } catch (error) {
    throw error instanceof ProviderFailure ? error : xlsxFailure('damaged', error)
  }
}
