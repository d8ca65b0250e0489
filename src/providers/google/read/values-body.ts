import { ProviderFailure } from '../../../sheets/provider-failure.ts'
import { fieldsOf, listOf, parseJsonBytes } from '../../remote/json-fields.ts'
import { type ColumnRange, columnsOfA1 } from './column-ranges.ts'

/** A cell as Google's JSON has it; an empty one is `""` between others and left out after the last. */
export type GoogleCell = string | number | boolean

/** The cells of the one range in an answer of `values:batchGetByDataFilter`. Heavy: for threads only. */
export function cellsIn(body: Uint8Array): GoogleCell[][] {
  const rows = rowsIn(body)
  for (const row of rows) for (const cell of row) if (!isCell(cell)) throw notValues()
  return rows as GoogleCell[][]
}

/** Some columns of an answer that has others between them. */
export interface CellsOfColumns extends ColumnRange {
  rows: GoogleCell[][]
}

/** The cells of all ranges, from left to right. */
export function rangesIn(body: Uint8Array): CellsOfColumns[] {
  const ranges = listOf(fieldsOf(parseJsonBytes(body)).valueRanges)
  if (ranges.length === 0) throw notValues()
  return ranges
    .map((range) => {
      const { valueRange } = fieldsOf(range)
      const rows = checkedRows(fieldsOf(valueRange))
      for (const row of rows) for (const cell of row) if (!isCell(cell)) throw notValues()
      const columns = columnsOfA1(String(fieldsOf(valueRange).range))
      if (!columns) throw notValues()
      return { ...columns, rows: rows as GoogleCell[][] }
    })
    .sort((one, other) => one.from - other.from)
}

/** Rows unchecked: whoever goes through the cells holds each against `isCell`. */
export function rowsIn(body: Uint8Array): unknown[][] {
  const [first] = listOf(fieldsOf(parseJsonBytes(body)).valueRanges)
  return checkedRows(fieldsOf(fieldsOf(first).valueRange))
}

function checkedRows(range: Record<string, unknown>): unknown[][] {
  // A tab without any value has no `values`, but it has a range.
  if (typeof range.range !== 'string') throw notValues()
  const rows = range.values ?? []
  if (!Array.isArray(rows) || !rows.every((row) => Array.isArray(row))) throw notValues()
  return rows
}

export function isCell(value: unknown): value is GoogleCell {
  return typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean'
}

export function notValues(): ProviderFailure {
  return new ProviderFailure("Google's response could not be read", { isPassing: true })
}
