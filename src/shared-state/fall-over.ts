import type { Clock } from '../clock.ts'
import type { Observe } from '../observe.ts'

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
}

/** Nobody waits longer for the first one. */
export const patienceMs = 50
const pingEveryMs = 500
const healthyForMs = 5_000

export function createFallOver({ ping, settled, clock, observe }: FallOverParts): FallOver {
  let isOver = false
  /** Since when the first one answers again; null while it does not. */
  let healthySinceMs: number | null = null
  let timer: NodeJS.Timeout | undefined

  return {
    isOver: () => isOver,
    async askFirst(work) {
      await settled?.()
      const answer = await answeredInTime(work, clock)
      if (answer === null) fallOver()
      return answer
    },
    close: () => clearTimeout(timer),
  }

  function fallOver(): void {
    if (isOver) return
    isOver = true
    healthySinceMs = null
    observe({ event: 'rate_windows_moved', to: 'store' })
    scheduleLook()
  }

  function scheduleLook(): void {
    timer = setTimeout(() => void lookAfterFirst(), pingEveryMs).unref()
  }

  async function lookAfterFirst(): Promise<void> {
    const isHealthy = (await answeredInTime(() => ping().then(() => true), clock)) === true
    const nowMs = clock.elapsedMs()
    healthySinceMs = isHealthy ? (healthySinceMs ?? nowMs) : null
    if (healthySinceMs === null || nowMs - healthySinceMs < healthyForMs) return scheduleLook()
    isOver = false
    observe({ event: 'rate_windows_moved', to: 'redis' })
  }
}

/** Null when it fails or takes too long. */
function answeredInTime<T>(work: () => Promise<T>, clock: Clock): Promise<T | null> {
  const { promise, resolve } = Promise.withResolvers<T | null>()
  let timer = setTimeout(late, patienceMs)
  const askedMs = clock.elapsedMs()
  let isExtended = false
  work().then(
    (value) => {
      clearTimeout(timer)
      resolve(value)
    },
    () => {
      clearTimeout(timer)
      resolve(null)
    },
  )
  return promise

  /** When this process was itself too busy to look, the answer may have been there all the time. */
  function late(): void {
    const wasBusy = clock.elapsedMs() - askedMs > patienceMs * 1.5
    if (!wasBusy || isExtended) {
      // Whatever has arrived is read before this runs.
      setImmediate(() => resolve(null))
      return
    }
    isExtended = true
    timer = setTimeout(late, patienceMs)
  }
}
