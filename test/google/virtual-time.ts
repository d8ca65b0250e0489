import { setImmediate as turn } from 'node:timers/promises'
import { createMovableClock, type MovableClock } from '../../src/clock.ts'
import type { Timers } from '../../src/timers.ts'

/** A clock and timers that move together, as fast as the test likes. */
export interface VirtualTime {
  clock: MovableClock
  timers: Timers
  /** Lets so much time pass: every timer fires at its own moment, and what it sets off is done before the next. */
  pass(ms: number): Promise<void>
}

export function createVirtualTime(startMs = Date.UTC(2026, 10, 15)): VirtualTime {
  const clock = createMovableClock(startMs)
  const waiting = new Set<{ atMs: number; number: number; work(): void }>()
  let numbers = 0

  return {
    clock,
    timers: {
      after(delayMs, work) {
        const timer = { atMs: clock.elapsedMs() + delayMs, number: numbers++, work }
        waiting.add(timer)
        return () => waiting.delete(timer)
      },
    },
    async pass(ms) {
      const endMs = clock.elapsedMs() + ms
      for (;;) {
        await turn()
        const [next] = [...waiting].sort((one, other) => one.atMs - other.atMs || one.number - other.number)
        if (!next || next.atMs > endMs) break
        waiting.delete(next)
        clock.advanceMs(Math.max(0, next.atMs - clock.elapsedMs()))
        next.work()
      }
      clock.advanceMs(endMs - clock.elapsedMs())
      await turn()
    },
  }
}
