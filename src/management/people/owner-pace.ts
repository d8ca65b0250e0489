import type { Observe } from '../../reporting/observe.ts'
import type { RateWindow, RateWindows } from '../../shared-state/rate-windows/rate-windows.ts'
import { clientNetwork } from '../../shares/client-network.ts'
import type { AccountRecord } from '../accounts/accounts.ts'
import type { PlanBook } from '../accounts/plan-book.ts'
import { Problem } from '../problem.ts'

/**
 * How often the dashboard's API may be asked. Whoever is signed in counts for their account, at all instances together;
 * everybody else for their network, at each instance for itself, so that strangers cost nobody a question to the store.
 */
export interface OwnerPace {
  /** Counts one call; a problem when it has to wait. */
  countCall(caller: PacedCaller): Promise<Problem | null>
  /**
   * From a small allowance of each session's own, for what only takes access away: a leaked key must not stay in use
   * because its owner, or somebody with a stolen session, has asked for too much.
   */
  takeFromReserve(caller: PacedCaller): Promise<Problem | null>
  /** Rows are the same here as in the public API, and may be read as often in a minute as the plan allows there. */
  takeRows(account: AccountRecord): Promise<Problem | null>
  /** Each key that is pasted is tried, and to sign with one that was made up may be dear. Nobody needs many. */
  takeKey(account: AccountRecord): Promise<Problem | null>
}

export type PacedCaller = { accountId: string; sessionHash: string } | { address: string }

export interface OwnerPaceParts {
  /** Shared by all instances. */
  windows: RateWindows
  /** Windows that this instance keeps for itself. */
  visitors: RateWindows
  /** Known to this deployment alone. */
  digest: (text: string) => Buffer
  planBook: Pick<PlanBook, 'of'>
  callsPerMinute: number
  observe: Observe
}

const windowMs = 60_000
const reservedPerMinute = 60
const keysInTenMinutes = 20

export function createOwnerPace(parts: OwnerPaceParts): OwnerPace {
  const { windows, visitors, digest, planBook, callsPerMinute, observe } = parts
  return {
    async countCall(caller) {
      if ('address' in caller) return visitorsWait('calls', caller.address, callsPerMinute)
      const { accountId } = caller
      return shareOf(
        accountId,
        await windows.takeFromWindow(`owner calls ${accountId}`, callsPerMinute, windowMs),
      )
    },
    async takeFromReserve(caller) {
      if ('address' in caller) return visitorsWait('ending', caller.address, reservedPerMinute)
      const { accountId, sessionHash } = caller
      const window = await windows.takeFromWindow(`owner ending ${sessionHash}`, reservedPerMinute, windowMs)
      return shareOf(accountId, window)
    },
    async takeRows(account) {
      const { requestsPerMinute } = planBook.of(account)
      if (requestsPerMinute === null) return null
      return waitFor(await windows.takeFromWindow(`owner rows ${account.id}`, requestsPerMinute, windowMs))
    },
    async takeKey({ id }) {
      return waitFor(await windows.takeFromWindow(`owner keys ${id}`, keysInTenMinutes, 10 * windowMs))
    },
  }

  async function visitorsWait(what: string, address: string, limit: number): Promise<Problem | null> {
    return shareOf(null, await visitors.takeFromWindow(`${what} ${bucketOf(address)}`, limit, windowMs))
  }

  function shareOf(accountId: string | null, window: RateWindow): Problem | null {
    const wait = waitFor(window)
    if (wait) observe({ event: 'share_used_up', share: 'owner_requests_per_minute', accountId })
    return wait
  }

  /** Strangers have as many networks as they like; what is remembered of them stays bounded. */
  function bucketOf(address: string): number {
    return digest(`visitor ${clientNetwork(address)}`).readUInt16BE()
  }
}

function waitFor({ isAdmitted, resetAtMs, nowMs }: RateWindow): Problem | null {
  if (isAdmitted) return null
  const retryAfterSeconds = Math.max(1, Math.ceil((resetAtMs - nowMs) / 1_000))
  return new Problem(`Too many requests. Try again in ${retryAfterSeconds} seconds.`, {
    kind: 'too_often',
    retryAfterSeconds,
  })
}
