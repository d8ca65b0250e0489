import type { Change } from '../../change.ts'
import type { Cell } from '../../rows/grid.ts'
import { equalityKeys } from '../../rows/query/equal-values.ts'

/**
 * What the orders that were judged before in the same group will have done by the turn of the next. That one is judged on the sheet
 * as it was read, so whatever it looks at must not be among this; else it waits for the next look. Rows have two numbers: as they
 * were read, and when a turn comes. Only deletions make them differ: what puts rows in between goes alone.
 */
export interface GroupEffects {
  isEmpty(): boolean
  /** Rows are added or gone: where the tab ends is not known. */
  mayMoveEnd(): boolean
  hasDeletion(): boolean
  asRead(rowNumber: number): number
  /** null for a row that is gone by then. */
  byItsTurn(rowAsRead: number): number | null
  isRowUpdated(rowAsRead: number): boolean
  /** Whether a cell of this column that equals the value comes or goes. */
  isValueTouched(columnIndex: number, value: string): boolean
  note(changes: readonly Change[]): void
}

export function createGroupEffects(): GroupEffects {
  const changes: Change[] = []
  const updated = new Set<number>()
  /** Numbers as they were read, ascending. */
  const deleted: number[] = []
  /** By column, as far as somebody asked: keys of what was written over and of what stands there then. */
  const touched = new Map<number, { keys: Set<string>; seen: number }>()
  let hasAddition = false

  return {
    isEmpty: () => changes.length === 0,
    mayMoveEnd: () => hasAddition || deleted.length > 0,
    hasDeletion: () => deleted.length > 0,
    asRead,
    byItsTurn(rowAsRead) {
      let above = 0
      for (const gone of deleted) {
        if (gone === rowAsRead) return null
        if (gone > rowAsRead) break
        above++
      }
      return rowAsRead - above
    },
    isRowUpdated: (rowAsRead) => updated.has(rowAsRead),
    isValueTouched(columnIndex, value) {
      if (changes.length === 0) return false
      const { keys } = keysTouchedIn(columnIndex)
      return equalityKeys(value).some((key) => keys.has(key))
    },
    note(more) {
      for (const change of more) {
        changes.push(change)
        if (change.kind === 'add' || change.kind === 'insert') hasAddition = true
        else if (change.kind === 'update') updated.add(asRead(change.rowNumber))
        else noteDeletion(asRead(change.rowNumber))
      }
    },
  }

  function asRead(rowNumber: number): number {
    let row = rowNumber
    for (const gone of deleted) {
      if (gone > row) break
      row++
    }
    return row
  }

  /** Where many go at once, they come from the last to the first. */
  function noteDeletion(rowAsRead: number): void {
    const above = deleted.findIndex((gone) => gone > rowAsRead)
    deleted.splice(above === -1 ? deleted.length : above, 0, rowAsRead)
  }

  function keysTouchedIn(columnIndex: number) {
    const known = touched.get(columnIndex) ?? { keys: new Set<string>(), seen: 0 }
    touched.set(columnIndex, known)
    for (; known.seen < changes.length; known.seen++) {
      for (const cell of cellsAt(changes[known.seen], columnIndex))
        for (const key of equalityKeys(String(cell))) known.keys.add(key)
    }
    return known
  }
}

function cellsAt(change: Change | undefined, columnIndex: number): Exclude<Cell, null>[] {
  if (!change) return []
  if (change.kind === 'add') return change.rows.map((row) => row[columnIndex] ?? null).filter(isFilled)
  if (change.kind === 'insert') {
    const inserted = change.cells.find((cell) => cell.columnIndex === columnIndex)
    return [inserted?.value ?? null].filter(isFilled)
  }
  const before = change.before?.[columnIndex] ?? null
  if (change.kind === 'delete') return [before].filter(isFilled)
  const written = change.cells.find((cell) => cell.columnIndex === columnIndex)
  return !written || written.value === before ? [] : [before, written.value].filter(isFilled)
}

function isFilled(cell: Cell): cell is Exclude<Cell, null> {
  return cell !== null
}
