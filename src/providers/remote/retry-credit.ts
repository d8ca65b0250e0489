import type { Clock } from '../../clock.ts'

/** Retries help against a single mishap and make an outage worse: they may be a tenth of the calls, and a few more. */
export interface RetryCredit {
  /** `caller`: as `callerOf` names it. */
  noteCall(caller: string): void
  /** False when this retry would be one too many. */
  spend(caller: string): boolean
}

const perCall = 0.1
/** Retries that are free in a minute, for owners who call seldom. */
const freePerMinute = 6
const maxCredit = 6
const maxRemembered = 10_000

export function createRetryCredit(clock: Clock): RetryCredit {
  const credits = new Map<string, { left: number; atMs: number }>()

  return {
    noteCall(caller) {
      const credit = creditOf(caller)
      credit.left = Math.min(maxCredit, credit.left + perCall)
    },
    spend(caller) {
      const credit = creditOf(caller)
      if (credit.left < 1) return false
      credit.left--
      return true
    },
  }

  function creditOf(caller: string) {
    const nowMs = clock.elapsedMs()
    const known = credits.get(caller) ?? { left: maxCredit, atMs: nowMs }
    known.left = Math.min(maxCredit, known.left + ((nowMs - known.atMs) / 60_000) * freePerMinute)
    known.atMs = nowMs
    credits.delete(caller)
    credits.set(caller, known)
    const [longestUnused] = credits.keys()
    if (credits.size > maxRemembered && longestUnused !== undefined) credits.delete(longestUnused)
    return known
  }
}
