/** Waiting is an argument, as time is: a test lets an hour pass in a moment. */
export interface Timers {
  /** Calls `work` once, after `delayMs`, unless it is cancelled before. */
  after(delayMs: number, work: () => void): Cancel
}

export type Cancel = () => void

/** These keep the process alive: an operator's command that pauses before it asks Google again must not end there. */
export const systemTimers: Timers = {
  after(delayMs, work) {
    const timer = setTimeout(work, delayMs)
    return () => clearTimeout(timer)
  },
}

/** Timers that do not keep a process alive. */
export const idleTimers: Timers = {
  after(delayMs, work) {
    const timer = setTimeout(work, delayMs).unref()
    return () => clearTimeout(timer)
  },
}

/** Resolves after `delayMs`, or at once when the signal says that nobody waits any more. */
export function pause(timers: Timers, delayMs: number, signal: AbortSignal): Promise<void> {
  if (signal.aborted) return Promise.resolve()
  const { promise, resolve } = Promise.withResolvers<void>()
  const cancel = timers.after(delayMs, resolve)
  signal.addEventListener('abort', () => resolve(), { once: true })
  return promise.finally(cancel)
}
