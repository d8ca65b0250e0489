import type { Change } from '../../../sheets/change.ts'

/**
 * Row numbers of a change hold at its turn. This follows each row from before the first change to after the last:
 * only deletions move rows, because additions go to the end.
 */
export interface RowTurns {
  /** The number that the row of a change has before all of them; null for additions. */
  before(changeAt: number): number | null
  /** The number that a row has after all of them; null when it is deleted. */
  after(rowBefore: number): number | null
  deletions: number
  /** How many rows are deleted after this change: an added row has moved up by so many in the end. */
  deletionsAfter(changeAt: number): number
}

export function followRows(changes: readonly Change[]): RowTurns {
  /** Numbers before all changes, ascending. */
  const deleted: number[] = []
  const before = changes.map((change) => {
    if (change.kind === 'add') return null
    let row = change.rowNumber
    for (const gone of deleted) if (gone <= row) row++
    if (change.kind === 'delete') {
      deleted.push(row)
      deleted.sort((one, other) => one - other)
    }
    return row
  })
  return {
    before: (changeAt) => before[changeAt] ?? null,
    after(rowBefore) {
      if (deleted.includes(rowBefore)) return null
      return rowBefore - deleted.filter((gone) => gone < rowBefore).length
    },
    deletions: deleted.length,
    deletionsAfter: (changeAt) => changes.slice(changeAt + 1).filter(({ kind }) => kind === 'delete').length,
  }
}
