import type { Change } from '../../../sheets/change.ts'

/**
 * Row numbers of a change hold at its turn. This follows each row from before the first change to after the last: deletions and
 * insertions move rows, while additions go to the end.
 */
export interface RowTurns {
  /** The number that the row of a change has before all of them; null for additions and insertions. */
  before(changeAt: number): number | null
  /** The number that a row has after all of them; null when it is deleted. */
  after(rowBefore: number): number | null
  deletions: number
  insertions: number
  /** The number of the row before which an insertion comes, as it was before all of them. */
  gapBefore(changeAt: number): number
  /** The number that a row has after all of them, or would have if it were not deleted itself. */
  shifted(rowBefore: number): number
  /** How many rows are deleted after this change: an added row has moved up by so many in the end. */
  deletionsAfter(changeAt: number): number
}

/** There may be ten thousand of them, and all of this is done on the thread that answers everybody. */
export function followRows(changes: readonly Change[]): RowTurns {
  /** Numbers before all changes, ascending. */
  const deleted: number[] = []
  const deletionsUpTo: number[] = []
  /** Numbers after all changes, ascending. */
  const inserted: number[] = []
  const before = changes.map((change) => {
    const isComingIn = change.kind === 'insert' && !change.isFilling
    const row = change.kind === 'add' || isComingIn ? null : rowBefore(change.rowNumber - inserted.length)
    if (isComingIn) inserted.push(change.rowNumber)
    if (change.kind === 'delete' && row !== null) deleted.splice(countBelow(row), 0, row)
    deletionsUpTo.push(deleted.length)
    return row
  })
  return {
    before: (changeAt) => before[changeAt] ?? null,
    after: (row) => (deleted[countBelow(row)] === row ? null : moveRowDown(row - countBelow(row))),
    shifted: (row) => moveRowDown(row - countBelow(row)),
    deletions: deleted.length,
    insertions: inserted.length,
    gapBefore(changeAt) {
      const change = changes[changeAt]
      if (change?.kind !== 'insert') throw new Error('Only an insertion has a gap')
      return rowBefore(change.rowNumber - inserted.indexOf(change.rowNumber))
    },
    deletionsAfter: (changeAt) => deleted.length - (deletionsUpTo[changeAt] ?? 0),
  }

  function rowBefore(rowNumber: number): number {
    let row = rowNumber
    for (const gone of deleted) {
      if (gone > row) break
      row++
    }
    return row
  }

  /** Where a row stands once those are there that come before it. */
  function moveRowDown(row: number): number {
    let [low, high] = [0, inserted.length]
    while (low < high) {
      const middle = (low + high) >>> 1
      if ((inserted[middle] ?? 0) - middle <= row) low = middle + 1
      else high = middle
    }
    return row + low
  }

  /** How many of the deleted rows have a lower number. */
  function countBelow(row: number): number {
    let low = 0
    let high = deleted.length
    while (low < high) {
      const middle = (low + high) >>> 1
      if ((deleted[middle] ?? 0) < row) low = middle + 1
      else high = middle
    }
    return low
  }
}
