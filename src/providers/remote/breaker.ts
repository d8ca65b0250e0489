import type { Clock } from '../../clock.ts'
import type { Observe } from '../../reporting/observe.ts'
import { ProviderFailure } from '../../sheets/provider-failure.ts'

/** Stops asking where asking failed again and again, so that callers hear at once and Google gets some rest. */
export interface GoogleBreaker {
  /** Throws a passing `ProviderFailure` while it is open, but for one caller at a time who may try. */
  enter(credentialId: string): BreakerPass
}

export interface BreakerPass {
  /**
   * To be called once. 'failed' is a failure that passes by itself; a spreadsheet that is gone was answered for
   * 'well'. 'untold': Google was not asked after all.
   */
  leave(end: 'well' | 'failed' | 'untold'): void
}

export interface BreakerParts {
  clock: Clock
  observe: Observe
  random: () => number
}

const failuresToOpen = 5
const firstOpenMs = 1_000
/** Within five seconds after Google is well again, so are we. */
const maxOpenMs = 4_000

interface Trouble {
  failures: number
  openings: number
  /** null while it is closed. */
  openUntilMs: number | null
  isTrying: boolean
}

export function createGoogleBreaker({ clock, observe, random }: BreakerParts): GoogleBreaker {
  /** Only those in trouble: who is well needs no memory. */
  const troubles = new Map<string, Trouble>()

  return {
    enter(credentialId) {
      const trouble = troubles.get(credentialId)
      const isTry = trouble !== undefined && trouble.openUntilMs !== null
      if (isTry) {
        const leftMs = (trouble.openUntilMs ?? 0) - clock.elapsedMs()
        if (leftMs > 0 || trouble.isTrying) throw resting(leftMs)
        trouble.isTrying = true
      }
      return {
        leave(end) {
          if (isTry) trouble.isTrying = false
          if (end === 'well') troubles.delete(credentialId)
          if (end === 'failed') fail(credentialId, isTry)
        },
      }
    },
  }

  function fail(credentialId: string, wasTry: boolean): void {
    const trouble = troubles.get(credentialId) ?? {
      failures: 0,
      openings: 0,
      openUntilMs: null,
      isTrying: false,
    }
    troubles.set(credentialId, trouble)
    trouble.failures++
    // Those who entered before it opened say nothing new by failing now.
    const opens = wasTry || (trouble.openUntilMs === null && trouble.failures >= failuresToOpen)
    if (!opens) return
    const openMs = Math.min(maxOpenMs, firstOpenMs * 2 ** trouble.openings) * (0.75 + random() / 4)
    trouble.openings++
    trouble.openUntilMs = clock.elapsedMs() + openMs
    observe({ event: 'google_rested', credentialId, forMs: Math.round(openMs) })
  }
}

function resting(leftMs: number): ProviderFailure {
  return new ProviderFailure('Google is not available at the moment', {
    isPassing: true,
    retryAfterSeconds: Math.max(1, Math.ceil(leftMs / 1_000)),
    details: 'It failed several times in a row and will be asked again in a moment.',
  })
}
