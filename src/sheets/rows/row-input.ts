import { Refusal } from '../../errors.ts'
import { foldName, shortenName } from './column-name.ts'
import type { Cell } from './grid.ts'
import { nearestName } from './nearest-name.ts'
import { type Column, isBlank, rowNumberKey } from './table.ts'

/** A row as a client sent it: key and value, in the order of the body. */
export type RowInput = readonly (readonly [key: string, value: Cell])[]

/** A cell that a body names. */
export interface GivenCell {
  column: Column
  value: Cell
}

/**
 * Body keys → cells (docs/contract.md#fields): a key matches a header exactly, else trimmed and in any case. One that
 * matches none refuses the whole request, and the answer names the header that was probably meant.
 */
export function createCellMapping(
  columns: readonly Column[],
  unknownFields: 'reject' | 'ignore',
): (row: RowInput) => GivenCell[] | Refusal {
  const exact = new Map(columns.map((column) => [column.key, column]))
  // Made when a key needs it, which is seldom: with 2,000 columns it costs 4 ms.
  let alike: Map<string, Column[]> | null = null
  const alikeTo = (key: string): readonly Column[] => {
    alike ??= Map.groupBy(columns, (column) => foldName(column.key))
    return alike.get(foldName(key)) ?? []
  }

  return (row) => {
    const cells: GivenCell[] = []
    const given = new Map<Column, string>()
    for (const [key, value] of row) {
      if (key === rowNumberKey) continue
      const matches = exact.has(key) ? [exact.get(key)] : alikeTo(key)
      const column = matches[0]
      if (!column) {
        if (unknownFields === 'ignore') continue
        return invalidRow(`Unknown field "${shortenName(key)}". ${suggestion(key, columns)}`)
      }
      if (matches.length > 1)
        return invalidRow(`"${key}" could be several columns; write it exactly as in the sheet.`)
      const earlier = given.get(column)
      if (earlier !== undefined)
        return invalidRow(`"${earlier}" and "${key}" both name the column "${column.key}".`)
      given.set(column, key)
      // An empty text is an empty cell: every spreadsheet would read it back as one.
      cells.push({ column, value: value === '' ? null : value })
    }
    return cells
  }
}

/** A new row's cells by position in the sheet; what was not given is empty, and something must be given. */
export function wholeRow(cells: readonly GivenCell[]): Cell[] | Refusal {
  const width = cells.reduce((widest, { column }) => Math.max(widest, column.index + 1), 0)
  const row = new Array<Cell>(width).fill(null)
  for (const { column, value } of cells) row[column.index] = value
  return isBlank(row) ? invalidRow('A row needs at least one cell that is not empty.') : row
}

/** The cells of a row that change; `null` empties one. */
export function changedCells(cells: readonly GivenCell[]): { columnIndex: number; value: Cell }[] | Refusal {
  if (cells.length === 0) return invalidRow('The body names no column of the sheet.')
  return cells.map(({ column, value }) => ({ columnIndex: column.index, value }))
}

function suggestion(key: string, columns: readonly Column[]): string {
  const keys = columns.map((column) => column.key)
  const nearest = nearestName(key, keys)
  if (nearest !== null) return `Did you mean "${shortenName(nearest)}"?`
  const shown = keys.slice(0, 20).map((name) => `"${shortenName(name)}"`)
  return `The columns are ${shown.join(', ')}${columns.length > shown.length ? ' and more' : ''}.`
}

function invalidRow(details: string): Refusal {
  return new Refusal('invalid_body', { details })
}
