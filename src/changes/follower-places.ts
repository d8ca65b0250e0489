import { TooManyAtOnce } from '../errors.ts'
import type { Observe } from '../reporting/observe.ts'
import type { ShareName, Shares } from '../shares/shares.ts'
import { accountOf, areVisitors, placesOfVisitors, type Taker } from '../shares/taker.ts'

/**
 * Who waits for changes: polls and streams, so many of one account, and of all. Visitors have places beside those of their account, half
 * as many, and so they have beside those of all: whatever they do, nobody with a secret key is refused for it.
 */
export interface FollowerPlaces {
  /** Throws `TooManyAtOnce`; what it returns is called at the end. */
  enter(taker: Taker): () => void
}

const retryAfterSeconds = 5

export function createFollowerPlaces(
  { following_at_once, following_total }: Pick<Shares, 'following_at_once' | 'following_total'>,
  observe: Observe,
): FollowerPlaces {
  const counts = new Map<Taker, number>()
  const ofAllKeys = { count: 0 }
  const ofAllVisitors = { count: 0 }
  return {
    enter(taker) {
      const isVisitor = areVisitors(taker)
      const count = counts.get(taker) ?? 0
      const placesOf = (places: number) => (isVisitor ? placesOfVisitors(places) : places)
      if (count >= placesOf(following_at_once)) throw placesUsedUp('following_at_once', taker)
      const total = isVisitor ? ofAllVisitors : ofAllKeys
      if (total.count >= placesOf(following_total)) throw placesUsedUp('following_total', taker)
      counts.set(taker, count + 1)
      total.count++
      let isEnded = false
      return () => {
        if (isEnded) return
        isEnded = true
        total.count--
        const left = (counts.get(taker) ?? 1) - 1
        if (left === 0) counts.delete(taker)
        else counts.set(taker, left)
      }
    },
  }

  function placesUsedUp(share: ShareName, taker: Taker): TooManyAtOnce {
    observe({ event: 'share_used_up', share, accountId: accountOf(taker) })
    return new TooManyAtOnce(retryAfterSeconds, share)
  }
}
