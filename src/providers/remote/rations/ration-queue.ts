import { randomBase62 } from '../../../secrets/random-base62.ts'
import type { SharedValue } from '../../../shared-state/registers/shared-value.ts'
import { ProviderFailure } from '../../../sheets/provider-failure.ts'
import type { Cancel, Timers } from '../../../timers.ts'
import type { Deadline } from '../deadline.ts'
import { endPlace, type RationBook, tidy } from './ration-book.ts'
import { countAhead, createRecentTurns, passOnMoments } from './ration-order.ts'
import { noteWaiting, type RationWaiter, type Served, serve } from './ration-turn.ts'
import { emptyRation, type Ration, type RationWindow } from './ration-window.ts'

/** Those of this server who wait for one kind of ration, and the book in which all servers write what they take. */
export interface RationQueue {
  /** The id of its place in the book; when the deadline is over first, what `tooLate` says is thrown. */
  wait(who: RationSeeker, deadline: Deadline, tooLate: () => Error): Promise<string>
  /** The call that had this place is over. `heldMs`: how long it still counts. */
  end(subject: string, placeId: string, heldMs: number): void
  /** Writes into the book, now or as soon as that is possible. */
  write(change: BookChange): void
  /** In how many milliseconds a newcomer can have a place at the earliest; from memory, and a guess. */
  opensInMs(who: RationSeeker): number
  /** When a newcomer could be served if nobody waited, in milliseconds from now; the same. */
  nextInMs(subject: string): number
  known(): { book: RationBook; nowMs: number }
  /** Whoever still waits is told that it is in vain. */
  close(): void
}

/** `accountId`: turns go round the accounts. */
export type RationSeeker = Pick<RationWaiter, 'subject' | 'isUrgent' | 'accountId'>

export type BookChange = (book: RationBook, nowMs: number) => void

export interface RationQueueParts {
  book: SharedValue<RationBook>
  timers: Timers
  ownerWindow(ration: Ration): RationWindow
  projectWindow(ration: Ration): RationWindow
}

interface Waiter extends RationWaiter {
  give(placeId: string): void
  refuse(error: unknown): void
}

/** Others may have changed the book unseen. */
const lookAgainMs = 1_000
/** Another server is next, and takes its place in a moment. */
const notOurTurnMs = 25
/** The book could not be written into; what is to be written waits. */
const writeAgainMs = 1_000

export function createRationQueue(parts: RationQueueParts): RationQueue {
  const { book, timers, ownerWindow, projectWindow } = parts
  const server = randomBase62(6)
  const recentTurns = createRecentTurns()
  let places = 0
  const turnParts = {
    server,
    ownerWindow,
    projectWindow,
    newPlaceId: () => `${server}${(places++).toString(36)}`,
    servedAt: recentTurns.servedAt,
  }
  let waiters: Waiter[] = []
  let unwritten: BookChange[] = []
  let isTurning = false
  let isTurnDue = false
  let isClosed = false
  let cancelTimer: Cancel = () => {}

  return {
    wait({ subject, isUrgent, accountId }, deadline, tooLate) {
      if (isClosed) return Promise.reject(stopping())
      const { promise, resolve, reject } = Promise.withResolvers<string>()
      const leave = () => {
        deadline.signal.removeEventListener('abort', giveUp)
        waiters = waiters.filter((other) => other !== waiter)
      }
      const giveUp = () => {
        waiter.refuse(tooLate())
        turn()
      }
      const waiter: Waiter = {
        subject,
        isUrgent,
        accountId,
        sinceMs: null,
        placeId: null,
        give(placeId) {
          leave()
          resolve(placeId)
        },
        refuse(error) {
          leave()
          withdraw(waiter)
          reject(error)
        },
      }
      waiters.push(waiter)
      deadline.signal.addEventListener('abort', giveUp, { once: true })
      turn()
      return promise
    },
    end(subject, placeId, heldMs) {
      write((into, nowMs) => endPlace(into, subject, placeId, { heldMs, nowMs }))
    },
    write,
    opensInMs(who) {
      const { subject } = who
      const { value, nowMs } = book.known()
      const nth = countAhead(waiters, who) + 1
      const atMs = Math.max(
        ownerWindow(rationOf(value, subject)).openingAtMs(nth, nowMs),
        projectWindow(value.project).openingAtMs(nth, nowMs),
      )
      return Math.max(0, atMs - nowMs)
    },
    nextInMs(subject) {
      const { value, nowMs } = book.known()
      return Math.max(0, nextAtMs(value, [subject], nowMs) - nowMs)
    },
    known() {
      const { value, nowMs } = book.known()
      return { book: value, nowMs }
    },
    close() {
      isClosed = true
      cancelTimer()
      for (const waiter of waiters) waiter.refuse(stopping())
      book.close()
    },
  }

  function write(change: BookChange): void {
    unwritten.push(change)
    turn()
  }

  /** One at a time: who comes meanwhile goes together with the next. */
  function turn(): void {
    isTurnDue = true
    if (isTurning || isClosed) return
    isTurning = true
    isTurnDue = false
    cancelTimer()
    const changes = unwritten
    const written = book.change((into, nowMs) => {
      tidy(into, nowMs)
      for (const change of changes) change(into, nowMs)
      const served = serve(into, waiters, nowMs, turnParts)
      const isNoted = noteWaiting(into, waiters, served, nowMs, turnParts)
      return changes.length > 0 || served.length > 0 || isNoted ? { served, changes: changes.length } : null
    })
    if (written instanceof Promise) written.then(turnEnded, turnFailed)
    else turnEnded(written)
  }

  function turnEnded(written: { served: Served<Waiter>[]; changes: number } | null): void {
    isTurning = false
    unwritten = unwritten.slice(written?.changes ?? 0)
    for (const { waiter, placeId } of written?.served ?? []) {
      if (!waiters.includes(waiter)) {
        withdraw(waiter)
        continue
      }
      recentTurns.note(waiter.subject, waiter.accountId)
      passOnMoments(waiters, waiter)
      waiter.give(placeId)
    }
    if (isTurnDue || unwritten.length > 0) turn()
    else setTimer()
  }

  /** Nobody waits for its place any more. It was never used, but may be in the book, also after a failure to write. */
  function withdraw({ subject, placeId }: Waiter): void {
    if (placeId === null) return
    unwritten.push((into, nowMs) => endPlace(into, subject, placeId, { heldMs: 0, nowMs }))
  }

  function turnFailed(error: unknown): void {
    isTurning = false
    for (const waiter of waiters) waiter.refuse(error)
    if (unwritten.length > 0 && !isClosed) cancelTimer = timers.after(writeAgainMs, turn)
  }

  function setTimer(): void {
    if (waiters.length === 0 || isClosed) return
    const { value, nowMs } = book.known()
    const subjects = new Set(waiters.map(({ subject }) => subject))
    const leftMs = nextAtMs(value, subjects, nowMs) - nowMs
    // A fraction of a millisecond too early would be a turn for nothing.
    const delayMs = leftMs > 0 ? Math.ceil(leftMs) : notOurTurnMs
    const soonMs = Math.min(delayMs, lookAgainMs)
    if (Number.isFinite(soonMs)) cancelTimer = timers.after(soonMs, turn)
  }

  function nextAtMs(value: RationBook, subjects: Iterable<string>, nowMs: number): number {
    let nextMs = Number.POSITIVE_INFINITY
    for (const subject of subjects) {
      nextMs = Math.min(nextMs, ownerWindow(rationOf(value, subject)).nextAtMs(nowMs))
    }
    return Math.max(nextMs, projectWindow(value.project).nextAtMs(nowMs))
  }
}

function rationOf({ owners }: RationBook, subject: string): Ration {
  return owners.get(subject) ?? emptyRation()
}

function stopping(): ProviderFailure {
  return new ProviderFailure('This server is about to stop', { isPassing: true, retryAfterSeconds: 1 })
}
