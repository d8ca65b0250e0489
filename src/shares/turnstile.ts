import type { Clock } from '../clock.ts'
import { TooManyAtOnce } from '../errors.ts'
import type { Observe } from '../reporting/observe.ts'
import type { ShareName } from './shares.ts'

/**
 * A thing that all accounts share and that has few places: threads, compressors. Each account may hold so many of them
 * and have so many callers waiting; free places go round the accounts, so that whoever asks for little is served soon,
 * however much another one asks for.
 */
export interface Turnstile {
  /**
   * Does `work` when the account's turn has come. Throws `TooManyAtOnce` when as many of its callers wait as may. What the
   * work needs is to be fetched in it, not before: who waits should hold nothing. `size`: how many of all places it takes; what
   * is larger than all of them is let in alone.
   */
  pass<T>(accountId: string, work: () => Promise<T>, size?: number): Promise<T>
  /** For work that knows only on its way whether it needs a place, or that goes on after whoever began it has left. */
  turnOf(accountId: string): Turn
  /** A place, if there is one within `patienceMs`; else null. Whoever gets one must leave it. */
  takePlace(accountId: string, patienceMs: number): Promise<TurnstilePlace | null>
  /** Whether somebody of another account waits who would get the place of this one. */
  isWantedByOthers(accountId: string): boolean
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
  held: number
  waiting: WaitingCaller[]
}

/** How somebody waits for a place. */
interface Entry {
  patienceMs?: number | undefined
  /** Aborted when whoever it is for has left. */
  left?: AbortSignal | undefined
  size?: number | undefined
  /** The lowest goes first. */
  rank?: number | undefined
}

interface WaitingCaller {
  size: number
  rank: number
  admit(): void
}

/** Hardly anything takes longer, and who is told to wait for minutes goes away for good. */
const longestRetryAfterSeconds = 30
/** The last places weigh so much in the mean of how long one is held. */
const weightOfLast = 0.2

export function createPlaces(count: number): Places {
  return { count, held: 0, queues: new Map() }
}

export function createTurnstile(parts: TurnstileParts): Turnstile {
  const { share, placesOfAccount, waitingOfAccount, clock, observe } = parts
  const places = typeof parts.places === 'number' ? createPlaces(parts.places) : parts.places
  let meanHeldMs = 0

  return {
    async pass(accountId, work, size = 1) {
      const place = await enterTurnstile(accountId, { size })
      try {
        return await work()
      } finally {
        place.leavePlace()
      }
    },
    turnOf(accountId) {
      let place: TurnstilePlace | null = null
      return {
        async begin(patienceMs, left, rank) {
          place ??= await enterTurnstile(accountId, { patienceMs, left, rank })
        },
        end() {
          place?.leavePlace()
          place = null
        },
      }
    },
    takePlace(accountId, patienceMs) {
      const queue = queueOf(accountId)
      if (isBusy(queue, 1) && (patienceMs === 0 || queue.waiting.length >= waitingOfAccount)) {
        forgetEmpty(queue)
        return Promise.resolve(null)
      }
      return enter(queue, { patienceMs })
    },
    isWantedByOthers(accountId) {
      for (const queue of places.queues.values())
        if (queue.accountId !== accountId && isNext(queue)) return true
      return false
    },
  }

  async function enterTurnstile(accountId: string, wish: Entry): Promise<TurnstilePlace> {
    const { left, size = 1 } = wish
    left?.throwIfAborted()
    const queue = queueOf(accountId)
    const isFull = isBusy(queue, size) && queue.waiting.length >= waitingOfAccount
    if (isFull) forgetEmpty(queue)
    const place = isFull ? null : await enter(queue, wish)
    if (place) return place
    left?.throwIfAborted()
    observe({ event: 'share_used_up', share, accountId })
    throw new TooManyAtOnce(secondsUntilFree(queue), share)
  }

  function queueOf(accountId: string): Queue {
    const name = nameOf(accountId)
    const known = places.queues.get(name)
    if (known) return known
    const queue: Queue = { accountId, placesOfAccount, held: 0, waiting: [] }
    places.queues.set(name, queue)
    return queue
  }

  function nameOf(accountId: string): string {
    return `${share} ${accountId}`
  }

  function isBusy(queue: Queue, size: number): boolean {
    return queue.held >= placesOfAccount || !hasRoomFor(places, size) || isRoomAwaited()
  }

  /** Somebody has been waiting for more room than there is: to go past them would be to keep them out for good. */
  function isRoomAwaited(): boolean {
    for (const queue of places.queues.values()) if (isNext(queue)) return true
    return false
  }

  function enter(
    queue: Queue,
    { patienceMs, left, rank = 0, size = 1 }: Entry,
  ): Promise<TurnstilePlace | null> {
    if (!isBusy(queue, size)) return Promise.resolve(placeFor(queue, size))
    const { promise, resolve } = Promise.withResolvers<TurnstilePlace | null>()
    const sinceMs = clock.elapsedMs()
    let timer: NodeJS.Timeout | null = null
    const waiting: WaitingCaller = {
      size,
      rank,
      admit() {
        end()
        resolve(placeFor(queue, size))
      },
    }
    queue.waiting.push(waiting)
    if (patienceMs !== undefined) timer = setTimeout(giveUp, patienceMs)
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

  function placeFor(queue: Queue, size: number): TurnstilePlace {
    places.held += size
    queue.held++
    putLast(queue)
    const sinceMs = clock.elapsedMs()
    let isLeft = false
    return {
      leavePlace() {
        if (isLeft) return
        isLeft = true
        places.held -= size
        queue.held--
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

function isNext({ held, placesOfAccount, waiting }: Queue): boolean {
  return waiting.length > 0 && held < placesOfAccount
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
    const [first] = queue.waiting
    if (!first || !isNext(queue)) continue
    const waiting = queue.waiting.reduce((one, other) => (other.rank < one.rank ? other : one), first)
    if (!next || waiting.rank < next.rank) next = waiting
  }
  return next
}
