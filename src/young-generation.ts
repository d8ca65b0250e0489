import { performance } from 'node:perf_hooks'
import { getHeapSpaceStatistics, setFlagsFromString } from 'node:v8'
import type { Timers } from './timers.ts'

/**
 * How much room the process keeps for objects that will be garbage soon. V8 doubles it each time when enough of them have lived
 * for a while, up to some 60 MB, whether one request comes in a second or ten thousand. Ten thousand are served a tenth faster
 * for it, and one is not. So it grows while the thread that answers has much to do, and not beyond a calm size when it has
 * little (docs/decisions/017).
 */
const calmBytes = 12 * 2 ** 20
/** As a share of the time, at so many looks one after the other. */
const muchToDo = 0.5
const busyLooks = 4
const lookEveryMs = 250

export interface YoungGeneration {
  /** The part of the time since it was last asked for in which the thread was busy. */
  busyShare(): number
  bytes(): number
  setFlag(flag: string): void
}

/**
 * For the whole process: threads that start later begin with what they may have at most, because they could not grow. Answers with
 * how to end it.
 */
export function boundYoungGeneration(young: YoungGeneration, timers: Timers): () => void {
  young.setFlag('--min-semi-space-size=4')
  let mayGrow = true
  let busy = 0
  let cancel = timers.after(lookEveryMs, look)
  return () => {
    cancel()
    allowGrowth(true)
  }

  function look(): void {
    busy = young.busyShare() > muchToDo ? busy + 1 : 0
    allowGrowth(busy >= busyLooks || young.bytes() < calmBytes)
    cancel = timers.after(lookEveryMs, look)
  }

  function allowGrowth(isAllowed: boolean): void {
    if (isAllowed === mayGrow) return
    mayGrow = isAllowed
    // V8 reads it each time when the space is about to grow.
    young.setFlag(`--semi-space-growth-factor=${isAllowed ? 2 : 1}`)
  }
}

export function ownYoungGeneration(): YoungGeneration {
  let before = performance.eventLoopUtilization()
  return {
    busyShare() {
      const now = performance.eventLoopUtilization()
      const { utilization } = performance.eventLoopUtilization(now, before)
      before = now
      return utilization
    },
    bytes: () =>
      getHeapSpaceStatistics().find(({ space_name }) => space_name === 'new_space')?.space_size ?? 0,
    setFlag: setFlagsFromString,
  }
}
