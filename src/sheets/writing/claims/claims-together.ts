import { setImmediate as takeTurn } from 'node:timers/promises'
import { GoneMeanwhile, type Refusal } from '../../../errors.ts'
import type { Taker } from '../../../shares/taker.ts'
import type { Turnstile } from '../../../shares/turnstile.ts'
import type { OperationToClaim, StoredClaim } from '../../../store/operations/operations.ts'

/** Claims of keys that wait for a turn of the same account: whichever gets one asks for all of them (docs/decisions/055). */
export interface ClaimsTogether {
  /** Throws `TooManyAtOnce` where no turn came in time; nothing is claimed then. */
  claim(taker: Taker, asked: OperationToClaim, ways: WaysToClaim): Promise<StoredClaim | Refusal>
}

export interface WaysToClaim {
  /** Those of them whose key was free. */
  claimFree(asked: readonly OperationToClaim[]): Promise<ReadonlyMap<string, StoredClaim | Refusal>>
  /** For one whose key somebody has, or had. */
  claimHeld(): Promise<StoredClaim | Refusal>
}

/** Whoever gets its turn late has the rest of its time for the write itself. */
export const claimPatienceMs = 10_000
/** SQLite inserts so many in a millisecond or two, on the thread that serves everyone. */
const claimsTogether = 64
const claimedInOneGo = 16
/** That of an entry of a form is its text. Long ones are asked for alone. */
const longFingerprintCharacters = 4 * 1_024

/** Given, because Node would make an error of its own for each, with a stack. */
const wasServed = 'served in the turn of another'

interface WaitingClaim {
  asked: OperationToClaim
  /** What came of asking for it, alone or with others; undefined: somebody has its key. null = nobody has asked yet. */
  tried: Promise<StoredClaim | Refusal | undefined> | null
  /** Aborted when somebody else's turn has served it. */
  served: AbortController
}

export function createClaimsTogether(claiming: Pick<Turnstile, 'turnOf'>): ClaimsTogether {
  const waitingOf = new Map<Taker, Set<WaitingClaim>>()

  return {
    async claim(taker, asked, { claimFree, claimHeld }) {
      const claim: WaitingClaim = { asked, tried: null, served: new AbortController() }
      wait(taker, claim)
      const turn = claiming.turnOf(taker)
      try {
        await turn.begin(claimPatienceMs, claim.served.signal)
      } catch (error) {
        // What was asked for may be claimed, however long it took to hear of it.
        const served = await claim.tried
        if (served) return served
        throw error
      } finally {
        endWaiting(taker, claim)
      }
      try {
        if (!claim.tried) askTogether(taker, claim, claimFree)
        return (await claim.tried) ?? (await claimHeld())
      } finally {
        turn.end()
      }
    },
  }

  function askTogether(taker: Taker, first: WaitingClaim, claimFree: WaysToClaim['claimFree']): void {
    const group = [first]
    for (const claim of isLong(first) ? [] : (waitingOf.get(taker) ?? [])) {
      if (group.length === claimsTogether) break
      if (!claim.tried && !isLong(claim)) group.push(claim)
    }
    const claimed = claimFree(group.map(({ asked }) => asked))
    for (const [at, claim] of group.entries()) {
      claim.tried = claimed.then(
        async (claims) => {
          // Each goes on at once with what its request is about.
          for (let turns = Math.floor(at / claimedInOneGo); turns > 0; turns--) await takeTurn()
          return claims.get(claim.asked.id)
        },
        (error: unknown) => {
          // Only one of their sheets may be gone: each asks for itself.
          if (group.length > 1 && error instanceof GoneMeanwhile) return undefined
          throw error
        },
      )
      void claim.tried.then(
        (served) => served && claim.served.abort(wasServed),
        () => claim.served.abort(wasServed),
      )
    }
  }

  function wait(taker: Taker, claim: WaitingClaim): void {
    const waiting = waitingOf.get(taker)
    if (waiting) waiting.add(claim)
    else waitingOf.set(taker, new Set([claim]))
  }

  function endWaiting(taker: Taker, claim: WaitingClaim): void {
    const waiting = waitingOf.get(taker)
    waiting?.delete(claim)
    if (waiting?.size === 0) waitingOf.delete(taker)
  }
}

function isLong({ asked }: WaitingClaim): boolean {
  return asked.fingerprint.length > longFingerprintCharacters
}
