/** Waiting is an argument, as time is: a test lets years pass in a moment. */
export interface Timers {
  /** Calls `work` once, after `delayMs`, unless it is cancelled before. */
  after(delayMs: number, work: () => void): Cancel
}

export type Cancel = () => void

/** None of them keeps the process alive. */
export const systemTimers: Timers = {
  after(delayMs, work) {
    const timer = setTimeout(work, delayMs).unref()
    return () => clearTimeout(timer)
  },
}
