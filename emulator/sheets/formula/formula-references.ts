import { columnIndex, columnLetters } from '../a1.ts'
import type { Dimension, Sheet, SheetCell, Spreadsheet } from '../model.ts'

/** Where lines came (count above 0) or went (below 0). */
export interface LineChange {
  sheet: Sheet
  dimension: Dimension
  start: number
  count: number
}

const CORNER = String.raw`(\$?)([A-Za-z]{1,3})?(\$?)(\d+)?`
/** A text in quotes, which is left alone, or a reference with its sheet and one or two corners. */
const PARTS =
  /"(?:[^"]|"")*"|((?:'(?:[^']|'')+'|[\p{L}_][\p{L}\p{N}_.]*)!)?(?<![\p{L}\p{N}_.$])(\$?[A-Za-z]{1,3}\$?\d+(?::\$?[A-Za-z]{1,3}\$?\d*)?|\$?[A-Za-z]{1,3}:\$?[A-Za-z]{1,3})(?![\p{L}\p{N}_(.])/gu
const LOST = '#REF!'

/** Formulas go on meaning the same cells when lines come or go; what pointed at a line that went points nowhere. */
export function adjustFormulas(spreadsheet: Spreadsheet, change: LineChange): void {
  for (const sheet of spreadsheet.sheets) {
    rewriteFormulas(sheet, (formula) =>
      rewritten(formula, (prefix, cells) => {
        const meant = prefix === undefined ? sheet.title : titleOf(prefix)
        return meant.toLowerCase() === change.sheet.title.toLowerCase() ? shifted(cells, change) : cells
      }),
    )
  }
}

/** A row that sorting moves takes along what its formulas say about their own row. */
export function movedByRows(cell: SheetCell | undefined, byRows: number): SheetCell | undefined {
  if (!cell?.entered || !('formulaValue' in cell.entered) || byRows === 0) return cell
  const formulaValue = rewritten(cell.entered.formulaValue, (prefix, cells) => {
    if (prefix !== undefined) return cells
    const corners = cells.split(':').map((text) => {
      const [, d1 = '', letters = '', d2 = '', digits] = cornerOf(text)
      if (digits === undefined || d2 === '$') return text
      return Number(digits) + byRows < 1 ? LOST : `${d1}${letters}${d2}${Number(digits) + byRows}`
    })
    return corners.includes(LOST) ? LOST : corners.join(':')
  })
  return { ...cell, entered: { formulaValue } }
}

function rewriteFormulas(sheet: Sheet, rewrite: (formula: string) => string): void {
  sheet.rows.forEach((row, at) => {
    if (!row.some((cell) => cell?.entered && 'formulaValue' in cell.entered)) return
    const cells = Array.from(row, (cell) => {
      if (!cell?.entered || !('formulaValue' in cell.entered)) return cell
      const formulaValue = rewrite(cell.entered.formulaValue)
      return formulaValue === cell.entered.formulaValue ? cell : { ...cell, entered: { formulaValue } }
    })
    if (cells.some((cell, column) => cell !== row[column])) sheet.rows[at] = cells
  })
}

function rewritten(
  formula: string,
  reference: (prefix: string | undefined, cells: string) => string,
): string {
  return formula.replace(PARTS, (whole: string, prefix: string | undefined, cells: string | undefined) => {
    if (cells === undefined) return whole
    const next = reference(prefix, cells)
    return next === LOST ? LOST : `${prefix ?? ''}${next}`
  })
}

function titleOf(prefix: string): string {
  const title = prefix.slice(0, -1)
  return title.startsWith("'") ? title.slice(1, -1).replaceAll("''", "'") : title
}

function cornerOf(text: string): (string | undefined)[] {
  return new RegExp(`^${CORNER}$`).exec(text) ?? []
}

function shifted(cells: string, { dimension, start, count }: LineChange): string {
  const [first = '', second] = cells.split(':')
  const from = indexIn(first, dimension)
  const to = second === undefined ? from : indexIn(second, dimension)
  const movedFrom = from === undefined ? undefined : moved(from, start, count, start)
  const movedTo = to === undefined ? undefined : moved(to, start, count, start - 1)
  if (movedFrom !== undefined && movedTo !== undefined && movedTo < movedFrom) return LOST
  const begin = withIndex(first, dimension, movedFrom)
  return second === undefined ? begin : `${begin}:${withIndex(second, dimension, movedTo)}`
}

/** `collapsed` is where an end of a reference comes to lie whose own line went. */
function moved(index: number, start: number, count: number, collapsed: number): number {
  if (index < start) return index
  if (count < 0 && index < start - count) return collapsed
  return index + count
}

function indexIn(text: string, dimension: Dimension): number | undefined {
  const [, , letters, , digits] = cornerOf(text)
  if (dimension === 'ROWS') return digits === undefined ? undefined : Number(digits) - 1
  return letters === undefined ? undefined : columnIndex(letters)
}

function withIndex(text: string, dimension: Dimension, index: number | undefined): string {
  if (index === undefined) return text
  const [, d1 = '', letters = '', d2 = '', digits = ''] = cornerOf(text)
  return dimension === 'ROWS'
    ? `${d1}${letters}${d2}${index + 1}`
    : `${d1}${columnLetters(index)}${d2}${digits}`
}
