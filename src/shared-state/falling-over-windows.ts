import type { Clock } from '../clock.ts'
import type { Observe } from '../observe.ts'
import type { RateWindow, RateWindows } from './rate-windows.ts'

/**
 * Rate windows that go over to others while the first ones are away, and come back by themselves: neither open nor
 * closed meanwhile (RELIABILITY 2.4). An account may have up to twice its limit in the minute of the change, never more:
 * whoever has a window open at the second keeps it there to its end.
 */
export interface FallingOverWindows extends RateWindows {
  close(): void
}

export interface FallingOverParts {
  first: RateWindows
  second: RateWindows
  /** Throws while the first ones are away. */
  ping(): Promise<void>
  clock: Clock
  observe: Observe
}

/** A request waits no longer for the first windows. */
export const patienceMs = 50
const pingEveryMs = 500
const healthyForMs = 5_000

type How = 'take' | 'look'

export function createFallingOverWindows(parts: FallingOverParts): FallingOverWindows {
  const { first, second, ping, clock, observe } = parts
  let isOver = false
  /** Since when the first ones answer again; null while they do not. */
  let healthySinceMs: number | null = null
  /** Windows that were opened at the second may still be open until then. */
  let overUntilMs = 0
  let timer: NodeJS.Timeout | undefined

  return {
    take: (name, limit, windowMs) => ask('take', name, limit, windowMs),
    look: (name, limit, windowMs) => ask('look', name, limit, windowMs),
    close: () => clearTimeout(timer),
  }

  async function ask(how: How, name: string, limit: number, windowMs: number): Promise<RateWindow> {
    if (!isOver && (await mayAskFirst(name, limit, windowMs))) {
      const answer = await answeredInTime(async () => first[how](name, limit, windowMs))
      if (answer) return answer
      fallOver()
    }
    if (isOver) overUntilMs = clock.elapsedMs() + windowMs
    return second[how](name, limit, windowMs)
  }

  /** Not while this name has a window open at the second: an open one has counted at least one request. */
  async function mayAskFirst(name: string, limit: number, windowMs: number): Promise<boolean> {
    if (clock.elapsedMs() >= overUntilMs) return true
    const seen = await second.look(name, limit, windowMs)
    return seen.remaining === limit
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
    const isHealthy = (await answeredInTime(() => ping().then(() => true))) === true
    const nowMs = clock.elapsedMs()
    healthySinceMs = isHealthy ? (healthySinceMs ?? nowMs) : null
    if (healthySinceMs === null || nowMs - healthySinceMs < healthyForMs) return scheduleLook()
    isOver = false
    observe({ event: 'rate_windows_moved', to: 'redis' })
  }
}

/** Null when it fails or takes too long. */
function answeredInTime<T>(work: () => Promise<T>): Promise<T | null> {
  const { promise, resolve } = Promise.withResolvers<T | null>()
  let timer = setTimeout(late, patienceMs)
  const askedMs = performance.now()
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
    const wasBusy = performance.now() - askedMs > patienceMs * 1.5
    if (!wasBusy || isExtended) {
      // Whatever has arrived is read before this runs.
      setImmediate(() => resolve(null))
      return
    }
    isExtended = true
    timer = setTimeout(late, patienceMs)
  }
}
