import type { Clock } from '../../clock.ts'
import type { Observe } from '../../reporting/observe.ts'
import type { LoopTurns } from '../../shares/loop-turns.ts'
import type { Shares } from '../../shares/shares.ts'
import { createTurnstile, type Turnstile } from '../../shares/turnstile.ts'

/**
 * How many calls of the dashboard's API are worked on at the same time. All of them go through one thread and a few connections to the
 * store, and whoever has hundreds under way there is served before everybody else. (How often somebody may ask is `owner-pace.ts`.)
 */
export interface OwnerTurns {
  /** To find out whose a call is: few of one network at a time. */
  identify<T>(network: string, left: AbortSignal, work: () => Promise<T>): Promise<T>
  /** Throws `TooManyAtOnce` where as many calls of `caller` wait as may, and when its turn has not come for long. */
  act<T>(caller: string, left: AbortSignal, work: () => Promise<T>): Promise<T>
}

export interface OwnerTurnsParts {
  shares: Pick<Shares, 'owner_calls_at_once' | 'owner_calls_waiting'>
  clock: Pick<Clock, 'elapsedMs'>
  observe: Observe
  /** Those of the main thread. */
  loopTurns: Pick<LoopTurns, 'next'>
}

/** Where others of the account take their time, as previews of large files do, nobody is kept waiting without a word. */
const patienceMs = 10_000

export function createOwnerTurns({ shares, clock, observe, loopTurns }: OwnerTurnsParts): OwnerTurns {
  const { owner_calls_at_once: placesOfAccount, owner_calls_waiting: waitingOfAccount } = shares
  // As many accounts as there are: only one's own calls are in one's way.
  const parts = { places: Number.POSITIVE_INFINITY, placesOfAccount, clock, observe }
  const identifying = createTurnstile({
    ...parts,
    share: 'owner_calls_at_once',
    // There are no more than connections.
    waitingOfAccount: Number.POSITIVE_INFINITY,
  })
  const acting = createTurnstile({ ...parts, share: 'owner_calls_waiting', waitingOfAccount })
  return {
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
