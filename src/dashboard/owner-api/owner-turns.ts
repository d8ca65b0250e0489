import type { Clock } from '../../clock.ts'
import type { Observe } from '../../reporting/observe.ts'
import type { LoopTurns } from '../../shares/loop-turns.ts'
import type { Shares } from '../../shares/shares.ts'
import { createTurnstile, type Turnstile } from '../../shares/turnstile.ts'
import { idleTimers, pause, type Timers } from '../../timers.ts'

/**
 * How many calls of the dashboard's API are worked on at the same time. All of them go through one thread and a few connections to the
 * store, and whoever has hundreds under way there is served before everybody else. (How often somebody may ask is `owner-pace.ts`.)
 */
export interface OwnerTurns {
  /** To find out whose a call is: few of one network at a time. */
  identify<T>(network: string, left: AbortSignal, work: () => Promise<T>): Promise<T>
  /** Throws `TooManyAtOnce` where as many calls of `caller` wait as may, and when its turn has not come for long. */
  act<T>(caller: string, left: AbortSignal, work: () => Promise<T>): Promise<T>
  /** Whoever asks too often is told so after a moment: with hundreds of connections that ask again at once, saying no would be all that is done here. */
  holdBack(left: AbortSignal): Promise<void>
}

export interface OwnerTurnsParts {
  shares: Pick<Shares, 'owner_calls_at_once' | 'owner_calls_waiting'>
  clock: Pick<Clock, 'elapsedMs'>
  observe: Observe
  /** Those of the main thread. */
  loopTurns: Pick<LoopTurns, 'next'>
  timers?: Timers
}

/** Where others of the account take their time, as previews of large files do, nobody is kept waiting without a word. */
const patienceMs = 10_000
/** Each has its own part of it, so that not all are told in the same turn of the loop. */
const heldBackMs = { least: 250, most: 500, step: 5 }

/** No id has a space in it. */
const ofEnding = 'ending '

/** What takes access away waits in a queue of its session's: somebody with a stolen one may fill the account's. */
export function endingCaller(sessionHash: string): string {
  return ofEnding + sessionHash
}

export function createOwnerTurns(turnsParts: OwnerTurnsParts): OwnerTurns {
  const { shares, clock, observe, loopTurns, timers = idleTimers } = turnsParts
  const { owner_calls_at_once: placesOfAccount, owner_calls_waiting: waitingOfAccount } = shares
  // As many accounts as there are: only one's own calls are in one's way.
  const parts = { places: Number.POSITIVE_INFINITY, placesOfAccount, clock, observe }
  const identifying = createTurnstile({
    ...parts,
    share: 'owner_calls_at_once',
    accountIdOf: () => null,
    // There are no more than connections.
    waitingOfAccount: Number.POSITIVE_INFINITY,
  })
  const acting = createTurnstile({
    ...parts,
    share: 'owner_calls_waiting',
    waitingOfAccount,
    accountIdOf: (caller) => (caller.startsWith(ofEnding) ? null : caller),
  })
  let heldMs = heldBackMs.least
  return {
    holdBack(left) {
      heldMs = heldMs < heldBackMs.most ? heldMs + heldBackMs.step : heldBackMs.least
      return pause(timers, heldMs, left)
    },
    identify: (network, left, work) => inTurn(identifying, network, left, work),
    act: (caller, left, work) => inTurn(acting, caller, left, work),
  }

  async function inTurn<T>(
    turnstile: Turnstile,
    caller: string,
    left: AbortSignal,
    work: () => Promise<T>,
  ): Promise<T> {
    const turn = turnstile.turnOf(caller)
    await turn.begin(patienceMs, left)
    try {
      await loopTurns.next(caller)
      return await work()
    } finally {
      turn.end()
    }
  }
}
