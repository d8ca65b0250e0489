import { ProviderFailure } from '../provider-failure.ts'
import type { Cell, Grid } from './grid.ts'

/** `?row_numbers=true` adds this key to a row, and bodies may carry it back, so no column can have it. */
export const rowNumberKey = '_row'

export interface Column {
  key: string
  /** Position in the sheet, from 0. */
  index: number
}

/**
 * Columns with a name. Everything that is said about a sheet is as long as they are many, and some of it is made on the
 * thread that answers everybody (docs/decisions/019).
 */
export const maxColumns = 2_000
/** Upper bound on all names together. Each row repeats them, and so does each description, several times. */
export const maxHeaderBytes = 128 * 1024
/** Where the last name may stand: no spreadsheet is wider (Google's last column is ZZZ, Excel's XFD). */
const maxColumnPosition = 18_278

/**
 * To be told of each cell of row 1 as it is read, so that a header of 300,000 columns is refused before the rest of the
 * sheet is looked at. Columns without a name cost nothing, as long as they are no more than a spreadsheet has.
 */
export function createHeaderCheck(): (cell: Cell, index: number) => void {
  let columns = 0
  let bytes = 0
  return (cell, index) => {
    const name = headerText(cell)
    if (name === '') return
    if (++columns > maxColumns) {
      throw new ProviderFailure(
        `the sheet has more than ${maxColumns.toLocaleString('en')} columns with a name in row 1; ` +
          'remove some, or split the sheet into several',
      )
    }
    if (index >= maxColumnPosition) {
      throw new ProviderFailure(
        `a name in row 1 stands farther right than column ${maxColumnPosition.toLocaleString('en')}; ` +
          'remove the empty columns before it',
      )
    }
    // As JSON has it, where one control character is six: descriptions have each name ten times over.
    bytes += Buffer.byteLength(JSON.stringify(name)) - 2
    if (bytes > maxHeaderBytes) {
      throw new ProviderFailure(
        `the names in row 1 have more than ${maxHeaderBytes / 1024} KiB together; shorten them`,
      )
    }
  }
}

/**
 * Keys are the header cells, trimmed, in column order; a column without a header is not exposed; the second `name`
 * becomes `name_2` (docs/contract.md#columns). A made-up key steps aside for a real header (`name`, `name`, `name_2`
 * gives `name`, `name_3`, `name_2`), so no column is ever lost.
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

/** The columns of a sheet that is to be served; throws where there are more than can be. */
export function servedColumnsOf(grid: Grid): Column[] {
  grid.rows[0]?.forEach(createHeaderCheck())
  return columnsOf(grid)
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
  for (const index of grid.uncalculated ?? []) last = Math.max(last, index + 1)
  return Math.max(last, 1)
}

/** By its exact name, else in any case where that leaves no doubt; null where there is none. */
export function positionOfColumn(columns: readonly Column[], name: string): number | null {
  const exact = columns.findIndex(({ key }) => key === name)
  if (exact !== -1) return exact
  const folded = name.trim().toLowerCase()
  const alike = [...columns.keys()].filter((at) => columns[at]?.key.toLowerCase() === folded)
  return alike.length === 1 ? (alike[0] ?? null) : null
}

export function areSameColumns(one: readonly Column[], other: readonly Column[]): boolean {
  return (
    one.length === other.length &&
    one.every(({ key, index }, at) => other[at]?.key === key && other[at]?.index === index)
  )
}
