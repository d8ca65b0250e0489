import type { Column } from '../rows/table.ts'
import type { JudgedTab } from './judged-tab.ts'
import type { Wish } from './order.ts'

/**
 * What is judged, sent and answered together: all of a row is compared and told, with every column of it, and that is done on the
 * thread that answers everybody.
 */
export const maxBytesTogether = 4 * 1024 * 1024

/** How much a wish is to judge and to answer. */
export function createWeighing({ columns, rows }: JudgedTab): (wish: Wish) => number {
  const emptyRowBytes = bytesOfEmptyRow(columns)
  return (wish) => {
    if (wish.kind === 'add') return wish.rows.length * emptyRowBytes
    return rows?.bytes(wish.rowNumber) ?? emptyRowBytes
  }
}

/** `"":null,` in an answer, and its slot in the row that is sent. */
const bytesAroundCell = 8

/** A column without a name before others takes a slot as well. */
export function bytesOfEmptyRow(columns: readonly Column[]): number {
  const slots = (columns.at(-1)?.index ?? 0) + 1
  return columns.reduce((sum, { key }) => sum + key.length + bytesAroundCell, bytesAroundCell * slots)
}
