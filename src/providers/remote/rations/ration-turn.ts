import { type RationBook, rationOf, takePlace, type WaitingNote } from './ration-book.ts'
import type { Ration, RationWindow } from './ration-window.ts'

/** One who waits for a place, here or at another server. */
interface InTurn {
  subject: string
  /** Before those who only read: somebody waits for a write. */
  isUrgent: boolean
  /** By the book's clock; null until it has waited for a turn. */
  sinceMs: number | null
}

export interface RationWaiter extends InTurn {
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
}

export interface Served<W> {
  waiter: W
  placeId: string
}

/** Longer than a server lets pass until it looks again. */
const believedMs = 2_500
const renewBeforeMs = 1_250

/** Gives out what may be given out now, to whoever is next: urgent ones first, and then as they came. */
export function serve<W extends RationWaiter>(
  book: RationBook,
  waiters: readonly W[],
  nowMs: number,
  parts: TurnParts,
): Served<W>[] {
  const served: Served<W>[] = []
  const passedOver = new Set<string>()
  for (const next of inOrder(book, waiters, parts.server)) {
    if (parts.projectWindow(book.project).nextAtMs(nowMs) > nowMs) break
    if (passedOver.has(next.subject)) continue
    const isOpen = parts.ownerWindow(rationOf(book, next.subject)).nextAtMs(nowMs) <= nowMs
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

interface Next<W> extends InTurn {
  waiter: W | null
}

function inOrder<W extends RationWaiter>(book: RationBook, waiters: readonly W[], server: string): Next<W>[] {
  const ours = waiters.map(({ subject, isUrgent, sinceMs }, at) => ({
    subject,
    isUrgent,
    sinceMs,
    waiter: waiters[at] ?? null,
  }))
  const others = book.waiting.filter((note) => note.server !== server)
  return [...ours, ...others.map((note) => ({ ...note, waiter: null }))].sort(
    (one, other) => Number(other.isUrgent) - Number(one.isUrgent) || sinceOf(one) - sinceOf(other),
  )
}

function sinceOf({ sinceMs }: InTurn): number {
  return sinceMs ?? Number.MAX_SAFE_INTEGER
}

/** Tells the other servers who of ours is next for each owner's ration. False when they know already. */
export function noteWaiting(
  book: RationBook,
  waiters: readonly RationWaiter[],
  nowMs: number,
  { server }: Pick<TurnParts, 'server'>,
): boolean {
  const before = book.waiting.filter((note) => note.server === server)
  const notes = new Map<string, WaitingNote>()
  for (const waiter of waiters) {
    waiter.sinceMs ??= nowMs
    const { subject, isUrgent, sinceMs } = waiter
    const first = notes.get(subject)
    if (first && (first.isUrgent || !isUrgent)) continue
    notes.set(subject, { server, subject, isUrgent, sinceMs, untilMs: nowMs + believedMs })
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
