import { MAX_COLUMNS, MAX_ROWS } from '../../container/limits.ts'
import { type FormulaReference, type ReferencePoint, replaceReferences } from './formula.ts'
import type { RowShift } from './row-shift.ts'

/** Rows go from `tab`; formulas everywhere have to follow. */
export interface FormulaShift {
  tab: string
  shift: RowShift
}

/** Where a formula stands: the tab its plain references mean, and its name in a refusal. */
export interface FormulaPlace {
  tab: string | undefined
  words: string
}

/** The formula after the rows have gone. One that would lose a row it names alone is an obstacle, not a `#REF!`. */
export function shiftFormula(formula: string, place: FormulaPlace, { tab, shift }: FormulaShift): string {
  if (!reaches(formula, shift.firstRow)) return formula
  return replaceReferences(formula, (reference) => {
    if (!concerns(reference, place, { tab, shift })) return undefined
    const { first, last = first } = reference
    const rows = shift.newRange(Math.min(first.row, last.row), Math.max(first.row, last.row))
    if (rows === null) throw shift.obstacle(`${place.words} refers to it`, first.row, last.row)
    const [low, high] = rows
    const isUpsideDown = first.row > last.row
    return withRows(reference, isUpsideDown ? high : low, isUpsideDown ? low : high)
  })
}

/** Whether there is a number in it that could be a row from this one on; most formulas are spared the effort. */
export function reaches(formula: string, row: number): boolean {
  return formula.match(/\d+/g)?.some((digits) => Number(digits) >= row) ?? false
}

/**
 * A formula that is written once for a whole range (a validation, a conditional format): its relative references
 * count from the range's upper row. Where that row or the one meant is gone, the distance between them stays.
 */
export function shiftRangeFormula(
  formula: string,
  place: FormulaPlace,
  formulaShift: FormulaShift,
  top: { before: number; after: number },
): string {
  const { shift } = formulaShift
  return replaceReferences(formula, (reference) => {
    if (!concerns(reference, place, formulaShift)) return undefined
    const { first, last = first } = reference
    const isRelative = !first.rowIsFixed || !last.rowIsFixed
    const isCut = [top.before, first.row, last.row].some((row) => shift.isDeleted(row))
    if (!isRelative || !isCut) {
      const rows = shift.newRange(first.row, last.row)
      if (rows === null) throw shift.obstacle(`${place.words} refers to it`, first.row, last.row)
      return withRows(reference, ...rows)
    }
    const follow = ({ row, rowIsFixed }: ReferencePoint): number =>
      rowIsFixed ? shift.newRow(row) : top.after + row - top.before
    const rows: [number, number] = [follow(first), follow(last)]
    if (rows.some((row) => row < 1 || row > MAX_ROWS)) {
      throw shift.obstacle(`${place.words} refers to it`, first.row, last.row)
    }
    return withRows(reference, ...rows)
  })
}

function concerns(
  { tab, reach, first }: FormulaReference,
  place: FormulaPlace,
  formulaShift: FormulaShift,
): boolean {
  if (reach === 'workbook' || first.row === 0) return false
  if (reach === 'tabs') throw formulaShift.shift.obstacle(`${place.words} refers to several tabs at once`)
  return (tab ?? place.tab)?.toLowerCase() === formulaShift.tab.toLowerCase()
}

function withRows(
  { first, last }: FormulaReference,
  firstRow: number,
  lastRow: number,
): Pick<FormulaReference, 'first' | 'last'> | undefined {
  if (firstRow === first.row && (last === undefined || lastRow === last.row)) return undefined
  return { first: { ...first, row: firstRow }, last: last && { ...last, row: lastRow } }
}

/** A shared formula as another cell of its range has it: relative references move along, round the edges. */
export function moveFormula(formula: string, rows: number, columns: number): string {
  const moved = (value: number, by: number, isFixed: boolean, max: number): number =>
    isFixed || value === 0 ? value : ((((value - 1 + by) % max) + max) % max) + 1
  const movedPoint = (point: ReferencePoint): ReferencePoint => ({
    ...point,
    row: moved(point.row, rows, point.rowIsFixed, MAX_ROWS),
    column: moved(point.column, columns, point.columnIsFixed, MAX_COLUMNS),
  })
  return replaceReferences(formula, ({ first, last }) => ({
    first: movedPoint(first),
    last: last && movedPoint(last),
  }))
}
