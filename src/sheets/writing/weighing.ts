import type { Change } from '../change.ts'
import type { Column } from '../rows/table.ts'
import type { JudgedTab } from './looks/judged-tab.ts'

/**
 * What is judged, sent and answered together: all of a row is compared and told, with every column of it, and that is done on the
 * thread that answers everybody.
 */
export const maxBytesTogether = 4 * 1024 * 1024

/** Where a provider tells rows cell by cell, with the format of each. */
const maxCellsTogether = 100_000
const usualColumns = 500

/** How many orders, of a row each, are looked at and sent together where rows are told cell by cell. null: nobody knows yet how wide the sheet is. */
export function ordersTogether(columnCount: number | null): number {
  return Math.max(1, Math.floor(maxCellsTogether / (columnCount ?? usualColumns)))
}

/** How much changes are to judge and to answer. `asRead`: the number that a row had when the tab was read. */
export function createWeighing({
  columns,
  rows,
}: JudgedTab): (
  changes: readonly Change[],
  asRead: (rowNumber: number) => number,
) => Generator<void, number> {
  const emptyRowBytes = bytesOfEmptyRow(columns)
  return function* (changes, asRead) {
    const bytesOf = (change: Change) =>
      change.kind === 'add'
        ? change.rows.length * emptyRowBytes
        : change.kind === 'insert'
          ? emptyRowBytes
          : (rows?.bytes(asRead(change.rowNumber)) ?? emptyRowBytes)
    let bytes = 0
    for (const change of changes) {
      bytes += bytesOf(change)
      yield
    }
    return bytes
  }
}

/** `"":null,` in an answer, and its slot in the row that is sent. */
const bytesAroundCell = 8

/** A column without a name before others takes a slot as well. */
export function bytesOfEmptyRow(columns: readonly Column[]): number {
  const slots = (columns.at(-1)?.index ?? 0) + 1
  return columns.reduce((sum, { key }) => sum + key.length + bytesAroundCell, bytesAroundCell * slots)
}
