import type { Clock } from '../clock.ts'
import type { RateWindow, RateWindows } from './rate-windows.ts'

interface OpenWindow {
  count: number
  endsAtMs: number
}

/** So many windows may lie around after their end before they are cleared away. */
const sweepAtWindows = 10_000

/** Rate windows of one process. */
export function createMemoryRateWindows(clock: Clock): RateWindows {
  const windows = new Map<string, OpenWindow>()
  let sweepAt = sweepAtWindows

  return {
    take(name, limit, windowMs) {
      const nowMs = clock.nowMs()
      const open = current(name, nowMs) ?? opened(name, nowMs + windowMs)
      const isAdmitted = open.count < limit
      if (isAdmitted) open.count++
      return answer(open, limit, isAdmitted, nowMs)
    },
    look(name, limit, windowMs) {
      const nowMs = clock.nowMs()
      const open = current(name, nowMs) ?? { count: 0, endsAtMs: nowMs + windowMs }
      return answer(open, limit, open.count < limit, nowMs)
    },
  }

  function current(name: string, nowMs: number): OpenWindow | null {
    const known = windows.get(name)
    return known && nowMs < known.endsAtMs ? known : null
  }

  function opened(name: string, endsAtMs: number): OpenWindow {
    if (windows.size >= sweepAt) sweep()
    const fresh = { count: 0, endsAtMs }
    windows.set(name, fresh)
    return fresh
  }

  /** The next sweep waits until as many again have come, so that its cost stays a small part of theirs. */
  function sweep(): void {
    const nowMs = clock.nowMs()
    for (const [name, { endsAtMs }] of windows) if (endsAtMs <= nowMs) windows.delete(name)
    sweepAt = Math.max(sweepAtWindows, windows.size * 2)
  }
}

function answer(
  { count, endsAtMs }: OpenWindow,
  limit: number,
  isAdmitted: boolean,
  nowMs: number,
): RateWindow {
  return { isAdmitted, remaining: Math.max(0, limit - count), resetAtMs: endsAtMs, nowMs }
}
