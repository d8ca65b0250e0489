import type { Clock } from '../clock.ts'
import type { Soon } from '../soon.ts'
import { accountOf, areVisitors, type Taker } from './taker.ts'

/**
 * Turns on the thread that answers everybody. What takes longer than a moment there is done in pieces of a millisecond or
 * a few, and asks before each. However much is asked for, only so much of it is done between two looks at the sockets, and
 * accounts take turns, and within an account its visitors and the others.
 */
export interface LoopTurns {
  /** Now, where little was done since the last look and nobody waits. */
  next(taker: Taker): Soon<void>
  /** Whether `next` would be now, for whoever would have to find out first whose turn it is. */
  isNow(): boolean
}

/**
 * At each look at the sockets a request waits for so long, and for the piece that is being done by then. Until it is answered it
 * takes several: for its connection, for its bytes, for each answer of a store elsewhere.
 */
const usualRoundMs = 2
/**
 * With each look Node takes one new connection from each listener, and a request on it takes a look or two more. With one look for
 * each round, and where the system allows one listener only, whoever opens 250 connections a second would keep all others waiting at
 * the door (docs/decisions/052).
 */
const looksBetweenRounds = 8
/** Those of one account that wait: either its visitors or the others are next, which are never none, and then those of the other kind. */
interface Line {
  next: (() => void)[]
  afterNext: (() => void)[]
  isNextVisitors: boolean
}

/** Together they take some microseconds. */
const promisesBeforePiece = 60

export function createLoopTurns(clock: Pick<Clock, 'elapsedMs'>, roundMs = usualRoundMs): LoopTurns {
  /** By account, in the order of turns: who had one goes to the end. */
  const waiting = new Map<string, Line>()
  let roundBegunMs: number | null = null
  let looks = 0

  return {
    isNow,
    next(taker) {
      if (isNow()) return
      const { promise, resolve } = Promise.withResolvers<void>()
      const accountId = accountOf(taker)
      const line = waiting.get(accountId) ?? { next: [], afterNext: [], isNextVisitors: areVisitors(taker) }
      waiting.set(accountId, line)
      const isNext = line.isNextVisitors === areVisitors(taker)
      ;(isNext ? line.next : line.afterNext).push(resolve)
      return promise
    },
  }

  function isNow(): boolean {
    if (roundBegunMs === null) beginRound()
    return waiting.size === 0 && isTimeLeft()
  }

  /** Node looks at the sockets before it comes to what is asked for here. */
  function beginRound(): void {
    roundBegunMs = clock.elapsedMs()
    setImmediate(endRound)
  }

  async function endRound(): Promise<void> {
    if (waiting.size === 0) {
      looks = 0
      roundBegunMs = null
      return
    }
    if (++looks < looksBetweenRounds) return void setImmediate(endRound)
    looks = 0
    beginRound()
    do {
      admitNext()
      // Whoever was admitted does its piece first, be it behind some promises: those of a store, or of a library.
      for (let nth = 0; nth < promisesBeforePiece; nth++) await null
    } while (waiting.size > 0 && isTimeLeft())
  }

  function isTimeLeft(): boolean {
    return roundBegunMs !== null && clock.elapsedMs() - roundBegunMs < roundMs
  }

  function admitNext(): void {
    for (const [accountId, line] of waiting) {
      waiting.delete(accountId)
      const admit = line.next.shift()
      const { next, afterNext, isNextVisitors } = line
      if (afterNext.length > 0)
        waiting.set(accountId, { next: afterNext, afterNext: next, isNextVisitors: !isNextVisitors })
      else if (next.length > 0) waiting.set(accountId, line)
      admit?.()
      return
    }
  }
}
