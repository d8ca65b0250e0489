import type { Clock } from '../../clock.ts'

/** Another machine's clock, known from what it said when it was asked. */
export interface FarClock {
  /** `askedAtMs`: when the question left, by our own clock. */
  hear(nowMs: number, askedAtMs: number): void
  /** Not ahead of it, and behind it by no more than the quickest answer took. */
  nowMs(): number
}

/** `stepMs`: it speaks in whole steps of so many milliseconds. */
export function createFarClock(clock: Clock, stepMs = 1): FarClock {
  // Each answer was given between its question and its arrival: what it is ahead of us lies between these two.
  let leastMs = Number.NEGATIVE_INFINITY
  let mostMs = Number.POSITIVE_INFINITY
  return {
    hear(nowMs, askedAtMs) {
      const least = nowMs - clock.elapsedMs()
      const most = nowMs + stepMs - askedAtMs
      // Both do not hold of one clock: it was set, or it is another one now.
      const isAnother = least > mostMs || most < leastMs
      leastMs = isAnother ? least : Math.max(leastMs, least)
      mostMs = isAnother ? most : Math.min(mostMs, most)
    },
    nowMs: () => clock.elapsedMs() + (Number.isFinite(leastMs) ? leastMs : 0),
  }
}
