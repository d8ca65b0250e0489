import { type RationBook, takePlace, type WaitingNote } from './ration-book.ts'
import { inOrder, type WaiterOfAccount } from './ration-order.ts'
import { emptyRation, type Ration, type RationWindow } from './ration-window.ts'

export interface RationWaiter extends WaiterOfAccount {
  /**
   * The id of the place that is meant for it, from the first try to write that down; null before. It stays the same in every
   * further try, because one that seemed to fail may have been kept.
   */
  placeId: string | null
}

export interface TurnParts {
  server: string
  ownerWindow(ration: Ration): RationWindow
  projectWindow(ration: Ration): RationWindow
  newPlaceId(): string
  /** When the account had its last turn here, by any measure that grows. */
  servedAt(subject: string, accountId: string): number
}

export interface Served<W> {
  waiter: W
  placeId: string
}

/** Longer than a server lets pass until it looks again. */
const believedMs = 2_500
const renewBeforeMs = 1_250

/** Gives out what may be given out now, to whoever is next. */
export function serve<W extends RationWaiter>(
  book: RationBook,
  waiters: readonly W[],
  nowMs: number,
  parts: TurnParts,
): Served<W>[] {
  const served: Served<W>[] = []
  const passedOver = new Set<string>()
  const isProjectOpen = () => parts.projectWindow(book.project).nextAtMs(nowMs) <= nowMs
  if (waiters.length === 0 || !isProjectOpen()) return served
  const isOpenFor = (subject: string) =>
    parts.ownerWindow(book.owners.get(subject) ?? emptyRation()).nextAtMs(nowMs) <= nowMs
  const others = book.waiting.filter((note) => note.server !== parts.server)
  const order = inOrder(book, waiters, others, { isOpen: isOpenFor, servedAt: parts.servedAt })
  for (const next of order) {
    if (!isProjectOpen()) break
    if (passedOver.has(next.subject)) continue
    const isOpen = isOpenFor(next.subject)
    if (isOpen && next.waiter) {
      next.waiter.placeId ??= parts.newPlaceId()
      const { placeId } = next.waiter
      takePlace(book, next.subject, placeId, nowMs)
      served.push({ waiter: next.waiter, placeId })
      continue
    }
    passedOver.add(next.subject)
    // It is another server's turn, and it will take it in a moment.
    if (isOpen && parts.projectWindow(book.project).isPaced(nowMs)) break
  }
  return served
}

/**
 * Tells the other servers since when the next of ours waits for each owner's ration, when `served` are gone: those had the
 * longest waits of their row, whoever they were. False when they know already.
 */
export function noteWaiting<W extends RationWaiter>(
  book: RationBook,
  waiters: readonly W[],
  served: readonly Served<W>[],
  nowMs: number,
  { server }: Pick<TurnParts, 'server'>,
): boolean {
  const before = book.waiting.filter((note) => note.server === server)
  const gone = new Set(served.map(({ waiter }) => waiter))
  for (const waiter of waiters) waiter.sinceMs ??= nowMs
  const notes = new Map<string, WaitingNote>()
  for (const isUrgent of [true, false]) {
    const equals = waiters.filter((waiter) => waiter.isUrgent === isUrgent)
    for (const [subject, its] of Map.groupBy(equals, (waiter) => waiter.subject)) {
      const first = its[its.filter((waiter) => gone.has(waiter)).length]
      if (!first || notes.has(subject)) continue
      const sinceMs = first.sinceMs ?? nowMs
      notes.set(subject, { server, subject, isUrgent, sinceMs, untilMs: nowMs + believedMs })
    }
  }
  const isKnown = [...notes.values()].every((note) =>
    before.some((known) => isSame(known, note) && known.untilMs > nowMs + renewBeforeMs),
  )
  if (isKnown && before.length === notes.size) return false
  book.waiting = [...book.waiting.filter((note) => note.server !== server), ...notes.values()]
  return true
}

function isSame(one: WaitingNote, other: WaitingNote): boolean {
  return one.subject === other.subject && one.isUrgent === other.isUrgent && one.sinceMs === other.sinceMs
}
