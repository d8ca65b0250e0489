import type { Cell, Grid } from './grid.ts'

/** `?row_numbers=true` adds this key to a row, and bodies may carry it back, so no column can have it. */
export const rowNumberKey = '_row'

export interface Column {
  key: string
  /** Position in the sheet, from 0. */
  index: number
}

/**
 * CONTRACT 2: keys are the header cells, trimmed, in column order; a column without a header is not exposed; the
 * second `name` becomes `name_2`. A made-up key steps aside for a real header (`name`, `name`, `name_2` gives
 * `name`, `name_3`, `name_2`), so no column is ever lost.
 */
export function columnsOf(grid: Grid): Column[] {
  const headers = (grid.rows[0] ?? []).map(headerText)
  const taken = new Set(headers)
  const copies = new Map([[rowNumberKey, 1]])
  const columns: Column[] = []
  headers.forEach((header, index) => {
    if (header === '') return
    let copy = (copies.get(header) ?? 0) + 1
    let key = header
    if (copy > 1) {
      while (taken.has(`${header}_${copy}`)) copy++
      key = `${header}_${copy}`
      taken.add(key)
    }
    copies.set(header, copy)
    columns.push({ key, index })
  })
  return columns
}

function headerText(cell: Cell): string {
  if (typeof cell === 'boolean') return cell ? 'TRUE' : 'FALSE'
  return cell === null ? '' : String(cell).trim()
}

export function isBlank(row: readonly Cell[]): boolean {
  return row.every((cell) => cell === null)
}

/** The number of the last row with data in any column, also one without a header; 1 when there is only the header. */
export function lastRowWithData(grid: Grid): number {
  let last = grid.rows.length
  while (last > 1 && isBlank(grid.rows[last - 1] ?? [])) last--
  return Math.max(last, 1)
}

export function areSameColumns(one: readonly Column[], other: readonly Column[]): boolean {
  return (
    one.length === other.length &&
    one.every(({ key, index }, at) => other[at]?.key === key && other[at]?.index === index)
  )
}
