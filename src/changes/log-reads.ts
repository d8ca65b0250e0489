import type { Clock } from '../clock.ts'
import type { Observe } from '../reporting/observe.ts'
import type { Shares } from '../shares/shares.ts'
import { createTurnstile, type Turnstile } from '../shares/turnstile.ts'

/**
 * Six of the ten connections to PostgreSQL that are not for look-ups are the journal's (docs/decisions/055). Whoever finds none free
 * is refused after two seconds, so thousands who ask for changes in the same moment must not ask the store all at once.
 */
const logReadPlaces = 3
const logReadPlacesOfAccount = 2

/** Turns at reading logs, which go round the accounts. */
export function createLogReads({ shares, clock, observe }: LogReadsParts): Pick<Turnstile, 'pass'> {
  return createTurnstile({
    share: 'following_at_once',
    ...{ places: logReadPlaces, placesOfAccount: logReadPlacesOfAccount },
    waitingOfAccount: shares.following_at_once,
    ...{ clock, observe },
  })
}

interface LogReadsParts {
  shares: Pick<Shares, 'following_at_once'>
  clock: Pick<Clock, 'elapsedMs'>
  observe: Observe
}
