import type { Change } from '../../../sheets/change.ts'
import type { Cell } from '../../../sheets/rows/grid.ts'
import { isBlankRow, type SeenCell, type TabView, valuesOf } from '../read/tab-view.ts'
import { around } from './compose-batch.ts'
import type { RowTurns } from './row-turns.ts'

/**
 * Whether a person's edit slipped in between our last look and the write, told from the rows around it as they are
 * now. Google has no conditional write, so this is all that can be known, and it is known too late.
 */
export interface Race {
  kind: 'update' | 'delete'
  changeAt: number
  /** What a deletion took, where that can be told from what is left. */
  deleted?: Cell[]
}

export function findRaces(
  changes: readonly Change[],
  turns: RowTurns,
  before: TabView,
  after: TabView,
): Race[] {
  const touchedColumns = new Map<number, Set<number>>()
  changes.forEach((change, changeAt) => {
    const row = turns.before(changeAt)
    if (row === null || change.kind !== 'update') return
    const columns = touchedColumns.get(row) ?? new Set()
    for (const { columnIndex } of change.cells) columns.add(columnIndex)
    touchedColumns.set(row, columns)
  })
  const isAsBefore = (row: number): boolean => {
    const now = turns.after(row)
    return now === null || isSameRow(before.row(row), after.row(now), touchedColumns.get(row))
  }
  return changes.flatMap((change, changeAt): Race[] => {
    const row = turns.before(changeAt)
    if (row === null || change.kind === 'insert') return []
    if (change.kind === 'update' && turns.after(row) === null) return []
    const neighbours = [row - 1, row + 1].filter((one) => one >= 1)
    if (change.kind === 'update') {
      const others = before
        .row(row)
        .filter((cell, at) => !touchedColumns.get(row)?.has(at) && isTelling(cell))
      const isFine = others.length > 0 ? isAsBefore(row) : neighbours.every(isAsBefore)
      return isFine ? [] : [{ kind: 'update', changeAt }]
    }
    if (neighbours.every(isAsBefore) && !isStillThere(row, turns, before, after)) return []
    const deleted = rowDeletedInstead(row, turns, before, after)
    return [{ kind: 'delete', changeAt, ...(deleted ? { deleted } : {}) }]
  })
}

/** The row that was meant is still there, and one beside it is not: that one went. */
function rowDeletedInstead(row: number, turns: RowTurns, before: TabView, after: TabView): Cell[] | null {
  if (!isStillThere(row, turns, before, after)) return null
  const gone = [row - 1, row + 1].find((one) => {
    const cells = before.row(one)
    return one > 1 && !isBlankRow(cells) && timesNear(row, cells, after) === 0
  })
  return gone === undefined ? null : valuesOf(before.row(gone))
}

/** Whether a row that was to go is still there: of rows that are alike, one less must be left where they were. */
function isStillThere(row: number, turns: RowTurns, before: TabView, after: TabView): boolean {
  const cells = before.row(row)
  // Several deletions may lie in each other's way; then only what lies beside them tells.
  if (isBlankRow(cells) || turns.deletions > 1) return false
  const isLastLike = isSameRow(before.row(row + around), cells)
  return timesNear(row, cells, after) >= timesNear(row, cells, before) + (isLastLike ? 1 : 0)
}

/**
 * How often a row stands near its place, without the last of those around: that is where, after a deletion, a row from
 * below has come up.
 */
function timesNear(row: number, cells: readonly SeenCell[], view: TabView): number {
  let times = 0
  for (let one = Math.max(1, row - around); one < row + around; one++) {
    if (isSameRow(view.row(one), cells)) times++
  }
  return times
}

function isTelling({ isFormula, raw }: SeenCell): boolean {
  return !isFormula && raw !== null
}

/** Formulas may give something else at any time; but a formula remains one. */
function isSameRow(
  one: readonly SeenCell[],
  other: readonly SeenCell[],
  except?: ReadonlySet<number>,
): boolean {
  for (let at = 0; at < Math.max(one.length, other.length); at++) {
    if (except?.has(at)) continue
    const [here, there] = [one[at], other[at]]
    if ((here?.isFormula ?? false) !== (there?.isFormula ?? false)) return false
    if (!here?.isFormula && (here?.raw ?? null) !== (there?.raw ?? null)) return false
  }
  return true
}

/** A row as a client's condition was judged on, against the same row now; columns that nobody looked at are left out. */
export function isStillAsRead(read: readonly (Cell | undefined)[], now: readonly SeenCell[]): boolean {
  return read.every(
    (cell, at) => cell === undefined || now[at]?.isFormula || cell === (now[at]?.value ?? null),
  )
}
