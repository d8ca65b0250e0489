/** Time is an argument: whoever needs it is handed a clock, so that a test can move it instead of sleeping. */
export interface Clock {
  /** Unix time in milliseconds. */
  nowMs(): number
  /** For durations: never steps back when the machine's time is corrected, and finer than a millisecond. */
  elapsedMs(): number
}

export const systemClock: Clock = { nowMs: () => Date.now(), elapsedMs: () => performance.now() }

export interface MovableClock extends Clock {
  /** Time passes, by both clocks. */
  advanceMs(byMs: number): void
  /** Somebody sets the machine's time, ahead or back: no time passes. */
  stepMs(byMs: number): void
}

export function createMovableClock(startMs: number): MovableClock {
  let elapsedMs = startMs
  let steppedMs = 0
  return {
    nowMs: () => elapsedMs + steppedMs,
    elapsedMs: () => elapsedMs,
    advanceMs(byMs) {
      elapsedMs += byMs
    },
    stepMs(byMs) {
      steppedMs += byMs
    },
  }
}
