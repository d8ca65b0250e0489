import { type Refusal, TooManyAtOnce } from '../../errors.ts'
import type { Observe } from '../../reporting/observe.ts'
import type { Shares } from '../../shares/shares.ts'
import { placesOfVisitors } from '../../shares/taker.ts'
import { takerOfOrder, type WriteOrder } from './order.ts'

/**
 * What an account has on its way to all its spreadsheets together, from its arrival to its answer: each has a lane with a bound of its
 * own, but an account may have a hundred spreadsheets, and every write is held in memory until its turn comes.
 */
export interface AccountWrites {
  /** A refusal where the account has as much under way as it may, before anything is done; else what is to be called at the end. */
  enter(order: Pick<WriteOrder, 'accountId' | 'isForVisitors' | 'bytes'>): (() => void) | Refusal
}

/** Length of their bodies. Visitors have half of both, beside their account's. */
const maxBytes = 128 * 1024 * 1024
const retryAfterSeconds = 1

export function createAccountWrites(
  { editing_waiting: most }: Pick<Shares, 'editing_waiting'>,
  observe: Observe,
): AccountWrites {
  const underWay = new Map<string, { count: number; bytes: number }>()
  return {
    enter({ accountId, isForVisitors = false, bytes }) {
      const name = takerOfOrder({ accountId, isForVisitors })
      const own = underWay.get(name) ?? { count: 0, bytes: 0 }
      const mostHere = isForVisitors ? placesOfVisitors(most) : most
      const mostBytes = isForVisitors ? maxBytes / 2 : maxBytes
      if (own.count >= mostHere || own.bytes + bytes > mostBytes) {
        observe({ event: 'share_used_up', share: 'editing_waiting', accountId })
        return new TooManyAtOnce(retryAfterSeconds, 'editing_waiting').refusal
      }
      own.count++
      own.bytes += bytes
      underWay.set(name, own)
      return () => {
        own.count--
        own.bytes -= bytes
        if (own.count === 0) underWay.delete(name)
      }
    },
  }
}
