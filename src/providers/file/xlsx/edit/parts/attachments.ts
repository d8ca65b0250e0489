import type { XmlPart } from '../../container/part.ts'
import type { Relationship } from '../../container/relationships.ts'
import type { ZipArchive } from '../../container/zip.ts'
import { type FormulaShift, shiftFormula } from '../formulas/formula-shift.ts'
import { type CellRange, contains, parseRange, shiftRange, writeRange } from '../formulas/range.ts'
import type { RowShift } from '../formulas/row-shift.ts'
import { XmlEdits } from '../xml/xml-edits.ts'
import type { XmlElement } from '../xml/xml-tree.ts'
import type { EditPlan } from './edit-plan.ts'
import { Obstacle } from './obstacle.ts'
import { openPart } from './open-part.ts'

/** Parts beside a worksheet that know no row of it, or whose rows are seen to. By the type of their relationship. */
const FOLLOWED_OR_WITHOUT_ROWS = new Set([
  'comments',
  'customProperty',
  'drawing',
  'hyperlink',
  'image',
  'pivotTable',
  'printerSettings',
  'queryTable',
  'slicer',
  'table',
  'threadedComment',
  'timeline',
  'vmlDrawing',
])

/** A part beside the tab whose rows we cannot move stands in the way of deleting a row. */
export function refuseUnknownAttachments(relationships: readonly Relationship[], shift: RowShift): void {
  const unknown = relationships.find(({ type }) => !FOLLOWED_OR_WITHOUT_ROWS.has(type))
  if (unknown) throw shift.obstacle(`the tab has something unknown to Rowport (${unknown.type})`)
}

/** Where pivot tables stand on the tab. */
export async function pivotTableRanges(
  archive: ZipArchive,
  relationships: readonly Relationship[],
): Promise<CellRange[]> {
  const ranges: CellRange[] = []
  for (const { type, path } of relationships) {
    if (type !== 'pivotTable' || !archive.has(path)) continue
    const { root } = await openPart(archive, path)
    const range = parseRange(root.child('location')?.attribute('ref') ?? '')
    if (range) ranges.push(range)
  }
  return ranges
}

export function refuseChangesInPivotTables(ranges: readonly CellRange[], { writes, shift }: EditPlan): void {
  for (const range of ranges) {
    if (range.lastRow >= shift.firstRow) throw shift.obstacle('there is a pivot table at or below it')
    for (const [row, { cells }] of writes) {
      for (const [column, { changeAt }] of cells) {
        if (contains(range, row, column + 1)) {
          throw new Obstacle(changeAt, 'The row is part of a pivot table.')
        }
      }
    }
  }
}

/** Pictures and charts over the tab, which move and shrink with its rows unless told not to. */
export async function shiftDrawing(
  archive: ZipArchive,
  path: string,
  shift: RowShift,
): Promise<XmlPart | undefined> {
  const { part, root } = await openPart(archive, path)
  const edits = new XmlEdits(part.text)
  for (const anchor of root.children) {
    const mode = anchor.attribute('editAs') ?? 'twoCell'
    const from = rowOf(anchor.child('from'))
    if (from === undefined || mode === 'absolute') continue
    const newFrom = shift.newRow(from)
    moveCorner(anchor.child('from'), newFrom, shift.isDeleted(from), edits)
    const to = rowOf(anchor.child('to'))
    if (to === undefined) continue
    if (mode === 'oneCell') moveCorner(anchor.child('to'), to - from + newFrom, false, edits)
    else moveCorner(anchor.child('to'), shift.newRow(to), shift.isDeleted(to), edits)
  }
  return edits.isEmpty ? undefined : { ...part, text: edits.toText() }
}

/** Anchors count rows from 0. */
function rowOf(corner: XmlElement | undefined): number | undefined {
  const row = Number(corner?.child('row')?.text)
  return Number.isInteger(row) ? row + 1 : undefined
}

function moveCorner(corner: XmlElement | undefined, row: number, isCut: boolean, edits: XmlEdits): void {
  const element = corner?.child('row')
  if (element && Number(element.text) !== row - 1) edits.setText(element, String(row - 1))
  const offset = corner?.child('rowOff')
  if (isCut && offset) edits.setText(offset, '0')
}

/** What a chart shows: `c:f` and `cx:f`. The values it keeps for itself are renewed when it is opened. */
export async function shiftChart(
  archive: ZipArchive,
  path: string,
  formulaShift: FormulaShift,
): Promise<XmlPart | undefined> {
  const { part, root } = await openPart(archive, path)
  const edits = new XmlEdits(part.text)
  for (const element of root.descendants()) {
    if (element.name !== 'f' || element.children.length > 0) continue
    const { text } = element
    const shifted = shiftFormula(text, { tab: undefined, words: 'a chart' }, formulaShift)
    if (shifted !== text) edits.setText(element, shifted)
  }
  return edits.isEmpty ? undefined : { ...part, text: edits.toText() }
}

/** Moves the range from which a pivot table takes its data. */
export async function shiftPivotSource(
  archive: ZipArchive,
  path: string,
  { tab, shift }: FormulaShift,
): Promise<XmlPart | undefined> {
  const { part, root } = await openPart(archive, path)
  const edits = new XmlEdits(part.text)
  for (const element of root.descendants()) {
    if (element.name !== 'worksheetSource' && element.name !== 'rangeSet') continue
    if (element.attribute('sheet')?.toLowerCase() !== tab.toLowerCase()) continue
    const range = parseRange(element.attribute('ref') ?? '')
    if (range === undefined) continue
    const left = shiftRange(range, shift)
    if (left === null || shift.isDeleted(range.firstRow)) {
      throw shift.obstacle('the data of a pivot table begins in it', range.firstRow, range.lastRow)
    }
    edits.setAttribute(element, 'ref', writeRange(left))
  }
  return edits.isEmpty ? undefined : { ...part, text: edits.toText() }
}
