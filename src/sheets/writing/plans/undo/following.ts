import type { LoggedChange } from '../../../logged-change.ts'
import type { Cell } from '../../../rows/grid.ts'
import { createRowWriter } from '../../../rows/row-json.ts'
import type { OperationHistory } from '../../../sheet-log.ts'

/** A change of the write that is to be taken back, and where its row is by now. */
export interface FollowedChange {
  change: LoggedChange
  /**
   * The number of the row before which one that went would come back; another's own; null where the log says that it is
   * gone. Where rows are told by key, only what the log has numbers for has moved it.
   */
  rowNumber: number | null
  /** A row that went, and was put back by an undo that still holds. */
  isBack: boolean
}

export interface Followed {
  /** Those that went in the order in which they stood; the others in that of the log. */
  changes: FollowedChange[]
  /** What a column of then is called now; null for one that is gone. */
  nameNow(name: string): string | null
  /** People changed rows since, and the log does not say where. */
  hasMovedUnseen: boolean
}

interface Item {
  change: LoggedChange
  at: number | null
  /** What the write has left there. */
  goal: string | null
  /** What the row held last, by the log; null for one that went. */
  text: string | null
  /** What it held when it went, or changed in the look that is being gone through: it may stand elsewhere. */
  left: string | null
  /** The write that took the row away. */
  goneBy: string | null
  /** A row that went, and is there again because the write was undone before. */
  isBack: boolean
  /** How many rows above the place of one that went were taken by each write since: an undo puts those back above it. */
  takenAbove: Map<string, number>
}

/** What a look found that was not there before. */
interface Arrival {
  at: number | null
  text: string
}

/**
 * Follows the rows of a write through all that the log tells since. A row that people moved is one that goes and one alike that comes in
 * the same look. 'reset' where the log does not tell what came between.
 */
export function* followOperation({
  operationId,
  chunks,
}: OperationHistory): Generator<void, Followed | 'reset'> {
  const rows: Item[] = []
  /** From the top down. */
  const gaps: Item[] = []
  let arrivals: Arrival[] = []
  const names = new Map<string, string | null>()
  let hasMovedUnseen = false
  let goesOnAtMs: number | null = null

  for (const { changes: told, atMs, isFull } of chunks) {
    if (atMs !== goesOnAtMs) endLook()
    goesOnAtMs = isFull ? atMs : null
    for (const change of told) {
      yield
      if (change.kind === 'reset') return 'reset'
      if (change.kind === 'columns_changed') {
        endLook()
        rename(change)
      } else if (change.operation === operationId) own(change)
      else other(change)
    }
  }
  endLook()
  return {
    changes: [...rows, ...gaps].map(({ change, at, isBack }) => ({ change, rowNumber: at, isBack })),
    nameNow: (name) => (names.has(name) ? (names.get(name) ?? null) : name),
    hasMovedUnseen,
  }

  function own(change: LoggedChange): void {
    for (const text of [change.before, change.after]) {
      if (text !== undefined) for (const name of namesIn(text)) if (!names.has(name)) names.set(name, name)
    }
    const goal = change.after ?? null
    const item: Item = {
      ...{ change, at: change.row ?? null, goal, text: goal, left: null },
      ...{ goneBy: null, isBack: false, takenAbove: new Map() },
    }
    const below = gaps.findIndex(({ at }) => (at ?? 0) > (change.row ?? 0))
    move(change)
    if (change.kind !== 'deleted' || change.isInPlace) {
      rows.push(item)
      return
    }
    gaps.splice(below === -1 ? gaps.length : below, 0, item)
  }

  function other(change: LoggedChange): void {
    const { kind, row, before, after, operation } = change
    const isOutside = operation === undefined
    if (row === undefined) hasMovedUnseen = true
    const item = row === undefined || kind === 'added' ? undefined : rows.find(({ at }) => at === row)
    if (item && isOutside && before !== undefined && before === item.text) item.left = before
    const returned = change.undoes === undefined ? undefined : rowReturnedBy(change)
    move(change, returned)
    if (returned) {
      returned.at = row ?? null
      returned.isBack = gaps.includes(returned)
      returned.goneBy = null
    }
    if (item && kind === 'deleted') item.goneBy = operation ?? null
    if (item && kind === 'updated') item.text = after ?? null
    const isArrival = isOutside && row !== undefined && after !== undefined
    if (isArrival) arrivals.push({ at: row, text: after })
  }

  /** What an undo puts back of what is followed: a row that the write deleted, or one of its own that another write took. */
  function rowReturnedBy({ kind, row, after, undoes, isInPlace }: LoggedChange): Item | undefined {
    if (kind !== 'added' || row === undefined || isInPlace) return undefined
    if (undoes === operationId) return gaps.find(({ isBack, at }) => !isBack && at === row)
    return rows.find(({ at, goneBy, text }) => at === null && goneBy === undoes && text === after)
  }

  /** Numbers hold when the turn of a change comes. */
  function move({ kind, row, isInPlace, operation, undoes }: LoggedChange, returned?: Item): void {
    if (row === undefined || isInPlace || kind === 'updated') return
    const isGone = kind === 'deleted'
    const goneAgain = isGone ? gaps.find(({ isBack, at }) => isBack && at === row) : undefined
    for (const one of [...rows, ...arrivals, ...gaps.filter(({ isBack }) => isBack)]) {
      if (one.at === null || one === returned || one === goneAgain) continue
      if (isGone && one.at === row) one.at = null
      else if (isGone ? one.at > row : one.at >= row) one.at += isGone ? -1 : 1
    }
    const places = gaps.filter(({ isBack }) => !isBack)
    if (goneAgain) goneAgain.isBack = false
    const from = returned ? places.indexOf(returned) : -1
    for (const [nth, gap] of places.entries()) {
      if (gap.at === null || gap === returned) continue
      if (isGone) {
        if (gap.at <= row) continue
        gap.at -= 1
        if (operation !== undefined) gap.takenAbove.set(operation, (gap.takenAbove.get(operation) ?? 0) + 1)
        continue
      }
      const wasAbove = undoes === undefined ? 0 : (gap.takenAbove.get(undoes) ?? 0)
      // Of rows that went side by side, those below the one that comes back still have their place below it.
      const isBelow = wasAbove > 0 || (from !== -1 && nth > from)
      if (gap.at < row || (gap.at === row && !isBelow)) continue
      gap.at += 1
      if (undoes !== undefined && wasAbove > 0) gap.takenAbove.set(undoes, wasAbove - 1)
    }
  }

  function endLook(): void {
    const byText = Map.groupBy(arrivals, ({ text }) => text)
    const arrived = (text: string | null) => {
      const alike = text === null ? undefined : byText.get(text)
      return alike && alike.length > 0 ? alike : undefined
    }
    for (const item of rows) {
      const come = item.left === null ? undefined : (arrived(item.left) ?? arrived(item.goal))
      const found = come?.shift()
      if (found) {
        item.at = found.at
        item.text = found.text
      }
      // One that is gone may come back in a later look: somebody took it out and put it in again.
      if (item.at !== null) item.left = null
    }
    arrivals = []
  }

  function rename({ after = '[]', renamed = [] }: LoggedChange): void {
    const present = JSON.parse(after) as string[]
    const isThere = new Set(present)
    const newName = new Map(renamed)
    const nameAfter = (name: string | null) => {
      const now = name === null ? null : (newName.get(name) ?? name)
      return now !== null && isThere.has(now) ? now : null
    }
    for (const [then, name] of names) names.set(then, nameAfter(name))
    const toJson = createRowWriter(present.map((key, index) => ({ key, index })))
    const formerly = new Map(renamed.map(([from, to]) => [to, from]))
    const renamedText = (text: string) => {
      const cells = JSON.parse(text) as Record<string, Cell>
      return toJson(present.map((name) => cells[formerly.get(name) ?? name] ?? null))
    }
    for (const item of rows) {
      if (item.goal !== null) item.goal = renamedText(item.goal)
      if (item.text !== null) item.text = renamedText(item.text)
      if (item.left !== null) item.left = renamedText(item.left)
    }
  }
}

function namesIn(rowText: string): string[] {
  return Object.keys(JSON.parse(rowText) as object)
}
