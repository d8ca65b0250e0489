import type { Change, ChangeResult, RowAsRead } from '../../change.ts'
import type { Cell } from '../../rows/grid.ts'
import type { Mark, RowMarks } from '../looks/row-marks.ts'
import type { TakerTurns } from '../taker-turns.ts'

/** What became of one deletion of a batch in whose moment somebody moved rows. */
export type DeletionFate =
  /** The row that was meant is gone, and no other. */
  | { kind: 'right' }
  /** Another one went; null where its contents are not known. */
  | { kind: 'another'; row: Cell[] | null }
  /** It may have been another one. */
  | { kind: 'unknown'; isStillThere: boolean }

/**
 * Which rows went, told from all that were there at the last look and all that are there now. By change; null where that cannot be
 * compared. Where several went in place of others, which of them went for which change is not known.
 */
export async function fatesOfDeletions(
  changes: readonly Change[],
  marks: RowMarks,
  inTurns: TakerTurns,
): Promise<ReadonlyMap<number, DeletionFate> | null> {
  const read = await marks.now()
  if (!read) return null
  const now = Array.isArray(read) ? read : await inTurns(read)
  const gone = missing(await inTurns(marks.before()), now)
  const missed: number[] = []
  const fates = new Map<number, DeletionFate>()
  for (const [changeAt, change] of changes.entries()) {
    if (change.kind === 'add' || change.kind === 'insert') continue
    const mark = change.before ? marks.markOf(change.before) : null
    if (change.kind === 'update') {
      const written = change.cells.map(({ columnIndex }) => columnIndex)
      if (mark !== null && marks.isMarkedBy(written)) take(gone, mark)
    } else if (mark === null) return null
    else if (take(gone, mark)) fates.set(changeAt, { kind: 'right' })
    else missed.push(changeAt)
  }
  const others = [...gone].flatMap(([mark, times]) => Array<Mark>(times).fill(mark))
  if (missed.length < others.length) {
    // Somebody else deleted or altered rows as well.
    for (const changeAt of fates.keys()) fates.set(changeAt, { kind: 'unknown', isStillThere: false })
    for (const changeAt of missed) fates.set(changeAt, { kind: 'unknown', isStillThere: true })
    return fates
  }
  if (missed.length === 0) return fates
  // Where fewer are missing, the rest took what somebody had put there a moment before.
  const rows = await inTurns(marks.rowsWith(new Set(others)))
  for (const [at, changeAt] of missed.entries()) {
    fates.set(changeAt, { kind: 'another', row: theSame(rows.get(others[at] ?? '') ?? []) })
  }
  return fates
}

/** What all of these rows hold; null where they differ, or there is none. */
function theSame(rows: readonly RowAsRead[]): Cell[] | null {
  const [first, another] = new Map(rows.map((row) => [JSON.stringify(row), row])).values()
  return first && !another ? Array.from(first, (cell) => cell ?? null) : null
}

/** How often each of the first is missing among the second. */
function missing(before: readonly Mark[], now: readonly Mark[]): Map<Mark, number> {
  const times = new Map<Mark, number>()
  for (const mark of before) times.set(mark, (times.get(mark) ?? 0) + 1)
  for (const mark of now) take(times, mark)
  return times
}

function take(times: Map<Mark, number>, mark: Mark): boolean {
  const count = times.get(mark) ?? 0
  if (count > 1) times.set(mark, count - 1)
  else times.delete(mark)
  return count > 0
}

/** The results with the rows that went. */
export function withRowsThatWent(
  results: readonly ChangeResult[],
  fates: ReadonlyMap<number, DeletionFate>,
): ChangeResult[] {
  return results.map((result, changeAt) => {
    const fate = fates.get(changeAt)
    return fate?.kind === 'another' && fate.row ? { kind: 'delete', row: fate.row } : result
  })
}

const moved = 'Somebody moved or changed rows of the spreadsheet in the moment of this write'

/** What is to be said of the deletions of one order; null where they are as they were meant, undefined where it cannot be told. */
export function sentenceAbout(
  fates: readonly (DeletionFate | undefined)[],
  isAmongSeveral: boolean,
): string | null | undefined {
  if (fates.length === 0 || fates.some((fate) => fate === undefined)) return undefined
  if (fates.every((fate) => fate?.kind === 'right')) return null
  if (fates.some((fate) => fate?.kind === 'unknown' && !fate.isStillThere)) return undefined
  if (fates.every((fate) => fate?.kind === 'right' || (fate?.kind === 'another' && fate.row !== null))) {
    const which = isAmongSeveral
      ? ' Other writes went with it: which of them took which row is not known.'
      : ''
    return `${moved}: it deleted what is shown here. What was meant in its place still stands.${which}`
  }
  if (fates.length > 1)
    return `${moved}: it deleted other rows, and what was meant in their place still stands. Not all that went is known: the rest is shown as it was meant.`
  return `${moved}: what was meant still stands, as it is shown here, and another row was deleted. Which one is not known.`
}
