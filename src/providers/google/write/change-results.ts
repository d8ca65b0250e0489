import type { Change, ChangeResult, LostWithChange } from '../../../sheets/change.ts'
import type { Cell } from '../../../sheets/rows/grid.ts'
import type { SeenCell } from '../read/tab-view.ts'
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
    if (change.kind === 'insert') {
      const cells: Cell[] = []
      for (const { columnIndex, value } of change.cells) cells[columnIndex] = value
      return { kind: 'insert', row: Array.from(cells, (cell) => cell ?? null) }
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
export function resultsSeenAfter(
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
    const change = changes[changeAt]
    if (change?.kind === 'insert') {
      const seen = rowAfter(change.rowNumber)
      return seen ? { kind: 'insert', row: [...seen] } : result
    }
    const rowBefore = turns.before(changeAt)
    const rowNumber = rowBefore === null ? null : turns.after(rowBefore)
    // Each is answered as of its turn: what a later one made is not its own.
    if (result.kind === 'delete' || rowNumber === null || lastOf.get(rowBefore) !== changeAt) return result
    const seen = rowAfter(rowNumber)
    return seen ? { ...result, kind: 'update', row: [...seen] } : result
  })
}

/** With what the rows held that their values do not tell: dates under what was written, and formulas. */
export function withLost(
  results: readonly ChangeResult[],
  changes: readonly Change[],
  turns: RowTurns,
  rowBefore: (rowNumber: number) => readonly SeenCell[],
): ChangeResult[] {
  return results.map((result, changeAt) => {
    const change = changes[changeAt]
    const row = turns.before(changeAt)
    if (!change || row === null || (change.kind !== 'update' && change.kind !== 'delete')) return result
    const written = change.kind === 'update' ? new Set(change.cells.map((cell) => cell.columnIndex)) : null
    const times: [number, string][] = []
    const formulas: number[] = []
    for (const [at, { value, raw, isFormula, numberFormat }] of rowBefore(row).entries()) {
      if (isFormula) formulas.push(at)
      else if (value !== raw && (written?.has(at) ?? true))
        times.push([at, numberFormat === null ? '' : JSON.stringify(numberFormat)])
    }
    if (times.length + formulas.length === 0) return result
    const lost: LostWithChange = {
      ...(times.length > 0 && { times }),
      ...(formulas.length > 0 && { formulas }),
    }
    return { ...result, lost }
  })
}
