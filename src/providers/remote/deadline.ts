import type { Clock } from '../../clock.ts'
import type { Timers } from '../../timers.ts'

/** Until when somebody waits: handed down to everything that is done for them. */
export interface Deadline {
  signal: AbortSignal
  leftMs(): number
  /** To be called when the work is done, whatever came of it. */
  end(): void
}

export function createDeadline(clock: Clock, timers: Timers, allowedMs: number): Deadline {
  const atMs = clock.elapsedMs() + allowedMs
  const controller = new AbortController()
  const cancel = timers.after(allowedMs, () => controller.abort())
  return { signal: controller.signal, leftMs: () => Math.max(0, atMs - clock.elapsedMs()), end: cancel }
}

/** What many wait for, each as long as it may: giving up on it does not end it for the others. */
export function within<T>(deadline: Deadline, shared: Promise<T>, tooLate: () => Error): Promise<T> {
  const { promise, resolve, reject } = Promise.withResolvers<T>()
  const giveUp = () => reject(tooLate())
  if (deadline.signal.aborted) giveUp()
  deadline.signal.addEventListener('abort', giveUp, { once: true })
  shared.then(resolve, reject)
  return promise.finally(() => deadline.signal.removeEventListener('abort', giveUp))
}
