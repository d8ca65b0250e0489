import type { Change } from '../../../sheets/change.ts'
import type { Cell } from '../../../sheets/rows/grid.ts'
import { createRangeCheck } from '../read/row-ranges.ts'
import { isFilledRow } from '../read/tab-memory.ts'
import { isBlankRow, type SeenCell, type TabView, valuesOf } from '../read/tab-view.ts'
import { around, rangesTouchedBefore } from './compose-batch.ts'
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

/** The rows that the batch added, for they stand where the last look had none. Numbers are those after all changes. */
export interface AddedInAnswer {
  rows: readonly (readonly Cell[])[]
  expected: number
  /** Where the answer shows them; null where it does not tell. */
  shown: number | null
}

/** What was there at the last look, what is there now, and what of the difference is our own doing. */
interface Compared {
  turns: RowTurns
  before: TabView
  after: TabView
  added: AddedInAnswer | null
  /** By row number before all changes: the columns that we wrote to. */
  writtenColumns: ReadonlyMap<number, ReadonlySet<number>>
  /** Rows that the last look did not show say nothing, whatever the answer shows of them. */
  wasSeen(row: number): boolean
}

export function findRaces(
  changes: readonly Change[],
  turns: RowTurns,
  before: TabView,
  after: TabView,
  added: AddedInAnswer | null,
): Race[] {
  // Made when it is asked for: ten thousand rows of which some cells are written can do without.
  let isWithin: ReturnType<typeof createRangeCheck> | null = null
  const wasSeen = (row: number) => {
    isWithin ??= createRangeCheck([{ from: 1, to: 1 }, ...rangesTouchedBefore(changes, turns)])
    return isWithin(row, row)
  }
  const neighboursOf = (row: number) =>
    [row - 1, row + 1].filter((one) => wasSeen(one) && turns.after(one) !== null)
  const compared = { turns, before, after, added, writtenColumns: writtenBy(changes, turns), wasSeen }
  const silent: Race[] = []
  const races = changes.flatMap((change, changeAt): Race[] => {
    const row = turns.before(changeAt)
    if (row === null || change.kind === 'insert') return []
    if (change.kind === 'update' && turns.after(row) === null) return []
    if (change.kind === 'update') {
      const written = compared.writtenColumns.get(row)
      const others = before.row(row).filter((cell, at) => !written?.has(at) && isTelling(cell))
      const telling = others.length > 0 ? [row] : neighboursOf(row)
      if (telling.length === 0) silent.push({ kind: 'update', changeAt })
      return telling.every((one) => isAsForeseen(one, compared)) ? [] : [{ kind: 'update', changeAt }]
    }
    const isAroundFine = neighboursOf(row).every((one) => isAsForeseen(one, compared))
    if (isAroundFine && !isStillThere(row, compared)) return []
    const deleted = rowDeletedInstead(row, compared)
    return [{ kind: 'delete', changeAt, ...(deleted ? { deleted } : {}) }]
  })
  // Among many, the others speak for those of which nothing else is in sight.
  return races.length > 0 ? [...races, ...silent] : []
}

function writtenBy(changes: readonly Change[], turns: RowTurns): Map<number, Set<number>> {
  const written = new Map<number, Set<number>>()
  changes.forEach((change, changeAt) => {
    const row = turns.before(changeAt)
    // A row that fills a blank one is written to as well; one that comes in between has no number before.
    if (row === null || !('cells' in change)) return
    const columns = written.get(row) ?? new Set()
    for (const { columnIndex } of change.cells) columns.add(columnIndex)
    written.set(row, columns)
  })
  return written
}

/** Whether a row is what it was, but for what we did there ourselves. */
function isAsForeseen(row: number, { turns, before, after, added, writtenColumns }: Compared): boolean {
  const now = turns.after(row)
  if (now === null) return true
  // A blank row below the last one is where the rows of the same batch were to go.
  const isForAdded = added?.rows[now - added.expected]?.some((cell) => cell !== null) ?? false
  if (isForAdded && !isFilledRow(before.row(row))) return added?.shown === added?.expected
  return isSameRow(before.row(row), after.row(now), writtenColumns.get(row))
}

/** The row that was meant is still there, and one beside it is not: that one went. */
function rowDeletedInstead(row: number, compared: Compared): Cell[] | null {
  if (!isStillThere(row, compared)) return null
  const { before } = compared
  const gone = [row - 1, row + 1].find((one) => {
    const cells = before.row(one)
    return one > 1 && !isBlankRow(cells) && !isNear(row, cells, compared)
  })
  return gone === undefined ? null : valuesOf(before.row(gone))
}

/**
 * Whether a row that was to go is still there: of rows that are alike, more are left where they were than there would be
 * without it. What we wrote ourselves may be like it, and is not it.
 */
function isStillThere(row: number, compared: Compared): boolean {
  const { turns, before, after, writtenColumns, wasSeen } = compared
  const cells = before.row(row)
  // Several deletions may lie in each other's way; then only what lies beside them tells.
  if (isBlankRow(cells) || turns.deletions > 1) return false
  let more = 0
  for (let one = Math.max(1, row - around); one <= row + around; one++) {
    const now = turns.after(one)
    if (now === null || !wasSeen(one) || isAddedRow(now, compared)) continue
    const written = writtenColumns.get(one)
    const foreseen = written ? withWritten(before.row(one), after.row(now), written) : before.row(one)
    if (isSameRow(after.row(now), cells)) more++
    if (isSameRow(foreseen, cells)) more--
  }
  return more > 0
}

/** The row as it was, with what stands now in the cells that we wrote: Google may spell that otherwise than we did. */
function withWritten(
  before: readonly SeenCell[],
  now: readonly SeenCell[],
  written: ReadonlySet<number>,
): (SeenCell | undefined)[] {
  const length = Math.max(before.length, now.length)
  return Array.from({ length }, (_, at) => (written.has(at) ? now : before)[at])
}

/**
 * Whether such a row stands near this place now, without the last of those around: that is where, after a deletion, a row
 * from below has come up.
 */
function isNear(row: number, cells: readonly SeenCell[], compared: Compared): boolean {
  for (let one = Math.max(1, row - around); one < row + around; one++) {
    if (!isAddedRow(one, compared) && isSameRow(compared.after.row(one), cells)) return true
  }
  return false
}

function isAddedRow(now: number, { added }: Compared): boolean {
  if (!added || added.shown === null) return false
  return now >= added.shown && now < added.shown + added.rows.length
}

function isTelling({ isFormula, raw }: SeenCell): boolean {
  return !isFormula && raw !== null
}

/** Formulas may give something else at any time; but a formula remains one. */
function isSameRow(
  one: readonly (SeenCell | undefined)[],
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
