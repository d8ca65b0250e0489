import type { Grid } from './grid.ts'
import type { Column } from './table.ts'

/** A column with results of formulas that are outdated. */
export interface StaleColumn {
  key: string
  /** The numbers of the rows, ascending. */
  rowNumbers: Uint32Array<ArrayBuffer>
}

/** Outdated results in listed rows and columns with a name; mostly none. */
export function staleColumnsOf(
  { stale }: Grid,
  columns: readonly Column[],
  rowNumbers: Uint32Array,
): StaleColumn[] {
  if (stale === undefined) return []
  return columns.flatMap(({ key, index }) => {
    const rows = rowNumbers.filter((number) => stale.get(number - 1)?.has(index))
    return rows.length === 0 ? [] : { key, rowNumbers: new Uint32Array(rows) }
  })
}

export function isStaleIn({ rowNumbers }: StaleColumn, rowNumber: number): boolean {
  let low = 0
  let high = rowNumbers.length - 1
  while (low <= high) {
    const middle = (low + high) >>> 1
    const found = rowNumbers[middle] ?? 0
    if (found === rowNumber) return true
    if (found < rowNumber) low = middle + 1
    else high = middle - 1
  }
  return false
}

/* What clients are told, in headers too: ASCII alone. */

const until = 'until a spreadsheet program has opened and saved the workbook'

/** null where nothing is outdated. */
export function warningOfSheet(stale: readonly StaleColumn[]): string | null {
  const count = stale.reduce((sum, { rowNumbers }) => sum + rowNumbers.length, 0)
  if (count === 0) return null
  return `Formulas of this sheet were not calculated since the last write: ${cells(count)} no result or an earlier one, ${until}.`
}

export function warningOfRow(staleKeys: readonly string[]): string | null {
  if (staleKeys.length === 0) return null
  return `Formulas of this row were not calculated since the last write: ${cells(staleKeys.length)} no result or an earlier one, ${until}.`
}

/** The warning of an answer with one row or several. */
export function warningOfRows(
  stale: readonly { key: string; rowNumbers: readonly number[] }[],
): string | null {
  const rows = new Set(stale.flatMap(({ rowNumbers }) => rowNumbers))
  if (rows.size <= 1) return warningOfRow(stale.map(({ key }) => key))
  const count = stale.reduce((sum, { rowNumbers }) => sum + rowNumbers.length, 0)
  return `Formulas of these rows were not calculated since the last write: ${cells(count)} no result or an earlier one, ${until}.`
}

/** `count` of the whole spreadsheet, the row of the answer included. */
export function warningOfWrite(count: number): string {
  return `Formulas that rest on what was written are not calculated: ${cells(count)} no result, ${until}.`
}

function cells(count: number): string {
  return count === 1 ? '1 cell has' : `${count} cells have`
}
