import type { Clock } from '../clock.ts'
import type { Observe } from '../reporting/observe.ts'

/** Whether Redis is asked or the store in its place: one verdict for all that is kept there. */
export interface FallOver {
  /** The first one is away, or was so lately. */
  isOver(): boolean
  /** Null when the first one fails or takes too long; from then on it is left alone until it is well. */
  askFirst<T>(work: () => Promise<T>): Promise<T | null>
  close(): void
}

export interface FallOverParts {
  /** Throws while the first one is away. */
  ping(): Promise<void>
  /** Resolves when the first one has had its time to be reached. */
  settled?(): Promise<void>
  clock: Clock
  observe: Observe
  /** Calls `work` after so long, unless what it returns is called before. For tests; else by the system's timers. */
  after?: After
}

type After = (delayMs: number, work: () => void) => () => void

/**
 * Nobody waits longer for the first one, which is then out of reach or stands still; one that is gone refuses at once. Long
 * enough for one that only waits for its turn on a busy machine.
 */
export const patienceMs = 500
/** It is told in steps: a step that ended late was spent waiting for our own turn, and does not count. */
const stepMs = 25
const lateMs = stepMs * 1.5
export const longestPatienceMs = 2_000
const pingEveryMs = 500
const healthyForMs = 5_000

export function createFallOver(parts: FallOverParts): FallOver {
  const { ping, settled, clock, observe, after = unheldTimer } = parts
  let isOver = false
  /** Since when the first one answers again; null while it does not. */
  let healthySinceMs: number | null = null
  let cancelLook = () => {}
  let isSettled = settled === undefined

  return {
    isOver: () => isOver,
    async askFirst(work) {
      if (!isSettled) await settled?.()
      isSettled = true
      const answer = await answerInTime(work, clock, after)
      if (answer === null) fallOver()
      return answer
    },
    close: () => cancelLook(),
  }

  function fallOver(): void {
    if (isOver) return
    isOver = true
    healthySinceMs = null
    observe({ event: 'rate_windows_moved', to: 'store' })
    scheduleLook()
  }

  function scheduleLook(): void {
    cancelLook = after(pingEveryMs, () => void lookAfterFirst())
  }

  async function lookAfterFirst(): Promise<void> {
    const isHealthy = (await answerInTime(() => ping().then(() => true), clock, after)) === true
    const nowMs = clock.elapsedMs()
    healthySinceMs = isHealthy ? (healthySinceMs ?? nowMs) : null
    if (healthySinceMs === null || nowMs - healthySinceMs < healthyForMs) return scheduleLook()
    isOver = false
    observe({ event: 'rate_windows_moved', to: 'redis' })
  }
}

/** Null when it fails or takes too long. */
function answerInTime<T>(work: () => Promise<T>, clock: Clock, after: After): Promise<T | null> {
  const { promise, resolve } = Promise.withResolvers<T | null>()
  const askedAtMs = clock.elapsedMs()
  let stepAtMs = askedAtMs
  let waitedMs = 0
  let cancel = after(stepMs, step)
  work().then(
    (value) => {
      cancel()
      resolve(value)
    },
    () => {
      cancel()
      resolve(null)
    },
  )
  return promise

  function step(): void {
    const nowMs = clock.elapsedMs()
    if (nowMs - stepAtMs <= lateMs) waitedMs += stepMs
    if (waitedMs >= patienceMs || nowMs - askedAtMs >= longestPatienceMs) {
      // Whatever has arrived is read before this runs.
      setImmediate(() => resolve(null))
      return
    }
    stepAtMs = nowMs
    cancel = after(stepMs, step)
  }
}

/** Does not keep a process alive that has nothing else to do. */
function unheldTimer(delayMs: number, work: () => void): () => void {
  const timer = setTimeout(work, delayMs).unref()
  return () => clearTimeout(timer)
}
