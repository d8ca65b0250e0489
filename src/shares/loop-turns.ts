import type { Clock } from '../clock.ts'
import type { Soon } from '../soon.ts'
import { accountOf, areStrangers, areVisitors, type Taker } from './taker.ts'

/**
 * Turns on the thread that answers everybody. What takes longer than a moment there is done in pieces of a millisecond or
 * a few, and asks before each. However much is asked for, only so much of it is done between two looks at the sockets, and
 * accounts take turns, and within an account its visitors and the others. Strangers have the turns of one account, which go round the
 * networks that they come from: whoever comes from thousands at once takes no more.
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
/** Those who wait for the same turns; never empty. */
interface Line {
  add(taker: Taker, admit: () => void): void
  take(): (() => void) | undefined
  isEmpty(): boolean
}

/** No id has a space in it. */
const strangers = 'all strangers'
/** Together they take some microseconds. */
const promisesBeforePiece = 60

export function createLoopTurns(clock: Pick<Clock, 'elapsedMs'>, roundMs = usualRoundMs): LoopTurns {
  /** By account, or strangers, in the order of turns: who had one goes to the end. */
  const waiting = new Map<string, Line>()
  let roundBegunMs: number | null = null
  let looks = 0

  return {
    isNow,
    next(taker) {
      if (isNow()) return
      const { promise, resolve } = Promise.withResolvers<void>()
      const areTheyStrangers = areStrangers(taker)
      const name = areTheyStrangers ? strangers : accountOf(taker)
      const line = waiting.get(name) ?? (areTheyStrangers ? strangersLine() : accountLine())
      line.add(taker, resolve)
      waiting.set(name, line)
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
    for (const [name, line] of waiting) {
      waiting.delete(name)
      const admit = line.take()
      if (!line.isEmpty()) waiting.set(name, line)
      admit?.()
      return
    }
  }
}

/** Visitors and the others of the account by turns, as long as there are both. */
function accountLine(): Line {
  const ofKeys: (() => void)[] = []
  const ofVisitors: (() => void)[] = []
  let areVisitorsNext: boolean | null = null
  return {
    add(taker, admit) {
      areVisitorsNext ??= areVisitors(taker)
      ;(areVisitors(taker) ? ofVisitors : ofKeys).push(admit)
    },
    take() {
      const next = areVisitorsNext ? ofVisitors : ofKeys
      const others = areVisitorsNext ? ofKeys : ofVisitors
      const admit = next.shift()
      if (others.length > 0) areVisitorsNext = !areVisitorsNext
      return admit
    },
    isEmpty: () => ofKeys.length === 0 && ofVisitors.length === 0,
  }
}

function strangersLine(): Line {
  const byNetwork = new Map<Taker, (() => void)[]>()
  return {
    add(taker, admit) {
      const ofNetwork = byNetwork.get(taker)
      if (ofNetwork) ofNetwork.push(admit)
      else byNetwork.set(taker, [admit])
    },
    take() {
      const [next] = byNetwork
      if (!next) return
      const [taker, ofNetwork] = next
      byNetwork.delete(taker)
      const admit = ofNetwork.shift()
      if (ofNetwork.length > 0) byNetwork.set(taker, ofNetwork)
      return admit
    },
    isEmpty: () => byNetwork.size === 0,
  }
}
