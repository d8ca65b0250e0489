import type { Change, ChangeResult, Edited, Unfit } from '../../../../sheets/change.ts'
import type { Cell } from '../../../../sheets/rows/grid.ts'
import { columnsOf } from '../../../../sheets/rows/table.ts'
import { xlsxFailure } from '../container/failure.ts'
import { MAX_DIRECTORY_PART_BYTES, MAX_INFLATED_BYTES } from '../container/limits.ts'
import { chooseTab, failingInOwnersWords, openWorkbook } from '../container/open.ts'
import { readPartText, type XmlPart } from '../container/part.ts'
import { readRelationships } from '../container/relationships.ts'
import { openZip, partKey, type ZipArchive } from '../container/zip.ts'
import { rewriteZip } from '../container/zip-rewrite.ts'
import { readCellFormats } from '../read/cell-formats.ts'
import { createTypedReader } from '../read/cell-value.ts'
import { createGridBuilder, refuseLargeGrid } from '../read/grid-builder.ts'
import { readSharedStrings } from '../read/shared-strings.ts'
import type { Workbook } from '../read/workbook.ts'
import { createWorksheetHandler } from '../read/worksheet.ts'
import { reaches } from './formulas/formula-shift.ts'
import { createCellStyles } from './parts/cell-styles.ts'
import { refuseCellsInTheWay, refuseCutFormulas } from './parts/cells-in-the-way.ts'
import { changeDimension } from './parts/dimension.ts'
import { type EditPlan, emptyCells, planChanges } from './parts/edit-plan.ts'
import { followChanges } from './parts/follow.ts'
import { withLost } from './parts/lost-cells.ts'
import { Obstacle } from './parts/obstacle.ts'
import { encodeXml, refuseOtherEncodings } from './parts/part-output.ts'
import { shiftSections } from './parts/sections.ts'
import { sheetPieces } from './parts/sheet-rewrite.ts'
import { type SheetScan, scanSheet } from './parts/sheet-scan.ts'
import { openStyles } from './parts/styles.ts'
import { changeWorkbookPart, readDefinedNames, withoutPart } from './parts/workbook-part.ts'
import { refuseUnlessReadBack } from './read-back.ts'
import { markStale, type StaleMarks } from './stale/stale-marks.ts'
import { XmlEdits } from './xml/xml-edits.ts'

export interface EditedWorkbook extends Edited {
  /** Row 1. */
  header: Cell[]
  /** Row 1, as it was read back. */
  known?: { header: Cell[] }
}

/**
 * Makes these changes to one tab of the workbook one after the other, or names the change that cannot be made. Parts that
 * no change concerns keep their bytes, elements that none concerns their text. Bounded like reading; whatever the
 * bytes are, the outcome is one of the two or a `ProviderFailure`.
 */
export async function editXlsx(
  bytes: Uint8Array,
  tab: string | undefined,
  changes: readonly Change[],
): Promise<EditedWorkbook | Unfit> {
  if (changes.length === 0) return { bytes, results: [], header: [] }
  return failingInOwnersWords(async () => {
    try {
      return await edit(bytes, tab, changes)
    } catch (error) {
      if (!(error instanceof Obstacle)) throw error
      return { changeAt: error.changeAt, reason: 'file', details: error.message }
    }
  })
}

async function edit(
  bytes: Uint8Array,
  wantedTab: string | undefined,
  changes: readonly Change[],
): Promise<EditedWorkbook | Unfit> {
  const { archive, workbook } = await openWorkbook(bytes)
  await refuseSealed(archive, workbook)
  const tab = chooseTab(workbook.tabs, wantedTab)
  const sharedStrings = await readSharedStrings(archive, workbook.sharedStringsPath)
  const cellFormats = await readCellFormats(archive, workbook.stylesPath)
  const bytesBeforeSheet = archive.remainingBytes
  const part = await readPartText(archive, tab.path, MAX_INFLATED_BYTES)
  const builder = createGridBuilder()
  const reader = createTypedReader({ sharedStrings, cellFormats, uses1904: workbook.uses1904 })
  const unmarked = scanSheet(part.text, createWorksheetHandler(builder, reader))
  refuseProtection(unmarked)

  const grid = builder.finish()
  const headerWidth = grid.rows[0]?.length ?? 0
  const uncalculatedRows = unmarked.rows.filter((row) => row.isUncalculated).map((row) => row.number)
  const plan = planChanges(grid, changes, uncalculatedRows)
  if ('reason' in plan) return plan
  refuseLargeGrid(grid)
  refuseCellsInTheWay(unmarked, plan)
  refuseCutFormulas(unmarked, plan)

  // A budget of its own: what the change leads to beside the tab must not count against reading the result.
  const others = openZip(bytes)
  const names = readDefinedNames(await readPartText(others, workbook.path, MAX_DIRECTORY_PART_BYTES))
  const namedColumns = columnsOf(grid).map(({ index }) => index)
  const stale = await markStale(openZip(bytes), workbook, tab, part, names, plan, namedColumns)
  emptyCells(grid, plan, stale.emptied)
  const scan = stale.text === part.text ? unmarked : scanSheet(stale.text)
  const styles = await openStyles(others, workbook.stylesPath, cellFormats, workbook.uses1904)
  const formulaShift = { tab: tab.name, shift: plan.shift }
  const edits = new XmlEdits(scan.text)
  changeDimension(scan, plan, edits)
  if (!plan.shift.isEmpty) shiftSections(scan.root, edits, formulaShift)
  const newText = sheetPieces({
    tab: tab.name,
    scan,
    edits,
    shift: plan.shift,
    writes: plan.writes,
    insertions: plan.insertions,
    ...createCellStyles(scan, styles, headerWidth),
    formulaShift,
    unshared: unsharedFormulas(scan, plan),
  })

  const changedParts = new Map<string, Iterable<Buffer> | null>()
  const put = (changed: XmlPart): void => {
    refuseOtherEncodings(changed)
    changedParts.set(partKey(changed.path), encodeXml([changed.text], changed.encoding))
  }
  for (const changed of await followChanges(others, workbook, tab, plan, stale.otherTabs)) put(changed)
  for (const changed of await changeWorkbook(others, workbook, scan, plan, tab.name, stale)) {
    if ('gone' in changed) changedParts.set(partKey(changed.gone), null)
    else put(changed)
  }
  refuseOtherEncodings(part)
  const sheetBytes = [...bounded(encodeXml(newText, part.encoding), bytesBeforeSheet)]
  changedParts.set(partKey(part.path), sheetBytes)
  // The rows are written by now, and with them the styles they had need of.
  const changedStyles = styles.changedPart()
  if (changedStyles) put(changedStyles)
  const edited = await rewriteZip(bytes, changedParts)
  const keys = Map.groupBy(changedParts.keys(), (key) =>
    changedParts.get(key) === null ? 'gone' : 'changed',
  )
  await refuseUnlessReadBack(bytes, edited, {
    tab: wantedTab,
    tabPart: partKey(part.path),
    // `planChanges` has made the changes to it.
    grid,
    changedParts: new Set(keys.get('changed')),
    goneParts: new Set(keys.get('gone')),
    strings: workbook.sharedStringsPath ? { path: workbook.sharedStringsPath, strings: sharedStrings } : null,
  })
  const marked = withStaleCells(plan, stale)
  if ('reason' in marked) return marked
  const results = withLost(marked, changes, plan, unmarked, reader)
  const header = grid.rows[0] ?? []
  return { bytes: edited, results, header, known: { header } }
}

/** A client is told each of them. */
const mostOutdatedCells = 100_000

/** What the answer shows of a row may be outdated by the change, or may have been before it. */
function withStaleCells({ results, rowsOfResults }: EditPlan, stale: StaleMarks): ChangeResult[] | Unfit {
  const marked: ChangeResult[] = []
  let outdated = 0
  for (const [changeAt, result] of results.entries()) {
    const row = rowsOfResults[changeAt] ?? null
    const columns = row === null ? [] : stale.columnsOf(row)
    outdated += columns.length
    if (outdated > mostOutdatedCells) {
      const details = `Formulas in more than ${mostOutdatedCells} cells of these rows have no result, and each would have to be told.`
      return { changeAt, reason: 'file', details, advice: 'Change fewer rows at a time.' }
    }
    const isConcerned = stale.cells > 0 || columns.length > 0
    marked.push(isConcerned ? { ...result, stale: { columns, cells: stale.cells } } : result)
  }
  return marked
}

/** What a change would break as a whole, whatever it is. */
async function refuseSealed(archive: ZipArchive, workbook: Workbook): Promise<void> {
  const belongings = await readRelationships(archive, '')
  const isSigned = belongings.some(
    ({ type, path }) => type === 'origin' || path.startsWith('_xmlsignatures/'),
  )
  if (isSigned) throw xlsxFailure('signed', 'the package has signatures')
  if (workbook.relationships.some(({ type }) => type === 'revisionHeaders')) {
    throw xlsxFailure('shared', 'the workbook has a log of revisions')
  }
}

function refuseProtection({ root }: SheetScan): void {
  const isProtected = root.child('sheetProtection')?.attribute('sheet')
  if (isProtected === '1' || isProtected === 'true') throw xlsxFailure('protectedTab', 'sheetProtection')
}

/** Shared formulas that must end: rows go that they know, or the cell that has the text is written over. */
function unsharedFormulas({ sharedFormulas }: SheetScan, { shift, writes }: EditPlan): Set<string> {
  const unshared = [...sharedFormulas].filter(([, { row, column, lastRow, text }]) => {
    const isCut = lastRow >= shift.firstRow || reaches(text, shift.firstRow - (lastRow - row))
    return isCut || writes.get(row)?.cells.has(column - 1)
  })
  return new Set(unshared.map(([index]) => index))
}

/** The workbook part, and the order of calculation, which is taken away where it names cells that are others now. */
async function changeWorkbook(
  archive: ZipArchive,
  workbook: Workbook,
  scan: SheetScan,
  plan: EditPlan,
  tab: string,
  { cells, isUnbounded }: StaleMarks,
): Promise<(XmlPart | { gone: string })[]> {
  const { path, relationships } = workbook
  const open = (name: string): Promise<XmlPart> => readPartText(archive, name, MAX_DIRECTORY_PART_BYTES)
  const changed: (XmlPart | { gone: string })[] = []
  const order = relationships.find(({ type }) => type === 'calcChain')
  const recalculates = scan.hasFormulas || order !== undefined || workbook.tabs.length > 1
  const formulaShift = { tab, shift: plan.shift }
  const stale = isUnbounded ? 'any' : cells > 0 ? 'marked' : null
  const part = changeWorkbookPart(await open(path), { recalculates, stale, formulaShift })
  if (part) changed.push(part)

  const touchesFormulas =
    !plan.shift.isEmpty || scan.rows.some((row) => row.formulas > 0 && plan.writes.has(row.number))
  if (order && archive.has(order.path) && touchesFormulas) {
    changed.push({ gone: order.path })
    const slash = path.lastIndexOf('/') + 1
    const links = await open(`${path.slice(0, slash)}_rels/${path.slice(slash)}.rels`)
    changed.push(withoutPart(links, (element) => element.attribute('Id') === order.id))
    const types = await open('[Content_Types].xml')
    const key = partKey(order.path)
    changed.push(withoutPart(types, (element) => partKey(element.attribute('PartName') ?? '') === key))
  }
  return changed
}

/** What could be written but not read again is too large. */
function* bounded(pieces: Iterable<Buffer>, maxBytes: number): Generator<Buffer> {
  let bytes = 0
  for (const piece of pieces) {
    bytes += piece.length
    if (bytes > maxBytes) throw xlsxFailure('tooLarge', 'the changed tab is too large to be read')
    yield piece
  }
}
