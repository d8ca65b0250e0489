import type { Clock } from '../../clock.ts'
import { ProviderFailure } from '../../sheets/provider-failure.ts'

/** Stops asking where asking failed again and again, so that callers hear at once and the provider gets some rest. */
export interface Breaker {
  /** `caller`: as `callerOf` names it. Throws a passing `ProviderFailure` while it is open, but for one caller at a time who may try. */
  enter(caller: string): BreakerPass
}

export interface BreakerPass {
  /**
   * To be called once. 'failed' is a failure that passes by itself; a spreadsheet that is gone was answered for
   * 'well'. 'untold': the provider was not asked after all.
   */
  recordOutcome(end: 'well' | 'failed' | 'untold'): void
}

export interface BreakerParts {
  /** What people call the provider. */
  name: string
  clock: Clock
  /** Called when it opens, for the report. */
  onRest(caller: string, forMs: number): void
  random: () => number
}

const failuresToOpen = 5
const firstOpenMs = 1_000
/** Within five seconds after the provider is well again, so are we. */
const maxOpenMs = 4_000

interface Trouble {
  failures: number
  openings: number
  /** null while it is closed. */
  openUntilMs: number | null
  isTrying: boolean
}

export function createBreaker({ name, clock, onRest, random }: BreakerParts): Breaker {
  /** Only those in trouble: who is well needs no memory. */
  const troubles = new Map<string, Trouble>()

  return {
    enter(caller) {
      const trouble = troubles.get(caller)
      const isTry = trouble !== undefined && trouble.openUntilMs !== null
      if (isTry) {
        const leftMs = (trouble.openUntilMs ?? 0) - clock.elapsedMs()
        if (leftMs > 0 || trouble.isTrying) throw resting(name, leftMs)
        trouble.isTrying = true
      }
      return {
        recordOutcome(end) {
          if (isTry) trouble.isTrying = false
          if (end === 'well') troubles.delete(caller)
          if (end === 'failed') fail(caller, isTry)
        },
      }
    },
  }

  function fail(caller: string, wasTry: boolean): void {
    const trouble = troubles.get(caller) ?? {
      failures: 0,
      openings: 0,
      openUntilMs: null,
      isTrying: false,
    }
    troubles.set(caller, trouble)
    trouble.failures++
    // Those who entered before it opened say nothing new by failing now.
    const opens = wasTry || (trouble.openUntilMs === null && trouble.failures >= failuresToOpen)
    if (!opens) return
    const openMs = Math.min(maxOpenMs, firstOpenMs * 2 ** trouble.openings) * (0.75 + random() / 4)
    trouble.openings++
    trouble.openUntilMs = clock.elapsedMs() + openMs
    onRest(caller, Math.round(openMs))
  }
}

function resting(name: string, leftMs: number): ProviderFailure {
  return new ProviderFailure(`${name} is not available at the moment`, {
    isPassing: true,
    retryAfterSeconds: Math.max(1, Math.ceil(leftMs / 1_000)),
    details: 'It failed several times in a row and will be asked again in a moment.',
  })
}
