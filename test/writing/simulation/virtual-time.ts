import type { Clock } from '../../../src/clock.ts'
import type { Timers } from '../../../src/timers.ts'

/** Time that passes only when nothing is left to do at the moment: hours in milliseconds, the same each time. */
export interface VirtualTime extends Clock, Timers {
  delay(delayMs: number): Promise<void>
  /** Lets everything happen that is due, until `isOver` or nothing is left. */
  run(isOver: () => boolean): Promise<void>
}

interface Due {
  atMs: number
  order: number
  work: (() => void) | null
}

export function createVirtualTime(startMs: number): VirtualTime {
  let nowMs = startMs
  let order = 0
  let due: Due[] = []

  const time: VirtualTime = {
    nowMs: () => nowMs,
    elapsedMs: () => nowMs,
    after(delayMs, work) {
      const entry: Due = { atMs: nowMs + delayMs, order: order++, work }
      due.push(entry)
      return () => {
        entry.work = null
      }
    },
    delay: (delayMs) => new Promise((resolve) => void time.after(delayMs, resolve)),
    async run(isOver) {
      for (;;) {
        // Everything here waits for promises alone, so all of it has happened by the next turn of the loop.
        await new Promise((resolve) => setImmediate(resolve))
        if (isOver()) return
        due = due.filter(({ work }) => work !== null)
        const next = due.reduce<Due | null>(
          (one, other) => (one && !isBefore(other, one) ? one : other),
          null,
        )
        if (!next) return
        nowMs = Math.max(nowMs, next.atMs)
        const { work } = next
        next.work = null
        work?.()
      }
    },
  }
  return time
}

function isBefore(one: Due, other: Due): boolean {
  return one.atMs === other.atMs ? one.order < other.order : one.atMs < other.atMs
}

/** Numbers in [0, 1) that are the same for the same seed (mulberry32). */
export function createRandom(seed: number): () => number {
  let state = seed
  return () => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296
  }
}
