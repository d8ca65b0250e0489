import { MAX_FOLLOWED_PART_BYTES } from '../../container/limits.ts'
import { readPartText, type XmlPart } from '../../container/part.ts'
import type { ZipArchive } from '../../container/zip.ts'
import { type FormulaShift, shiftFormula } from '../formulas/formula-shift.ts'
import { type CellRange, contains, parseRange, shiftRange, writeRange } from '../formulas/range.ts'
import type { RowShift } from '../formulas/row-shift.ts'
import { XmlEdits } from '../xml/xml-edits.ts'
import { readXmlTree, type XmlElement } from '../xml/xml-tree.ts'
import type { EditPlan } from './edit-plan.ts'
import { Obstacle } from './obstacle.ts'

/** A table (Insert > Table) of a tab: a range with a header row that the part has to agree with. */
export interface Table {
  part: XmlPart
  root: XmlElement
  name: string
  range: CellRange
  headerRows: number
  totalsRows: number
}

export async function openTable(archive: ZipArchive, path: string): Promise<Table | undefined> {
  const part = await readPartText(archive, path, MAX_FOLLOWED_PART_BYTES)
  const root = readXmlTree(part.text)
  const range = parseRange(root.attribute('ref') ?? '')
  if (range === undefined) return undefined
  return {
    part,
    root,
    name: root.attribute('displayName') ?? root.attribute('name') ?? '',
    range,
    headerRows: Number(root.attribute('headerRowCount') ?? 1),
    totalsRows: Number(root.attribute('totalsRowCount') ?? 0),
  }
}

/** The table after the changes to its tab; undefined when it stays as it is. */
export function changeTable(table: Table, plan: EditPlan, formulaShift: FormulaShift): XmlPart | undefined {
  const { part, root, range } = table
  const { shift } = plan
  refuseUpdates(table, plan)
  refuseDeletions(table, shift)
  const edits = new XmlEdits(part.text)
  const left = shiftRange(range, shift) ?? range
  const lastRow = lastRowAfterAdditions(table, left, plan)
  const grows = lastRow > left.lastRow
  for (const element of [root, ...root.descendants()]) {
    const reference = parseRange(element.attribute('ref') ?? '')
    if (reference === undefined) continue
    const own = shiftRange(reference, shift)
    if (own === null) throw shift.obstacle(`the table ${table.name} is sorted by it`, reference.firstRow)
    // The filter ends with the table, or above its row of totals; a table that grows has none.
    const isSpan = element === root || (element.parent === root && element.name === 'autoFilter')
    edits.setAttribute(element, 'ref', writeRange(grows && isSpan ? { ...own, lastRow } : own))
  }
  shiftTableFormulas(root, edits, formulaShift)
  return edits.isEmpty ? undefined : { ...part, text: edits.toText() }
}

/** Formulas of a table of another tab. */
export function changeForeignTable(
  table: Table,
  tab: string,
  formulaShift: FormulaShift,
): XmlPart | undefined {
  const edits = new XmlEdits(table.part.text)
  shiftTableFormulas(table.root, edits, formulaShift, tab)
  return edits.isEmpty ? undefined : { ...table.part, text: edits.toText() }
}

function shiftTableFormulas(
  root: XmlElement,
  edits: XmlEdits,
  formulaShift: FormulaShift,
  tab = formulaShift.tab,
): void {
  if (formulaShift.shift.isEmpty) return
  for (const element of root.descendants()) {
    if (!/^(?:calculatedColumnFormula|totalsRowFormula)$/.test(element.name)) continue
    const { text } = element
    const shifted = shiftFormula(text, { tab, words: 'a formula of a table' }, formulaShift)
    if (shifted !== text) edits.setText(element, shifted)
  }
}

/** Header and totals stand in the table's own part as well, and Excel repairs a workbook where the two differ. */
function refuseUpdates(table: Table, { writes }: EditPlan): void {
  for (const [row, { cells }] of writes) {
    if (!isHeaderOrTotals(table, row)) continue
    for (const [column, { changeAt }] of cells) {
      if (!contains(table.range, row, column + 1)) continue
      throw new Obstacle(changeAt, `The row holds the headers or the totals of the table ${table.name}.`)
    }
  }
}

function refuseDeletions(table: Table, shift: RowShift): void {
  const { range, headerRows, totalsRows } = table
  for (const row of shift.rows) {
    if (isHeaderOrTotals(table, row)) {
      throw shift.obstacle(`it holds the headers or the totals of the table ${table.name}`, row, row)
    }
  }
  const first = range.firstRow + headerRows
  const last = range.lastRow - totalsRows
  if (first <= last && shift.newRange(first, last) === null) {
    throw shift.obstacle(`it is the only row of the table ${table.name}`, first, last)
  }
}

function isHeaderOrTotals({ range, headerRows, totalsRows }: Table, row: number): boolean {
  const inRange = row >= range.firstRow && row <= range.lastRow
  return inRange && (row < range.firstRow + headerRows || row > range.lastRow - totalsRows)
}

/** As in Excel, rows added or put back right below a table (or in its empty rows) belong to it, unless it ends with totals. */
function lastRowAfterAdditions(
  { totalsRows }: Table,
  left: CellRange,
  { writes, shift, insertions }: EditPlan,
): number {
  let { lastRow } = left
  if (totalsRows > 0) return lastRow
  const added = [...writes].map(([row, write]) => ({ rowNumber: shift.newRow(row), write }))
  for (const { rowNumber, write } of [...added, ...insertions].sort(
    (one, other) => one.rowNumber - other.rowNumber,
  )) {
    if (!write.isAdded || rowNumber > lastRow + 1) continue
    const isInColumns = [...write.cells.keys()].some(
      (column) => column + 1 >= left.firstColumn && column + 1 <= left.lastColumn,
    )
    if (isInColumns) lastRow = Math.max(lastRow, rowNumber)
  }
  return lastRow
}
