import { MAX_INFLATED_BYTES } from '../../container/limits.ts'
import { readPartText, type XmlPart } from '../../container/part.ts'
import { type Relationship, readRelationships } from '../../container/relationships.ts'
import type { ZipArchive } from '../../container/zip.ts'
import type { Workbook, WorkbookTab } from '../../read/workbook.ts'
import { replaceReferences } from '../formulas/formula.ts'
import type { FormulaShift } from '../formulas/formula-shift.ts'
import { RowShift } from '../formulas/row-shift.ts'
import { XmlEdits } from '../xml/xml-edits.ts'
import {
  pivotTableRanges,
  refuseChangesInPivotTables,
  refuseUnknownAttachments,
  shiftChart,
  shiftDrawing,
  shiftPivotSource,
} from './attachments.ts'
import { shiftComments } from './comments.ts'
import type { EditPlan } from './edit-plan.ts'
import { shiftForeignSections } from './sections.ts'
import { sheetPieces } from './sheet-rewrite.ts'
import { scanSheet } from './sheet-scan.ts'
import { changeForeignTable, changeTable, openTable } from './tables.ts'

/** Sheets that are none of cells, with rows and formulas in forms of their own. */
const OTHER_SHEETS = new Set(['dialogsheet', 'xlMacrosheet', 'xlIntlMacrosheet'])

/** The parts beside the edited tab that change with it: always its tables, and where rows go all that names them. */
export async function followChanges(
  archive: ZipArchive,
  workbook: Workbook,
  tab: WorkbookTab,
  plan: EditPlan,
  /** Other tabs that have changed already, by path. */
  otherTabs: ReadonlyMap<string, XmlPart>,
): Promise<XmlPart[]> {
  const formulaShift = { tab: tab.name, shift: plan.shift }
  const attachments = await readRelationships(archive, tab.path)
  const changed: (XmlPart | undefined)[] = []
  for (const { type, path } of attachments) {
    if (type !== 'table' || !archive.has(path)) continue
    const table = await openTable(archive, path)
    if (table) changed.push(changeTable(table, plan, formulaShift))
  }
  refuseChangesInPivotTables(await pivotTableRanges(archive, attachments), plan)
  if (!plan.shift.isEmpty) {
    refuseUnknownAttachments(attachments, plan.shift)
    changed.push(...(await shiftComments(archive, attachments, plan.shift)))
    for (const { type, path } of attachments) {
      // One that is named and absent has no anchors that could have to follow.
      if (type === 'drawing' && archive.has(path)) changed.push(await shiftDrawing(archive, path, plan.shift))
    }
    changed.push(...(await followDeletions(archive, workbook, tab, formulaShift, otherTabs)))
  }
  const followed = changed.filter((part) => part !== undefined)
  const paths = new Set(followed.map(({ path }) => path))
  return [...followed, ...[...otherTabs.values()].filter(({ path }) => !paths.has(path))]
}

async function followDeletions(
  archive: ZipArchive,
  workbook: Workbook,
  tab: WorkbookTab,
  formulaShift: FormulaShift,
  otherTabs: ReadonlyMap<string, XmlPart>,
): Promise<(XmlPart | undefined)[]> {
  const { shift } = formulaShift
  const changed: (XmlPart | undefined)[] = []
  for (const { type, path } of workbook.relationships) {
    if (OTHER_SHEETS.has(type)) throw shift.obstacle('the workbook has dialogs or macros of the old kind')
    if (type === 'volatileDependencies') throw shift.obstacle('the workbook has cells with live data')
    if (type === 'pivotCacheDefinition') changed.push(await shiftPivotSource(archive, path, formulaShift))
    if (type !== 'worksheet' && type !== 'chartsheet') continue
    const attachments = await readRelationships(archive, path)
    changed.push(...(await followIntoCharts(archive, attachments, formulaShift)))
    if (path === tab.path) continue
    if (attachments.some((attachment) => attachment.type === 'ctrlProp')) {
      throw shift.obstacle('another tab has form controls, which may be linked to it')
    }
    const other = workbook.tabs.find((candidate) => candidate.path === path)
    if (other === undefined) continue
    for (const attachment of attachments) {
      if (attachment.type !== 'table' || !archive.has(attachment.path)) continue
      const table = await openTable(archive, attachment.path)
      if (table) changed.push(changeForeignTable(table, other.name, formulaShift))
    }
    changed.push(await followIntoTab(archive, other, formulaShift, otherTabs.get(path)))
  }
  return changed
}

async function followIntoCharts(
  archive: ZipArchive,
  attachments: readonly Relationship[],
  formulaShift: FormulaShift,
): Promise<(XmlPart | undefined)[]> {
  const changed: (XmlPart | undefined)[] = []
  for (const drawing of attachments.filter(({ type }) => type === 'drawing')) {
    for (const { type, path } of await readRelationships(archive, drawing.path)) {
      const isChart = (type === 'chart' || type === 'chartEx') && archive.has(path)
      if (isChart) changed.push(await shiftChart(archive, path, formulaShift))
    }
  }
  return changed
}

/** Formulas of another tab. */
async function followIntoTab(
  archive: ZipArchive,
  { name, path }: WorkbookTab,
  formulaShift: FormulaShift,
  marked: XmlPart | undefined,
): Promise<XmlPart | undefined> {
  const part = marked ?? (await readPartText(archive, path, MAX_INFLATED_BYTES))
  if (!mayName(part.text, formulaShift.tab)) return undefined
  const scan = scanSheet(part.text)
  const edits = new XmlEdits(part.text)
  shiftForeignSections(scan.root, edits, name, formulaShift)
  const unshared = [...scan.sharedFormulas]
    .filter(([, { text }]) => names(text, formulaShift.tab))
    .map(([index]) => index)
  const pieces = sheetPieces({
    tab: name,
    scan,
    edits,
    shift: new RowShift(new Map()),
    writes: new Map(),
    insertions: [],
    look: { fitting: (_cell, style) => ({ cell: null, style }), styleOf: () => undefined },
    emptyCellsOf: () => [],
    formulaShift,
    unshared: new Set(unshared),
  })
  const text = [...pieces].join('')
  return text === part.text ? undefined : { ...part, text }
}

/** Spares most tabs the effort. A name with characters that formulas or XML write differently is looked for in vain. */
function mayName(text: string, tab: string): boolean {
  return !/^[\w .-]+$/.test(tab) || new RegExp(`${RegExp.escape(tab)}'?!`, 'i').test(text)
}

function names(formula: string, tab: string): boolean {
  let isFound = false
  replaceReferences(formula, (reference) => {
    if (reference.tab?.toLowerCase() === tab.toLowerCase() || reference.reach === 'tabs') isFound = true
    return undefined
  })
  return isFound
}
