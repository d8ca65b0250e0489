import type { Cell } from './grid.ts'
import type { Column } from './table.ts'

/** All that JSON.stringify leaves as it is, and can so stand between quotes. */
const needsNoEscaping = /^[^"\\\p{Cc}\p{Cs}]*$/u

/**
 * Writes rows as JSON text, keys in column order. By hand, because an object would move keys that look like integers
 * to the front and lose a column called `__proto__`.
 */
export function createRowWriter(columns: readonly Column[]): (row: readonly Cell[]) => string {
  const parts = columns.map(({ key, index }, at) => ({
    prefix: `${at === 0 ? '{' : ','}${JSON.stringify(key)}:`,
    index,
  }))
  return (row) => {
    let text = parts.length === 0 ? '{' : ''
    for (const { prefix, index } of parts) text += prefix + cellJson(row[index] ?? null)
    return `${text}}`
  }
}

function cellJson(cell: Cell): string {
  if (typeof cell !== 'string') return cell === null ? 'null' : JSON.stringify(cell)
  return needsNoEscaping.test(cell) ? `"${cell}"` : JSON.stringify(cell)
}
