import { readFileSync } from 'node:fs'

/** Time is an argument: whoever needs it is handed a clock, so that a test can move it instead of sleeping. */
export interface Clock {
  /** Unix time in milliseconds. */
  nowMs(): number
  /** For durations: never steps when the machine's time is set, and finer than a millisecond. */
  elapsedMs(): number
  /**
   * Names the moment that `elapsedMs` counts from, where other processes of this machine count from it too; unknown,
   * theirs say nothing here.
   */
  elapsedFrom?: string
}

/** Time from the start of the machine to that of this process: added to what Node counts, it makes all processes count alike. */
const startedAfterMs = Number(process.hrtime.bigint()) / 1e6 - performance.now()

export const systemClock: Clock = {
  nowMs: () => Date.now(),
  elapsedMs: () => startedAfterMs + performance.now(),
  ...bootOfThisMachine(),
}

/** Other systems than Linux do not tell. */
function bootOfThisMachine(): Pick<Clock, 'elapsedFrom'> {
  try {
    return { elapsedFrom: readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim() }
  } catch {
    return {}
  }
}

export interface MovableClock extends Clock {
  /** Time passes, by both clocks. */
  advanceMs(byMs: number): void
  /** Somebody sets the machine's time, ahead or back: no time passes. */
  stepMs(byMs: number): void
}

/** Stands still until it is moved, or goes on by itself with what `passedMs` says. */
export function createMovableClock(startMs: number, passedMs = () => 0): MovableClock {
  let movedToMs = startMs
  let steppedMs = 0
  const elapsedMs = () => movedToMs + passedMs()
  return {
    nowMs: () => Math.floor(elapsedMs() + steppedMs),
    elapsedMs,
    elapsedFrom: 'the start of the test',
    advanceMs(byMs) {
      movedToMs += byMs
    },
    stepMs(byMs) {
      steppedMs += byMs
    },
  }
}
