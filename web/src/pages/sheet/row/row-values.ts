import type { CellView, ColumnView } from '../../../../../src/dashboard/contract.ts'

export type Row = Record<string, CellView>

/** A cell as somebody edits it. */
export function asTyped(value: CellView | undefined): string {
  return value == null ? '' : String(value)
}

/** What was typed, as the sheet would hold it: a number or a yes and no only where the column has them. */
export function asCell(typed: string, type: string): CellView {
  if (typed === '') return null
  if (/\bnumber\b/.test(type) && /^-?\d+(?:\.\d+)?(?:e[+-]?\d+)?$/i.test(typed)) return Number(typed)
  if (/\bboolean\b/.test(type) && /^(?:true|false)$/i.test(typed)) return typed.toLowerCase() === 'true'
  return typed
}

export function asCsv(row: Row, columns: readonly Pick<ColumnView, 'name'>[]): string {
  const line = (cells: readonly string[]) => cells.map(quoted).join(',')
  return `${line(columns.map(({ name }) => name))}\n${line(columns.map(({ name }) => asTyped(row[name])))}\n`
}

function quoted(cell: string): string {
  return /[",\r\n]/.test(cell) ? `"${cell.replaceAll('"', '""')}"` : cell
}
