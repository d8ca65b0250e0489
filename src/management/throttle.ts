import type { RateWindows } from '../shared-state/rate-windows.ts'
import { Problem } from './problem.ts'

/**
 * Lets somebody try for a while, then less and less often: each step allows more tries than the one before, in a much
 * longer time. It never locks anybody out; whoever waits as told may try again.
 */
export interface Throttle {
  /** Counts one try; a problem when it has to wait. */
  attempt(names: readonly ThrottleName[]): Promise<Problem | null>
}

export interface ThrottleName {
  name: string
  steps: readonly ThrottleStep[]
}

export interface ThrottleStep {
  tries: number
  windowMs: number
}

const secondMs = 1_000
const minuteMs = 60 * secondMs
const hourMs = 60 * minuteMs

/** For one owner: whoever guesses gets some 1,500 tries a day. */
export const perOwner: readonly ThrottleStep[] = [
  { tries: 6, windowMs: 30 * secondMs },
  { tries: 20, windowMs: 10 * minuteMs },
  { tries: 60, windowMs: hourMs },
]
/** For one address, behind which a whole office may sit. */
export const perAddress: readonly ThrottleStep[] = [
  { tries: 20, windowMs: 30 * secondMs },
  { tries: 100, windowMs: 10 * minuteMs },
  { tries: 300, windowMs: hourMs },
]
export const signUpsPerAddress: readonly ThrottleStep[] = [
  { tries: 10, windowMs: 10 * minuteMs },
  { tries: 30, windowMs: 24 * hourMs },
]

export function createThrottle(windows: RateWindows): Throttle {
  return {
    async attempt(names) {
      const all = names.flatMap(({ name, steps }) =>
        steps.map(({ tries, windowMs }) => ({ name: `${name} ${windowMs}`, tries, windowMs })),
      )
      // Looked at first: a try that has to wait must not count in the longer windows, or it would prolong the wait.
      for (const how of ['look', 'take'] as const) {
        const seen = await Promise.all(
          all.map(({ name, tries, windowMs }) => windows[how](name, tries, windowMs)),
        )
        const waitsMs = seen
          .filter(({ isAdmitted }) => !isAdmitted)
          .map(({ resetAtMs, nowMs }) => resetAtMs - nowMs)
        if (waitsMs.length > 0) return tooOften(Math.max(...waitsMs))
      }
      return null
    },
  }
}

function tooOften(waitMs: number): Problem {
  const retryAfterSeconds = Math.max(1, Math.ceil(waitMs / secondMs))
  const wait =
    retryAfterSeconds < 90 ? `${retryAfterSeconds} seconds` : `${Math.ceil(retryAfterSeconds / 60)} minutes`
  return new Problem(`Too many attempts. Try again in ${wait}.`, { kind: 'too_often', retryAfterSeconds })
}
