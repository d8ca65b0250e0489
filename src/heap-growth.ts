import { getHeapSpaceStatistics, setFlagsFromString } from 'node:v8'
import { systemClock } from './clock.ts'
import type { Timers } from './timers.ts'

/**
 * How much room the process keeps for objects that will be garbage soon. V8 doubles it each time when enough of them have lived
 * for a while, up to some 60 MB, whether one request comes in a second or ten thousand. Ten thousand are served a tenth faster
 * for it, and one is not. So it grows while the thread that answers has much to do, and not beyond a calm size when it has
 * little (docs/decisions/017).
 */
const calmBytes = 6 * 2 ** 20
/**
 * By how much more than is alive may be there, garbage among it, before V8 looks through all objects. By itself it allows several times
 * as much where few objects come: 50 MB of dropped rows waited beside 10 MB of living objects, minutes long.
 */
const calmGrowthPercent = 30
/** V8 decides by itself. */
const ownGrowthPercent = 0
/** As a share of the time, at so many looks one after the other. */
const muchToDo = 0.5
const busyLooks = 4
const lookEveryMs = 250

/** The heap of the thread that asks; the flags hold for all threads. */
export interface Heap {
  /** The part of the time since it was last asked for in which the thread had a processor. */
  busyShare(): number
  youngBytes(): number
  setFlag(flag: string): void
}

/**
 * For the whole process: threads that start later begin with what they may have at most for new objects, because that could not grow.
 * Answers with how to end it.
 */
export function boundHeapGrowth(heap: Heap, timers: Timers): () => void {
  heap.setFlag('--min-semi-space-size=4')
  // Otherwise all objects are looked through for every few buffers that come with a large sheet, four times a load (docs/decisions/048).
  heap.setFlag('--external-memory-accounted-in-global-limit')
  // V8 reads both each time when the room is about to grow.
  const setYoungFactor = setWhenChanged('--semi-space-growth-factor', 2)
  const setPercent = setWhenChanged('--heap-growing-percent', ownGrowthPercent)
  let busy = 0
  let cancel = timers.after(lookEveryMs, look)
  return () => {
    cancel()
    setYoungFactor(2)
    setPercent(ownGrowthPercent)
  }

  function look(): void {
    busy = heap.busyShare() > muchToDo ? busy + 1 : 0
    const isBusy = busy >= busyLooks
    setYoungFactor(isBusy || heap.youngBytes() < calmBytes ? 2 : 1)
    setPercent(isBusy ? ownGrowthPercent : calmGrowthPercent)
    cancel = timers.after(lookEveryMs, look)
  }

  function setWhenChanged(name: string, atFirst: number): (value: number) => void {
    let set = atFirst
    return (value) => {
      if (value === set) return
      set = value
      heap.setFlag(`${name}=${value}`)
    }
  }
}

export function ownHeap(): Heap {
  let before = { atMs: systemClock.elapsedMs(), used: process.threadCpuUsage() }
  return {
    // How much the loop had to do would not do: where others keep the processors busy, it is at work all the time with very little.
    busyShare() {
      const now = { atMs: systemClock.elapsedMs(), used: process.threadCpuUsage() }
      const usedMicroseconds = now.used.user + now.used.system - before.used.user - before.used.system
      const share = usedMicroseconds / 1_000 / (now.atMs - before.atMs)
      before = now
      return share
    },
    youngBytes: () =>
      getHeapSpaceStatistics().find(({ space_name }) => space_name === 'new_space')?.space_size ?? 0,
    setFlag: setFlagsFromString,
  }
}
