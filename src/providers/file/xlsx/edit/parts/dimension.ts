import { parseRange, shiftRange, writeRange } from '../formulas/range.ts'
import type { XmlEdits } from '../xml/xml-edits.ts'
import type { EditPlan } from './edit-plan.ts'
import type { SheetScan } from './sheet-scan.ts'

/** Keeps `dimension`, by which some readers reserve their room, around all cells. */
export function changeDimension(
  { root }: SheetScan,
  { shift, writes, insertions }: EditPlan,
  edits: XmlEdits,
): void {
  const element = root.child('dimension')
  const range = parseRange(element?.attribute('ref') ?? '')
  if (!element || !range) return
  const around = { ...(shiftRange(range, shift) ?? { ...range, firstRow: 1, lastRow: 1 }) }
  const written = [...writes].map(([row, { cells }]) => ({ row: shift.newRow(row), cells }))
  const inserted = insertions.map(({ rowNumber, write }) => ({ row: rowNumber, cells: write.cells }))
  for (const { row, cells } of [...written, ...inserted]) {
    for (const [column, { value }] of cells) {
      if (value === null) continue
      around.firstRow = Math.min(around.firstRow, row)
      around.lastRow = Math.max(around.lastRow, row)
      around.firstColumn = Math.min(around.firstColumn, column + 1)
      around.lastColumn = Math.max(around.lastColumn, column + 1)
    }
  }
  edits.setAttribute(element, 'ref', writeRange(around))
}
