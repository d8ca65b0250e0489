import type { Clock } from '../clock.ts'
import type { Soon } from '../soon.ts'

/**
 * Turns on the thread that answers everybody. What takes longer than a moment there is done in pieces of a millisecond or
 * a few, and asks before each. However much is asked for, only so much of it is done between two looks at the sockets, and
 * accounts take turns.
 */
export interface LoopTurns {
  /** Now, where little was done since the last look and nobody waits. */
  next(accountId: string): Soon<void>
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
/** Together they take some microseconds. */
const promisesBeforePiece = 60

export function createLoopTurns(clock: Pick<Clock, 'elapsedMs'>, roundMs = usualRoundMs): LoopTurns {
  /** In the order of turns: who had one goes to the end. */
  const waiting = new Map<string, (() => void)[]>()
  let roundBegunMs: number | null = null
  let looks = 0

  return {
    isNow,
    next(accountId) {
      if (isNow()) return
      const { promise, resolve } = Promise.withResolvers<void>()
      const queue = waiting.get(accountId)
      if (queue) queue.push(resolve)
      else waiting.set(accountId, [resolve])
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
    for (const [accountId, queue] of waiting) {
      waiting.delete(accountId)
      const admit = queue.shift()
      if (queue.length > 0) waiting.set(accountId, queue)
      admit?.()
      return
    }
  }
}
