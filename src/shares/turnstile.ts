import type { Clock } from '../clock.ts'
import { TooManyAtOnce } from '../errors.ts'
import type { Observe } from '../reporting/observe.ts'
import type { ShareName } from './shares.ts'
import { accountOf, areVisitors, placesOfVisitors, type Taker, type TakerByThen, takerNow } from './taker.ts'

/**
 * A thing that all accounts share and that has few places: threads, compressors. Each account may hold so many of them
 * and have so many callers waiting; free places go round the accounts, so that whoever asks for little is served soon,
 * however much another one asks for. Within an account its visitors have half of the places and as many callers waiting, and a free
 * one goes to them and to others of the account by turns.
 */
export interface Turnstile {
  /**
   * Does `work` when the account's turn has come. Throws `TooManyAtOnce` when as many of its callers wait as may. What the
   * work needs is to be fetched in it, not before: who waits should hold nothing. `size`: how many of all places it takes; what
   * is larger than all of them is let in alone.
   */
  pass<T>(taker: Taker, work: () => Promise<T>, size?: number, asker?: Asker): Promise<T>
  /** For work that knows only on its way whether it needs a place, or that goes on after whoever began it has left. */
  turnOf(taker: TakerByThen): Turn
  /** A place, if there is one within `patienceMs`; else null. Whoever gets one must leave it. */
  takePlace(taker: Taker, patienceMs: number): Promise<TurnstilePlace | null>
  /** Whether somebody of another account waits who would get the place of this one, or of the same where visitors have it. */
  isWantedByOthers(taker: Taker): boolean
}

export interface Asker {
  /** Aborted when whoever it is for has left. */
  left: AbortSignal
  /**
   * Whether they may have left, which shows only when something is sent to them. They wait as others do, but where as many wait as may, the next
   * one is let in in their place.
   */
  hasPerhapsLeft(): boolean
}

export interface TurnstilePlace {
  leavePlace(): void
}

/** One piece of work has at most one place at a time; begun and ended as often as it likes. */
export interface Turn {
  /**
   * At once where it has begun. Throws like `pass`, when it has not come within `patienceMs`, and the reason of `left` when
   * whoever it is for has left meanwhile. Whose `rank` is lower goes first, whichever account's turn it is.
   */
  begin(patienceMs?: number, left?: AbortSignal, rank?: number): Promise<void>
  /** Does nothing where it has not begun. */
  end(): void
}

export interface TurnstileParts {
  /** The share that is used up when one is refused, for metrics. */
  share: ShareName
  /** Places of all accounts together. Where other turnstiles lead to the same ones, accounts take turns at them all the same. */
  places: number | Places
  placesOfAccount: number
  waitingOfAccount: number
  /** Visitors have their places beside the account's: for what nobody waits for, and is bounded otherwise. */
  areVisitorsBeside?: boolean
  /** Whose share it is, where takers are not accounts: networks, for example. */
  accountIdOf?: (name: string) => string | null
  clock: Pick<Clock, 'elapsedMs'>
  observe: Observe
}

/** What one or several turnstiles lead to. */
export interface Places {
  readonly count: number
  held: number
  /** By share and account, in the order of turns: who gets a place, or gives it back, goes to the end. */
  readonly queues: Map<string, Queue>
}

/** One account's queue at one turnstile; forgotten when nobody of it is there any more. */
interface Queue {
  readonly accountId: string
  readonly placesOfAccount: number
  readonly areVisitorsBeside: boolean
  /** With its visitors' places. */
  held: number
  heldByVisitors: number
  wasLastForVisitors: boolean
  waiting: WaitingCaller[]
}

/** How somebody waits for a place. */
interface Entry {
  patienceMs?: number | undefined
  /** Aborted when whoever it is for has left. */
  left?: AbortSignal | undefined
  hasPerhapsLeft?: (() => boolean) | undefined
  size?: number | undefined
  /** The lowest goes first; none is below 0. */
  rank?: number | undefined
}

interface WaitingCaller {
  size: number
  rank: number
  isVisitor(): boolean
  hasPerhapsLeft?: (() => boolean) | undefined
  admit(): void
  giveUp(): void
}

/** Hardly anything takes longer, and who is told to wait for minutes goes away for good. */
const longestRetryAfterSeconds = 30
/** The last places weigh so much in the mean of how long one is held. */
const weightOfLast = 0.2

export function createPlaces(count: number): Places {
  return { count, held: 0, queues: new Map() }
}

export function createTurnstile(parts: TurnstileParts): Turnstile {
  const { share, placesOfAccount, waitingOfAccount, areVisitorsBeside = false, clock, observe } = parts
  const { accountIdOf = (name) => name } = parts
  const places = typeof parts.places === 'number' ? createPlaces(parts.places) : parts.places
  let meanHeldMs = 0

  return {
    async pass(taker, work, size = 1, asker) {
      const place = await enterTurnstile(taker, { size, ...asker })
      try {
        return await work()
      } finally {
        place.leavePlace()
      }
    },
    turnOf(taker) {
      let place: TurnstilePlace | null = null
      return {
        async begin(patienceMs, left, rank) {
          place ??= await enterTurnstile(taker, { patienceMs, left, rank })
        },
        end() {
          place?.leavePlace()
          place = null
        },
      }
    },
    takePlace(taker, patienceMs) {
      const queue = queueOf(taker)
      if (isBusy(queue, areVisitors(taker), 1) && (patienceMs === 0 || isFull(queue, areVisitors(taker)))) {
        forgetEmpty(queue)
        return Promise.resolve(null)
      }
      return enter(queue, taker, { patienceMs })
    },
    isWantedByOthers(taker) {
      const isVisitor = areVisitors(taker)
      const accountId = accountOf(taker)
      for (const queue of places.queues.values()) {
        const isWanted = queue.accountId === accountId ? isVisitor && isAwaitedByKeys(queue) : isNext(queue)
        if (isWanted) return true
      }
      return false
    },
  }

  async function enterTurnstile(taker: TakerByThen, wish: Entry): Promise<TurnstilePlace> {
    const { left, size = 1 } = wish
    left?.throwIfAborted()
    const now = takerNow(taker)
    const isVisitor = areVisitors(now)
    const queue = queueOf(now)
    const isRefused =
      isBusy(queue, isVisitor, size) && isFull(queue, isVisitor) && !makesRoom(queue, isVisitor)
    if (isRefused) forgetEmpty(queue)
    // It was forgotten where the one that made room was all there was of it.
    const place = isRefused ? null : await enter(queueOf(now), taker, wish)
    if (place) return place
    left?.throwIfAborted()
    observe({ event: 'share_used_up', share, accountId: accountIdOf(queue.accountId) })
    throw new TooManyAtOnce(secondsUntilFree(queue), share)
  }

  function queueOf(taker: Taker): Queue {
    const accountId = accountOf(taker)
    const name = nameOf(accountId)
    const known = places.queues.get(name)
    if (known) return known
    const queue: Queue = {
      ...{ accountId, placesOfAccount, areVisitorsBeside },
      ...{ held: 0, heldByVisitors: 0, wasLastForVisitors: true, waiting: [] },
    }
    places.queues.set(name, queue)
    return queue
  }

  function nameOf(accountId: string): string {
    return `${share} ${accountId}`
  }

  function isBusy(queue: Queue, isVisitor: boolean, size: number): boolean {
    return !mayHold(queue, isVisitor) || !hasRoomFor(places, size) || isRoomAwaited()
  }

  /** Where visitors hold places of the account, as many more of its own callers may wait: nobody is refused for what visitors do. */
  function isFull(queue: Queue, isVisitor: boolean): boolean {
    const heldByOthers = isVisitor || areVisitorsBeside ? 0 : queue.heldByVisitors
    let alike = 0
    for (const caller of queue.waiting) if (caller.isVisitor() === isVisitor) alike++
    return alike >= waitingOfAccount + heldByOthers
  }

  /** Whether one of those who wait could be told to come again, because they are perhaps no longer there. */
  function makesRoom(queue: Queue, isVisitor: boolean): boolean {
    const gone = queue.waiting.find((caller) => caller.isVisitor() === isVisitor && caller.hasPerhapsLeft?.())
    gone?.giveUp()
    return gone !== undefined
  }

  /** Somebody has been waiting for more room than there is: to go past them would be to keep them out for good. */
  function isRoomAwaited(): boolean {
    for (const queue of places.queues.values()) if (isNext(queue)) return true
    return false
  }

  function enter(
    queue: Queue,
    taker: TakerByThen,
    { patienceMs, left, hasPerhapsLeft, rank = 0, size = 1 }: Entry,
  ): Promise<TurnstilePlace | null> {
    const isVisitor = () => areVisitors(takerNow(taker))
    if (!isBusy(queue, isVisitor(), size)) return Promise.resolve(placeFor(queue, isVisitor(), size))
    const { promise, resolve } = Promise.withResolvers<TurnstilePlace | null>()
    const sinceMs = clock.elapsedMs()
    let timer: NodeJS.Timeout | null = null
    const waiting: WaitingCaller = {
      size,
      rank,
      isVisitor,
      hasPerhapsLeft,
      giveUp,
      admit() {
        end()
        resolve(placeFor(queue, isVisitor(), size))
      },
    }
    queue.waiting.push(waiting)
    if (patienceMs !== undefined) timer = setTimeout(giveUp, patienceMs)
    // A place that visitors may not have may be there for the account. Whoever comes now would wait for it, too, and nobody would take it.
    if (typeof taker !== 'string') void taker.changed.then(() => admitNext(places))
    left?.addEventListener('abort', giveUp)
    return promise

    function end(): void {
      if (timer) clearTimeout(timer)
      left?.removeEventListener('abort', giveUp)
      queue.waiting.splice(queue.waiting.indexOf(waiting), 1)
      observe({ event: 'turn_waited', share, waitedMs: clock.elapsedMs() - sinceMs })
    }

    function giveUp(): void {
      end()
      forgetEmpty(queue)
      resolve(null)
      // It may have been the one that was waited for with more room than there was.
      admitNext(places)
    }
  }

  function placeFor(queue: Queue, isVisitor: boolean, size: number): TurnstilePlace {
    places.held += size
    queue.held++
    if (isVisitor) queue.heldByVisitors++
    queue.wasLastForVisitors = isVisitor
    putLast(queue)
    const sinceMs = clock.elapsedMs()
    let isLeft = false
    return {
      leavePlace() {
        if (isLeft) return
        isLeft = true
        places.held -= size
        queue.held--
        if (isVisitor) queue.heldByVisitors--
        meanHeldMs += weightOfLast * (clock.elapsedMs() - sinceMs - meanHeldMs)
        putLast(queue)
        forgetEmpty(queue)
        admitNext(places)
      },
    }
  }

  /** A map keeps the order of insertion. */
  function putLast(queue: Queue): void {
    const name = nameOf(queue.accountId)
    places.queues.delete(name)
    places.queues.set(name, queue)
  }

  function forgetEmpty(queue: Queue): void {
    if (queue.held === 0 && queue.waiting.length === 0) places.queues.delete(nameOf(queue.accountId))
  }

  function secondsUntilFree(queue: Queue): number {
    const seconds = (meanHeldMs * (queue.waiting.length + 1)) / placesOfAccount / 1_000
    return Math.min(longestRetryAfterSeconds, Math.max(1, Math.ceil(seconds)))
  }
}

function hasRoomFor({ held, count }: Places, size: number): boolean {
  return held === 0 || held + size <= count
}

/** Whether a free place may be theirs. */
function mayHold(queue: Queue, isVisitor: boolean): boolean {
  const { held, heldByVisitors, placesOfAccount, areVisitorsBeside } = queue
  if (isVisitor && heldByVisitors >= placesOfVisitors(placesOfAccount)) return false
  if (areVisitorsBeside) return isVisitor || held - heldByVisitors < placesOfAccount
  return held < placesOfAccount
}

function isNext(queue: Queue): boolean {
  const isForKeys = mayHold(queue, false)
  const isForVisitors = mayHold(queue, true)
  if (!isForKeys && !isForVisitors) return false
  return queue.waiting.some((caller) => (caller.isVisitor() ? isForVisitors : isForKeys))
}

/** If no visitor held a place. */
function isAwaitedByKeys({ held, heldByVisitors, placesOfAccount, waiting }: Queue): boolean {
  return held - heldByVisitors < placesOfAccount && waiting.some((caller) => !caller.isVisitor())
}

function admitNext(places: Places): void {
  for (;;) {
    const next = nextInTurn(places)
    if (!next || !hasRoomFor(places, next.size)) return
    next.admit()
  }
}

function nextInTurn({ queues }: Places): WaitingCaller | null {
  let next: WaitingCaller | null = null
  for (const queue of queues.values()) {
    const waiting = nextOf(queue)
    // Thousands may wait, and each that leaves asks who is next.
    if (waiting?.rank === 0) return waiting
    if (waiting && (!next || waiting.rank < next.rank)) next = waiting
  }
  return next
}

/** By rank among themselves; but visitors with small things to do do not keep their account's own waiting. */
function nextOf(queue: Queue): WaitingCaller | null {
  const isForKeys = mayHold(queue, false)
  const isForVisitors = mayHold(queue, true)
  if (!isForKeys && !isForVisitors) return null
  let ofKeys: WaitingCaller | null = null
  let ofVisitors: WaitingCaller | null = null
  for (const caller of queue.waiting) {
    if (caller.isVisitor()) {
      if (isForVisitors && (!ofVisitors || caller.rank < ofVisitors.rank)) ofVisitors = caller
    } else if (isForKeys && (!ofKeys || caller.rank < ofKeys.rank)) ofKeys = caller
    if ((ofKeys?.rank === 0 || !isForKeys) && (ofVisitors?.rank === 0 || !isForVisitors)) break
  }
  if (ofKeys && ofVisitors) return queue.wasLastForVisitors ? ofKeys : ofVisitors
  return ofKeys ?? ofVisitors
}
