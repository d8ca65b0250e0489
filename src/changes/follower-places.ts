import { TooManyAtOnce } from '../errors.ts'
import type { Observe } from '../reporting/observe.ts'
import type { ShareName, Shares } from '../shares/shares.ts'

/** Who waits for changes: polls and streams, so many of one account, and of all. */
export interface FollowerPlaces {
  /** Throws `TooManyAtOnce`; what it returns is called at the end. */
  enter(accountId: string): () => void
}

const retryAfterSeconds = 5

export function createFollowerPlaces(
  { following_at_once, following_total }: Pick<Shares, 'following_at_once' | 'following_total'>,
  observe: Observe,
): FollowerPlaces {
  const counts = new Map<string, number>()
  let total = 0
  return {
    enter(accountId) {
      const count = counts.get(accountId) ?? 0
      if (count >= following_at_once) throw placesUsedUp('following_at_once', accountId)
      if (total >= following_total) throw placesUsedUp('following_total', accountId)
      counts.set(accountId, count + 1)
      total++
      let isEnded = false
      return () => {
        if (isEnded) return
        isEnded = true
        total--
        const left = (counts.get(accountId) ?? 1) - 1
        if (left === 0) counts.delete(accountId)
        else counts.set(accountId, left)
      }
    },
  }

  function placesUsedUp(share: ShareName, accountId: string): TooManyAtOnce {
    observe({ event: 'share_used_up', share, accountId })
    return new TooManyAtOnce(retryAfterSeconds, share)
  }
}
