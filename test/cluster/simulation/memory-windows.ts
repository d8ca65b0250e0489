import type { Clock } from '../../../src/clock.ts'
import type {
  FleetingWindows,
  StandInWindows,
} from '../../../src/shared-state/rate-windows/fleeting-windows.ts'
import type { RateWindow } from '../../../src/shared-state/rate-windows/rate-windows.ts'

interface Window {
  count: number
  endsAtMs: number
  underMs: number
}

/** As Redis keeps them, for a simulation: with lives, and copies from which it may start. */
export interface MemoryFleetingWindows extends FleetingWindows {
  die(): void
  startEmpty(): void
  copy(): void
  startFromCopy(): void
}

export function createMemoryFleetingWindows(clock: Pick<Clock, 'nowMs'>): MemoryFleetingWindows {
  let windows = new Map<string, Window>()
  let copied = new Map<string, Window>()
  let lives = 1
  let isUp = true

  return {
    life: () => (isUp ? `life ${lives}` : null),
    async takeFromWindow(name, limit, windowMs, { underMs, may }) {
      const nowMs = clock.nowMs()
      const known = windows.get(name)
      let open = openOf(known, nowMs, underMs)
      if (!open) {
        const last = known && known.endsAtMs + windowMs > nowMs ? known : { count: 0, endsAtMs: 0 }
        const isLater = known !== undefined && known.endsAtMs > nowMs && known.underMs > underMs
        const isAllowed =
          typeof may === 'string'
            ? may === 'alone' && last.count === 0
            : may.afterOneThatEndedAtMs === last.endsAtMs
        if (isLater || !isAllowed) return { isOpen: false, countBefore: last.count, endedAtMs: last.endsAtMs }
        open = { count: 0, endsAtMs: nowMs + windowMs, underMs }
      }
      const isAdmitted = open.count < limit
      if (isAdmitted) {
        open.count++
        windows.set(name, open)
      }
      return windowOf(open, limit, isAdmitted, nowMs)
    },
    async readWindow(name, limit, windowMs, underMs) {
      const nowMs = clock.nowMs()
      const open = openOf(windows.get(name), nowMs, underMs) ?? { count: 0, endsAtMs: nowMs + windowMs }
      return windowOf(open, limit, open.count < limit, nowMs)
    },
    die() {
      isUp = false
    },
    startEmpty() {
      windows = new Map()
      lives++
      isUp = true
    },
    copy() {
      copied = structuredClone(windows)
    },
    startFromCopy() {
      windows = structuredClone(copied)
      lives++
      isUp = true
    },
  }
}

/** As the store keeps them. */
export function createMemoryStandInWindows(clock: Pick<Clock, 'nowMs'>): StandInWindows {
  const windows = new Map<string, Omit<Window, 'underMs'>>()
  const openOne = (name: string, nowMs: number) => {
    const known = windows.get(name)
    return known && known.endsAtMs > nowMs ? known : null
  }
  const counted = (open: Omit<Window, 'underMs'>, limit: number, nowMs: number): RateWindow => {
    const isAdmitted = open.count < limit
    if (isAdmitted) open.count++
    return windowOf(open, limit, isAdmitted, nowMs)
  }

  return {
    async takeFromWindow(name, limit, windowMs, opensBeforeMs) {
      const nowMs = clock.nowMs()
      if (nowMs >= opensBeforeMs) return null
      const open = openOne(name, nowMs) ?? { count: 0, endsAtMs: nowMs + windowMs }
      windows.set(name, open)
      return counted(open, limit, nowMs)
    },
    async takeFromOpen(name, limit) {
      const nowMs = clock.nowMs()
      const open = openOne(name, nowMs)
      return open && counted(open, limit, nowMs)
    },
    async readWindow(name, limit, windowMs) {
      const nowMs = clock.nowMs()
      const open = openOne(name, nowMs) ?? { count: 0, endsAtMs: nowMs + windowMs }
      return windowOf(open, limit, open.count < limit, nowMs)
    },
    async countOfLast(name, withinMs) {
      const nowMs = clock.nowMs()
      const known = windows.get(name)
      return known && known.endsAtMs <= nowMs && known.endsAtMs > nowMs - withinMs ? known.count : 0
    },
  }
}

function openOf(known: Window | undefined, nowMs: number, underMs: number): Window | null {
  return known && known.endsAtMs > nowMs && known.underMs === underMs ? known : null
}

function windowOf(
  { count, endsAtMs }: Omit<Window, 'underMs'>,
  limit: number,
  isAdmitted: boolean,
  nowMs: number,
): RateWindow {
  return { isAdmitted, remaining: Math.max(0, limit - count), resetAtMs: endsAtMs, nowMs }
}
