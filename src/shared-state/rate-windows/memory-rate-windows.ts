import type { Clock } from '../../clock.ts'
import type { RateWindow, RateWindows } from './rate-windows.ts'

interface OpenWindow {
  count: number
  /** By the clock that never steps. */
  endsAtMs: number
  /** The end as a time of day, for clients. */
  toldEndMs: number
}

/** How many windows may lie around after their end before they are cleared away. */
const sweepAtWindows = 10_000
/** The two clocks are not read at the same instant; beyond this, the time of day was set anew. */
const setAnewMs = 500

/**
 * Rate windows of one process. Setting the machine's time moves what is told of their end, and not the end. `mostWindows`
 * is for names that strangers can make up, such as the networks they come from: beyond it the oldest window is forgotten.
 */
export function createMemoryRateWindows(clock: Clock, mostWindows = Number.POSITIVE_INFINITY): RateWindows {
  const windows = new Map<string, OpenWindow>()
  /** Kept for a while, because one that begins anew passes all places that were left empty since the map last grew. */
  let oldestFirst: Iterator<string> | null = null
  let begunSinceAnew = 0
  let sweepAt = sweepAtWindows

  return {
    takeFromWindow(name, limit, windowMs) {
      const elapsedMs = clock.elapsedMs()
      const open = current(name, elapsedMs) ?? keepWindow(name, fresh(elapsedMs, windowMs))
      const isAdmitted = open.count < limit
      if (isAdmitted) open.count++
      return answer(open, limit, isAdmitted, elapsedMs)
    },
    readWindow(name, limit, windowMs) {
      const known = windows.get(name)
      const elapsedMs = known ? clock.elapsedMs() : 0
      if (known && elapsedMs < known.endsAtMs) return answer(known, limit, known.count < limit, elapsedMs)
      const nowMs = clock.nowMs()
      return { isAdmitted: limit > 0, remaining: limit, resetAtMs: nowMs + windowMs, nowMs }
    },
  }

  function current(name: string, elapsedMs: number): OpenWindow | null {
    const known = windows.get(name)
    return known && elapsedMs < known.endsAtMs ? known : null
  }

  function fresh(elapsedMs: number, windowMs: number): OpenWindow {
    return { count: 0, endsAtMs: elapsedMs + windowMs, toldEndMs: clock.nowMs() + windowMs }
  }

  function keepWindow(name: string, window: OpenWindow): OpenWindow {
    if (windows.size >= sweepAt) sweep()
    // Not for ever: an iterator that stands still holds each table that the map has moved to since, long after the map has left it.
    if (++begunSinceAnew > windows.size) {
      begunSinceAnew = 0
      oldestFirst = null
    }
    // One that is over goes, so that the map is in the order in which its windows were opened.
    windows.delete(name)
    if (windows.size >= mostWindows) forgetOldest()
    windows.set(name, window)
    return window
  }

  function forgetOldest(): void {
    oldestFirst ??= windows.keys()
    let oldest = oldestFirst.next()
    if (oldest.done) {
      oldestFirst = windows.keys()
      oldest = oldestFirst.next()
    }
    if (!oldest.done) windows.delete(oldest.value)
  }

  /** The next sweep waits until as many again have come, so that its cost stays a small part of theirs. */
  function sweep(): void {
    const elapsedMs = clock.elapsedMs()
    for (const [name, { endsAtMs }] of windows) if (endsAtMs <= elapsedMs) windows.delete(name)
    sweepAt = Math.max(sweepAtWindows, windows.size * 2)
  }

  function answer(open: OpenWindow, limit: number, isAdmitted: boolean, elapsedMs: number): RateWindow {
    const leftMs = open.endsAtMs - elapsedMs
    const endMs = clock.nowMs() + leftMs
    // One window has one end: it does not flicker with how the two clocks are rounded.
    if (Math.abs(endMs - open.toldEndMs) > setAnewMs) open.toldEndMs = endMs
    const { count, toldEndMs } = open
    return {
      isAdmitted,
      remaining: Math.max(0, limit - count),
      resetAtMs: toldEndMs,
      nowMs: toldEndMs - leftMs,
    }
  }
}
