import { emptyRation, type Ration, type RationPlace, runningMs, windowMs } from './ration-window.ts'

/** The rations of one kind, of every owner and of the project: what all servers together have taken, and who waits. */
export interface RationBook {
  /** With the places of all owners. */
  project: Ration
  owners: Map<string, Ration>
  waiting: WaitingNote[]
}

/** The first in turn at one server for one owner's ration, so that others do not push in. */
export interface WaitingNote {
  server: string
  subject: string
  isUrgent: boolean
  sinceMs: number
  /** Until then the note is believed: not for long, as its server may have been killed. */
  untilMs: number
}

export function rationOf(book: RationBook, subject: string): Ration {
  const known = book.owners.get(subject)
  if (known) return known
  const ration = emptyRation()
  book.owners.set(subject, ration)
  return ration
}

/** Counts once for each id, however often it is said: an answer may be lost, and then the change is made again. */
export function takePlace(book: RationBook, subject: string, id: string, nowMs: number): void {
  for (const ration of [rationOf(book, subject), book.project]) {
    forgetPlace(ration, id)
    ration.running.push({ id, freeAtMs: Math.ceil(nowMs + runningMs) })
    ration.lastGivenMs = Math.floor(nowMs)
  }
}

/** Counts once for each id, too, also where the place is not known: its call has been made. `heldMs`: how long it still counts. */
export function endPlace(
  book: RationBook,
  subject: string,
  id: string,
  { heldMs, nowMs }: { heldMs: number; nowMs: number },
): void {
  for (const ration of [rationOf(book, subject), book.project]) {
    const known = ration.ended.find((place) => place.id === id)
    forgetPlace(ration, id)
    // From its first end on, not from when that was said again.
    if (heldMs > 0) addEnded(ration, known ?? { id, freeAtMs: Math.ceil(nowMs + heldMs) })
  }
}

function addEnded({ ended }: Ration, place: RationPlace): void {
  const before = ended.findLastIndex(({ freeAtMs }) => freeAtMs <= place.freeAtMs)
  ended.splice(before + 1, 0, place)
}

function forgetPlace(ration: Ration, id: string): void {
  ration.running = ration.running.filter((place) => place.id !== id)
  if (ration.ended.some((place) => place.id === id)) {
    ration.ended = ration.ended.filter((place) => place.id !== id)
  }
}

/** Forgets what matters no more. */
export function tidy(book: RationBook, nowMs: number): void {
  dropFree(book.project, nowMs)
  for (const [subject, ration] of book.owners) {
    dropFree(ration, nowMs)
    if (isIdle(ration, nowMs)) book.owners.delete(subject)
  }
  book.waiting = book.waiting.filter(({ untilMs }) => untilMs > nowMs)
}

function dropFree(ration: Ration, nowMs: number): void {
  const isHeld = ({ freeAtMs }: RationPlace) => freeAtMs > nowMs
  const [first] = ration.ended
  if (first && !isHeld(first)) ration.ended = ration.ended.filter(isHeld)
  if (!ration.running.every(isHeld)) ration.running = ration.running.filter(isHeld)
}

export function isIdle({ running, ended, closedUntilMs, isOnTrial }: Ration, nowMs: number): boolean {
  // A minute after the provider refused, its ration is another one.
  const mattersUntilMs = closedUntilMs + (isOnTrial ? windowMs : 0)
  const isHeld = ({ freeAtMs }: RationPlace) => freeAtMs > nowMs
  return mattersUntilMs <= nowMs && !running.some(isHeld) && !ended.some(isHeld)
}
