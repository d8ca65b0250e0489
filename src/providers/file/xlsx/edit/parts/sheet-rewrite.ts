import { writeCellReference } from '../../read/cell-reference.ts'
import {
  type FormulaPlace,
  type FormulaShift,
  moveFormula,
  reaches,
  shiftFormula,
} from '../formulas/formula-shift.ts'
import { parseRange, shiftRange, writeRange } from '../formulas/range.ts'
import type { RowShift } from '../formulas/row-shift.ts'
import type { CellToWrite } from '../xml/cell-xml.ts'
import { newRow, type RowRewrite, rewriteRow } from '../xml/row-xml.ts'
import { escapeText, type XmlEdits } from '../xml/xml-edits.ts'
import type { XmlElement } from '../xml/xml-tree.ts'
import type { RowInsertion, RowWrite, WrittenValue } from './edit-plan.ts'
import { formulasIn, moveRow } from './row-move.ts'
import type { ScannedRow, SheetScan } from './sheet-scan.ts'

/** What a worksheet part is to become. */
export interface SheetRewrite {
  tab: string
  scan: SheetScan
  /** To all that is not a row. */
  edits: XmlEdits
  /** How the tab's own rows move. */
  shift: RowShift
  writes: ReadonlyMap<number, RowWrite>
  insertions: readonly RowInsertion[]
  look: Pick<RowRewrite, 'fitting'> & { styleOf(write: RowWrite, column: number): string | undefined }
  /** The cells of a new row that have a style and no value. */
  emptyCellsOf(write: RowWrite): readonly number[]
  /** What formulas have to follow. */
  formulaShift: FormulaShift
  /** Shared formulas whose cells each get the formula of their own, by index. */
  unshared: ReadonlySet<string>
}

/** The changed part, piece by piece: a large sheet is never held twice. */
export function* sheetPieces(rewrite: SheetRewrite): Generator<string> {
  const { scan, edits } = rewrite
  const { sheetData, text } = scan
  if (sheetData.closesItself) {
    yield* edits.pieces(0, sheetData.start)
    const tag = sheetData.openingTag.slice(1).match(/^[^\s/>]*/)?.[0] ?? ''
    yield `${sheetData.openingTag.slice(0, -2)}>`
    yield* rowPieces(rewrite, sheetData.end, sheetData.end)
    yield `</${tag}>`
    yield* edits.pieces(sheetData.end, text.length)
  } else {
    yield* edits.pieces(0, sheetData.openEnd)
    yield* rowPieces(rewrite, sheetData.openEnd, sheetData.closeStart)
    yield* edits.pieces(sheetData.closeStart, text.length)
  }
}

function* rowPieces(rewrite: SheetRewrite, start: number, end: number): Generator<string> {
  const { scan, shift, writes } = rewrite
  const { text } = scan
  const existing = new Set(scan.rows.map((row) => row.number))
  const fresh = [
    ...[...writes]
      .filter(([row]) => !existing.has(row))
      .map(([row, write]) => ({ row, number: shift.newRow(row), write })),
    // Before the row at whose place they come in.
    ...rewrite.insertions.map(({ gap, rowNumber, write }) => ({ row: gap - 0.5, number: rowNumber, write })),
  ].sort((one, other) => one.number - other.number)
  let nextFresh = 0
  let copied = start
  for (const row of scan.rows) {
    const upper = fresh[nextFresh]
    const isFreshAbove = upper !== undefined && upper.row < row.number
    if (!isFreshAbove && isUntouched(rewrite, row)) continue
    yield text.slice(copied, row.start)
    copied = row.start
    for (let above = upper; above !== undefined && above.row < row.number; above = fresh[++nextFresh]) {
      yield freshRow(rewrite, above)
    }
    if (isUntouched(rewrite, row)) continue
    if (!shift.isDeleted(row.number)) yield changedRow(rewrite, row)
    copied = row.end
  }
  const rowsEnd = Math.max(copied, scan.rows.at(-1)?.end ?? start)
  yield text.slice(copied, rowsEnd)
  for (const row of fresh.slice(nextFresh)) yield freshRow(rewrite, row)
  yield text.slice(rowsEnd, end)
}

function isUntouched(rewrite: SheetRewrite, row: ScannedRow): boolean {
  const { shift, writes } = rewrite
  if (!row.isNumbered || shift.isDeleted(row.number) || writes.has(row.number)) return false
  return shift.newRow(row.number) === row.number && (row.formulas === 0 || !mayChangeFormulas(rewrite, row))
}

function mayChangeFormulas({ scan, formulaShift, unshared }: SheetRewrite, row: ScannedRow): boolean {
  const { isEmpty, firstRow } = formulaShift.shift
  if (isEmpty && unshared.size === 0) return false
  return !row.isPlain || reaches(formulasIn(scan.text.slice(row.start, row.end)), firstRow)
}

function freshRow(rewrite: SheetRewrite, { number, write }: { number: number; write: RowWrite }): string {
  const { look, scan } = rewrite
  const cells = new Map<number, CellToWrite>(rewrite.emptyCellsOf(write).map((column) => [column, null]))
  for (const [column, written] of write.cells) cells.set(column, toWrite(written))
  return newRow(number, cells, scan.sheetData.prefix, {
    fitting: look.fitting,
    styleOf: (column) => look.styleOf(write, column),
  })
}

function changedRow(rewrite: SheetRewrite, row: ScannedRow): string {
  const { scan, shift, writes, look, tab, formulaShift } = rewrite
  const write = writes.get(row.number)
  const rowText = scan.text.slice(row.start, row.end)
  const moved =
    write === undefined && row.isPlain
      ? moveRow(rowText, row, shift.newRow(row.number), (formula, cell) =>
          shiftFormula(formula, placeOf(tab, cell), formulaShift),
        )
      : undefined
  if (moved !== undefined) return moved
  const cells = new Map<number, CellToWrite>()
  for (const [column, written] of write?.cells ?? []) cells.set(column, toWrite(written))
  return rewriteRow(rowText, {
    newNumber: shift.newRow(row.number),
    cells,
    formerCells: write?.formerCells ?? [],
    fitting: look.fitting,
    styleOf: (column) => write && look.styleOf(write, column),
    moveFormula: (formula, column, edits) => changeFormula(rewrite, row.number, formula, column, edits),
  })
}

function toWrite({ value, timeStyle }: WrittenValue): CellToWrite {
  return timeStyle !== undefined && typeof value === 'string' ? { time: value, timeStyle } : value
}

function changeFormula(
  rewrite: SheetRewrite,
  row: number,
  formula: XmlElement,
  column: number,
  edits: XmlEdits,
): void {
  const { scan, shift, unshared, tab, formulaShift } = rewrite
  const place = placeOf(tab, writeCellReference(row - 1, column))
  const shifted = (text: string): string => shiftFormula(text, place, formulaShift)
  const index = formula.attribute('t') === 'shared' ? formula.attribute('si') : undefined
  const shared = index === undefined ? undefined : scan.sharedFormulas.get(index)
  if (shared && index !== undefined) {
    if (!unshared.has(index)) return
    const own = shifted(moveFormula(shared.text, row - shared.row, column + 1 - shared.column))
    const tag = `${formula.prefix}f`
    const always = formula.attribute('ca')
    const attributes = always === undefined ? '' : ` ca="${always}"`
    edits.replace(formula.start, formula.end, `<${tag}${attributes}>${escapeText(own)}</${tag}>`)
    return
  }
  const range = parseRange(formula.attribute('ref') ?? '')
  const newRange = range && shiftRange(range, shift)
  if (newRange) edits.setAttribute(formula, 'ref', writeRange(newRange))
  const { text } = formula
  const own = shifted(text)
  if (own !== text) edits.setText(formula, own)
}

function placeOf(tab: string, cell: string): FormulaPlace {
  return { tab, words: `the formula in ${tab}!${cell}` }
}
