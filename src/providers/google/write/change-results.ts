import type { Change, ChangeResult } from '../../../sheets/change.ts'
import type { Cell } from '../../../sheets/rows/grid.ts'
import type { RowTurns } from './row-turns.ts'

/** What each change makes of the rows as they were, if nobody else changes anything. */
export function foretold(
  changes: readonly Change[],
  turns: RowTurns,
  rowBefore: (rowNumber: number) => readonly Cell[],
  /** Number of the first added row, after all changes; null when nobody knows. */
  firstAdded: number | null,
): ChangeResult[] {
  const now = new Map<number, Cell[]>()
  let added = 0
  return changes.map((change, changeAt) => {
    if (change.kind === 'add') {
      const from = firstAdded === null ? null : firstAdded + added + turns.deletionsAfter(changeAt)
      added += change.rows.length
      return {
        kind: 'add',
        rowNumbers: from === null ? [] : change.rows.map((_, at) => from + at),
        rows: change.rows.map((row) => [...row]),
      }
    }
    const rowNumber = turns.before(changeAt) ?? change.rowNumber
    const row = [...(now.get(rowNumber) ?? rowBefore(rowNumber))]
    if (change.kind === 'delete') return { kind: 'delete', row }
    for (const { columnIndex, value } of change.cells) {
      while (row.length <= columnIndex) row.push(null)
      row[columnIndex] = value
    }
    now.set(rowNumber, row)
    return { kind: 'update', row: [...row] }
  })
}

/** The results where the rows have been seen since: formulas have been recomputed, and a person may have been there. */
export function seenAfter(
  told: readonly ChangeResult[],
  changes: readonly Change[],
  turns: RowTurns,
  rowAfter: (rowNumber: number) => readonly Cell[] | null,
): ChangeResult[] {
  const lastOf = new Map<number | null, number>()
  changes.forEach((_, changeAt) => {
    lastOf.set(turns.before(changeAt), changeAt)
  })
  return told.map((result, changeAt) => {
    if (result.kind === 'add') {
      const moved = turns.deletionsAfter(changeAt)
      const rows = result.rows.map((row, at) => {
        const rowNumber = result.rowNumbers[at]
        const seen = rowNumber === undefined ? null : rowAfter(rowNumber - moved)
        return seen ? [...seen] : row
      })
      return { ...result, rows }
    }
    const rowBefore = turns.before(changeAt)
    const rowNumber = rowBefore === null ? null : turns.after(rowBefore)
    // Each is answered as of its turn: what a later one made is not its own.
    if (result.kind === 'delete' || rowNumber === null || lastOf.get(rowBefore) !== changeAt) return result
    const seen = rowAfter(rowNumber)
    return seen ? { kind: 'update', row: [...seen] } : result
  })
}
