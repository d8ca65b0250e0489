import { type CellChange, type Change, writtenColumns } from '../../change.ts'
import type { Cell } from '../../rows/grid.ts'
import type { Column } from '../../rows/table.ts'

/** The columns that a group was judged on, and as they are since. */
export interface MovedColumns {
  judged: readonly Column[]
  now: readonly Column[]
}

/** Every value goes under its header, and out of the columns that it fell into. */
export function cellsToPutRight(
  sent: readonly Cell[],
  standing: readonly Cell[],
  columns: MovedColumns,
): CellChange[] {
  const placeNow = placesNow(columns)
  const wanted = new Map<number, Cell>()
  for (const [index, cell] of sent.entries()) if (cell !== null) wanted.set(index, null)
  for (const { key, index } of columns.judged) {
    const [cell, at] = [sent[index] ?? null, placeNow.get(key)]
    if (cell !== null && at !== undefined) wanted.set(at, cell)
  }
  return [...wanted].flatMap(([columnIndex, value]) =>
    (standing[columnIndex] ?? null) === value ? [] : { columnIndex, value },
  )
}

/**
 * Only what has merely moved: each written column is there under its name, and only once, or it is plain that it was
 * deleted. One that is missing for another reason was perhaps renamed, and its values stand where they belong; of two
 * that share a name nobody can say which is which.
 */
export function canBePutRight(change: Change, columns: MovedColumns): boolean {
  const { judged, now } = columns
  const [onceThen, onceNow] = [namesUsedOnce(judged), namesUsedOnce(now)]
  const places = placesNow(columns)
  const isDeletion = isPlainDeletion(columns)
  return writtenKeys(change, columns).every(
    (key) => onceThen.has(foldKey(key)) && (isDeletion || (places.has(key) && onceNow.has(foldKey(key)))),
  )
}

/** The columns are those of before without some, and all that stood behind these have moved up. */
function isPlainDeletion({ judged, now }: MovedColumns): boolean {
  const places = placesNow({ judged, now })
  const gone = judged.filter(({ key }) => !places.has(key))
  const left = judged.filter(({ key }) => places.has(key))
  const lastGone = Math.max(...gone.map(({ index }) => index))
  return (
    gone.length > 0 &&
    left.length === now.length &&
    left.some(({ index }) => index > lastGone) &&
    left.every(({ key, index }) => places.get(key) === index - gone.filter((one) => one.index < index).length)
  )
}

export function isWrittenColumnGone(change: Change, columns: MovedColumns): boolean {
  const places = placesNow(columns)
  return writtenKeys(change, columns).some((key) => !places.has(key))
}

function placesNow({ now }: MovedColumns): Map<string, number> {
  return new Map(now.map(({ key, index }) => [key, index]))
}

/** A second `name` is called `name_2`: then neither is told from the other by its name. */
function namesUsedOnce(columns: readonly Column[]): Set<string> {
  const keys = new Set(columns.map(({ key }) => foldKey(key)))
  const shared = new Set<string>()
  for (const key of keys) {
    const [, first] = /^(.*)_\d+$/s.exec(key) ?? []
    if (first === undefined || !keys.has(first)) continue
    shared.add(key)
    shared.add(first)
  }
  return new Set([...keys].filter((key) => !shared.has(key)))
}

function foldKey(key: string): string {
  return key.toLowerCase()
}

export function isWrittenColumnMoved(change: Change, columns: MovedColumns): boolean {
  const keysThen = new Map(columns.judged.map(({ key, index }) => [key, index]))
  const places = placesNow(columns)
  return writtenKeys(change, columns).some((key) => places.get(key) !== keysThen.get(key))
}

function writtenKeys(change: Change, { judged }: MovedColumns): string[] {
  const written = writtenColumns([change])
  return judged.filter(({ index }) => written.has(index)).map(({ key }) => key)
}
