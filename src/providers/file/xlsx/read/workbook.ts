import { xlsxFailure } from '../container/failure.ts'
import { MAX_DIRECTORY_PART_BYTES } from '../container/limits.ts'
import { readXmlPart } from '../container/part.ts'
import { type Relationship, readRelationships } from '../container/relationships.ts'
import type { ZipArchive } from '../container/zip.ts'
import { decodeXstring } from './string-item.ts'

export interface WorkbookTab {
  name: string
  visible: boolean
  path: string
}

export interface Workbook {
  path: string
  relationships: Relationship[]
  /** Worksheets only, in the order of the tabs; chart sheets and macro sheets have no cells to serve. */
  tabs: WorkbookTab[]
  sharedStringsPath: string | undefined
  stylesPath: string | undefined
  uses1904: boolean
  staleResults: StaleResults
}

/**
 * Which stored results of formulas are outdated: none that is known of, those of formulas that say so (`ca`), or any. A workbook says the
 * second by `calcCompleted="0"` and the third by `calcCompleted="false"`, which mean the same to everybody else: that not all
 * was calculated when it was saved. Only we write either; a program that calculates leaves the attribute out.
 */
export type StaleResults = 'none' | 'marked' | 'any'

export async function readWorkbook(archive: ZipArchive): Promise<Workbook> {
  const packageRelationships = await readRelationships(archive, '')
  const path = packageRelationships.find((relationship) => relationship.type === 'officeDocument')?.path
  if (path === undefined) throw xlsxFailure('notWorkbook', 'no main document')
  if (path.toLowerCase().endsWith('.bin')) throw xlsxFailure('binaryExcel', 'main document is binary')
  const relationships = await readRelationships(archive, path)
  const worksheetPaths = new Map(
    relationships
      .filter(({ type }) => type === 'worksheet')
      .map((worksheet) => [worksheet.id, worksheet.path]),
  )

  const tabs: WorkbookTab[] = []
  let uses1904 = false
  let staleResults: StaleResults = 'none'
  let section = ''
  await readXmlPart(archive, path, MAX_DIRECTORY_PART_BYTES, {
    open(element, depth, attributes) {
      if (depth === 1 && element !== 'workbook')
        throw xlsxFailure('notWorkbook', `main document is <${element}>`)
      if (depth === 2) section = element
      if (depth === 2 && element === 'workbookPr') uses1904 = isTrue(attributes.get('date1904'))
      if (depth === 2 && element === 'calcPr') {
        const completed = attributes.get('calcCompleted')
        staleResults = completed === '0' ? 'marked' : completed === 'false' ? 'any' : 'none'
      }
      if (depth !== 3 || section !== 'sheets' || element !== 'sheet') return
      const worksheetPath = worksheetPaths.get(attributes.getPrefixed('id') ?? '')
      if (worksheetPath === undefined) return
      const name = decodeXstring(attributes.get('name') ?? '')
      tabs.push({ name, visible: (attributes.get('state') ?? 'visible') === 'visible', path: worksheetPath })
    },
  })
  return {
    path,
    relationships,
    tabs,
    sharedStringsPath: relationships.find(({ type }) => type === 'sharedStrings')?.path,
    stylesPath: relationships.find(({ type }) => type === 'styles')?.path,
    uses1904,
    staleResults,
  }
}

function isTrue(value: string | undefined): boolean {
  return value === '1' || value === 'true'
}
