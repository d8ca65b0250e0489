import { writeCellReference } from '../../read/cell-reference.ts'
import { type CellRange, contains, isOneCell, parseRange } from '../formulas/range.ts'
import type { EditPlan } from './edit-plan.ts'
import { Obstacle } from './obstacle.ts'
import type { SheetScan } from './sheet-scan.ts'

/** Refuses to write where a spreadsheet program would not let its user, or where nobody would see the value. */
export function refuseCellsInTheWay(scan: SheetScan, { writes, shift }: EditPlan): void {
  const merges = (scan.root.child('mergeCells')?.children ?? [])
    .map((merge) => parseRange(merge.attribute('ref') ?? ''))
    .filter((range) => range !== undefined)
  for (const { firstRow, lastRow } of merges) {
    if (shift.gaps.some((gap) => gap > firstRow && gap <= lastRow)) {
      throw shift.obstacle('cells above and below it are merged by now', firstRow, lastRow)
    }
  }
  const arrays = scan.filledByOneFormula.filter((range) => !isOneCell(range))
  for (const [row, { cells, formerCells }] of writes) {
    const isInRow = ({ firstRow, lastRow }: CellRange): boolean => row >= firstRow && row <= lastRow
    const mergesOfRow = merges.filter(isInRow)
    const arraysOfRow = arrays.filter(isInRow)
    if (mergesOfRow.length === 0 && arraysOfRow.length === 0) continue
    for (const [column, { value, changeAt }] of cells) {
      if (value === (formerCells[column] ?? null)) continue
      const reference = writeCellReference(row - 1, column)
      if (arraysOfRow.some((range) => contains(range, row, column + 1))) {
        throw new Obstacle(
          changeAt,
          `One formula fills ${reference} and other cells; it can only be changed as a whole.`,
        )
      }
      const isHidden = mergesOfRow.some(
        (range) =>
          contains(range, row, column + 1) && (range.firstRow !== row || range.firstColumn !== column + 1),
      )
      if (isHidden && value !== null) {
        throw new Obstacle(
          changeAt,
          `${reference} lies under merged cells, where its value would not be seen.`,
        )
      }
    }
  }
}

/** Refuses to take a row out of what one formula fills, or to put one in between. */
export function refuseCutFormulas(scan: SheetScan, { shift }: EditPlan): void {
  if (shift.isEmpty) return
  if (scan.hasDataTables) throw shift.obstacle('the tab has a data table (What-If Analysis)')
  for (const { firstRow, lastRow } of scan.filledByOneFormula) {
    const isCut =
      shift.rows.some((row) => row >= firstRow && row <= lastRow) ||
      shift.gaps.some((gap) => gap > firstRow && gap <= lastRow)
    if (firstRow === lastRow || !isCut) continue
    throw shift.obstacle('one formula fills this row and others', firstRow, lastRow)
  }
}
