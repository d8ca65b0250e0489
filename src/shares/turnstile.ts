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

/** Of one piece of work, at most one place at a time; begun and ended as often as it likes. */
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
  /** Of all accounts together. */
  places: number
  placesOfAccount: number
  waitingOfAccount: number
  clock: Pick<Clock, 'elapsedMs'>
  observe: Observe
}

/** Of the one account; forgotten when nobody of it is there any more. */
interface Queue {
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
  sinceMs: number
  size: number
  rank: number
  admit(place: TurnstilePlace | null): void
}

/** Hardly anything takes longer, and who is told to wait for minutes goes away for good. */
const longestRetryAfterSeconds = 30
/** The last places weigh so much in the mean of how long one is held. */
const weightOfLast = 0.2

export function createTurnstile(parts: TurnstileParts): Turnstile {
  const { share, places, placesOfAccount, waitingOfAccount, clock, observe } = parts
  /** In the order of turns: who gets a place, or gives it back, goes to the end. */
  const queues = new Map<string, Queue>()
  let held = 0
  let meanHeldMs = 0

  return {
    async pass(accountId, work, size = 1) {
      const place = await entered(accountId, { size })
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
          place ??= await entered(accountId, { patienceMs, left, rank })
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
        forgetEmpty(accountId, queue)
        return Promise.resolve(null)
      }
      return enter(accountId, queue, { patienceMs })
    },
    isWantedByOthers(accountId) {
      for (const [other, queue] of queues) {
        if (other !== accountId && queue.waiting.length > 0 && queue.held < placesOfAccount) return true
      }
      return false
    },
  }

  async function entered(accountId: string, wish: Entry): Promise<TurnstilePlace> {
    const { left, size = 1 } = wish
    left?.throwIfAborted()
    const queue = queueOf(accountId)
    const isFull = isBusy(queue, size) && queue.waiting.length >= waitingOfAccount
    if (isFull) forgetEmpty(accountId, queue)
    const place = isFull ? null : await enter(accountId, queue, wish)
    if (place) return place
    left?.throwIfAborted()
    observe({ event: 'share_used_up', share, accountId })
    throw new TooManyAtOnce(secondsUntilFree(queue), share)
  }

  function queueOf(accountId: string): Queue {
    const known = queues.get(accountId)
    if (known) return known
    const queue: Queue = { held: 0, waiting: [] }
    queues.set(accountId, queue)
    return queue
  }

  function isBusy(queue: Queue, size: number): boolean {
    return queue.held >= placesOfAccount || !hasRoomFor(size) || isRoomAwaited()
  }

  function hasRoomFor(size: number): boolean {
    return held === 0 || held + size <= places
  }

  /** Somebody has been waiting for more room than there is: to go past them would be to keep them out for good. */
  function isRoomAwaited(): boolean {
    for (const { held: heldHere, waiting } of queues.values())
      if (waiting.length > 0 && heldHere < placesOfAccount) return true
    return false
  }

  function enter(
    accountId: string,
    queue: Queue,
    { patienceMs, left, rank = 0, size = 1 }: Entry,
  ): Promise<TurnstilePlace | null> {
    if (!isBusy(queue, size)) return Promise.resolve(placeFor(accountId, queue, size))
    const { promise, resolve } = Promise.withResolvers<TurnstilePlace | null>()
    const sinceMs = clock.elapsedMs()
    let timer: NodeJS.Timeout | null = null
    const waiting: WaitingCaller = {
      sinceMs,
      size,
      rank,
      admit(place) {
        if (timer) clearTimeout(timer)
        left?.removeEventListener('abort', giveUp)
        observe({ event: 'turn_waited', share, waitedMs: clock.elapsedMs() - sinceMs })
        resolve(place)
      },
    }
    queue.waiting.push(waiting)
    if (patienceMs !== undefined) timer = setTimeout(giveUp, patienceMs)
    left?.addEventListener('abort', giveUp)
    return promise

    function giveUp(): void {
      queue.waiting.splice(queue.waiting.indexOf(waiting), 1)
      forgetEmpty(accountId, queue)
      waiting.admit(null)
      // It may have been the one that was waited for with more room than there was.
      admitNext()
    }
  }

  function placeFor(accountId: string, queue: Queue, size: number): TurnstilePlace {
    held += size
    queue.held++
    putLast(accountId, queue)
    const sinceMs = clock.elapsedMs()
    let isLeft = false
    return {
      leavePlace() {
        if (isLeft) return
        isLeft = true
        held -= size
        queue.held--
        meanHeldMs += weightOfLast * (clock.elapsedMs() - sinceMs - meanHeldMs)
        putLast(accountId, queue)
        forgetEmpty(accountId, queue)
        admitNext()
      },
    }
  }

  /** A map keeps the order of insertion. */
  function putLast(accountId: string, queue: Queue): void {
    queues.delete(accountId)
    queues.set(accountId, queue)
  }

  function admitNext(): void {
    for (;;) {
      const next = nextInTurn()
      if (!next || !hasRoomFor(next.waiting.size)) return
      const { accountId, queue, waiting } = next
      queue.waiting.splice(queue.waiting.indexOf(waiting), 1)
      waiting.admit(placeFor(accountId, queue, waiting.size))
    }
  }

  function nextInTurn(): { accountId: string; queue: Queue; waiting: WaitingCaller } | null {
    let next: { accountId: string; queue: Queue; waiting: WaitingCaller } | null = null
    for (const [accountId, queue] of queues) {
      const [first] = queue.waiting
      if (!first || queue.held >= placesOfAccount) continue
      const waiting = queue.waiting.reduce((one, other) => (other.rank < one.rank ? other : one), first)
      if (!next || waiting.rank < next.waiting.rank) next = { accountId, queue, waiting }
    }
    return next
  }

  function forgetEmpty(accountId: string, queue: Queue): void {
    if (queue.held === 0 && queue.waiting.length === 0) queues.delete(accountId)
  }

  function secondsUntilFree(queue: Queue): number {
    const seconds = (meanHeldMs * (queue.waiting.length + 1)) / placesOfAccount / 1_000
    return Math.min(longestRetryAfterSeconds, Math.max(1, Math.ceil(seconds)))
  }
}
