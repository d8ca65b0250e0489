import type { Change, ChangeResult } from '../../../src/sheets/change.ts'
import type { Cell } from '../../../src/sheets/rows/grid.ts'

/** Makes the changes in `rows` itself. The server does it in earnest, the provider to know what will come of it. */
export function makeChanges(rows: Cell[][], changes: readonly Change[]): ChangeResult[] {
  return changes.map((change) => makeChange(rows, change))
}

function makeChange(rows: Cell[][], change: Change): ChangeResult {
  if (change.kind === 'add') {
    rows.length = rows.findLastIndex((row) => row.some((cell) => cell !== null)) + 1
    const rowNumbers = change.rows.map((row) => rows.push([...row]))
    return { kind: 'add', rowNumbers, rows: copyOf(change.rows) }
  }
  const row = rows[change.rowNumber - 1] ?? []
  if (change.kind === 'delete') {
    rows.splice(change.rowNumber - 1, 1)
    return { kind: 'delete', row }
  }
  const next = [...row]
  for (const { columnIndex, value } of change.cells) next[columnIndex] = value
  rows[change.rowNumber - 1] = next
  return { kind: 'update', row: [...next] }
}

export function copyOf(rows: readonly (readonly Cell[])[]): Cell[][] {
  return rows.map((row) => [...row])
}
