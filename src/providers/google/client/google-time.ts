import type { Clock } from '../../../clock.ts'
import { createFarClock } from '../../../shared-state/registers/far-clock.ts'

/**
 * Google's own clock, from the `Date` of its answers: one for all servers that write to a spreadsheet, also for those that
 * share nothing else, and the one by which Google is late.
 */
export interface GoogleTime {
  /** `askedAtMs`: when the question left, by our own clock. */
  hear(date: string | undefined, askedAtMs: number): void
  /** Not ahead of it, and behind it by no more than the quickest answer took, and a second. Null until it was heard. */
  nowMs(): number | null
}

const dateStepMs = 1_000

export function createGoogleTime(clock: Clock): GoogleTime {
  const far = createFarClock(clock, dateStepMs)
  let isKnown = false
  return {
    hear(date, askedAtMs) {
      const toldMs = Date.parse(date ?? '')
      if (Number.isNaN(toldMs)) return
      isKnown = true
      far.hear(toldMs, askedAtMs)
    },
    nowMs: () => (isKnown ? far.nowMs() : null),
  }
}
