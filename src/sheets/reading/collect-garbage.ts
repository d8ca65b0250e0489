import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'

/**
 * Gives back the memory of what nobody holds any more, where that is known to be much. The runtime decides when to look by
 * how much is there, and not by how much of it is garbage: beside 500 MB of rows it lets as much again of dropped ones wait. On
 * the thread that calls, it takes some milliseconds for each ten megabytes of objects; buffers cost nothing.
 */
export function collectGarbage(): void {
  collect ??= exposeCollector()
  // In a task of its own: what whoever calls still has on the stack may be what is to go.
  void collect({ type: 'major', execution: 'async' })
}

/** The runtime's own looks are in short steps; this one is in one go, and may take so much of the time of a thread that answers others. */
const mostShareOfTime = 1 / 40
const leastPauseMs = 1_000
const mostPauseMs = 5_000
let isPausing = false
let isWanted = false

/** For a thread that answers others: not more often than that they hardly notice. */
export function collectGarbageNowAndThen(): void {
  isWanted = true
  if (isPausing) return
  isWanted = false
  isPausing = true
  collect ??= exposeCollector()
  const gc = collect
  // When whoever calls has left the stack: what they hold may be what is to go.
  setImmediate(() => {
    const beganMs = performance.now()
    void gc({ type: 'major', execution: 'sync' })
    const pauseMs = (performance.now() - beganMs) / mostShareOfTime
    setTimeout(
      () => {
        isPausing = false
        if (isWanted) collectGarbageNowAndThen()
      },
      Math.min(mostPauseMs, Math.max(leastPauseMs, pauseMs)),
    ).unref()
  })
}

type Collect = (how: { type: 'major'; execution: 'async' | 'sync' }) => Promise<void> | undefined

let collect: Collect | null = null

/** The flag makes it visible to contexts that are made afterwards, and to nobody else. */
function exposeCollector(): Collect {
  setFlagsFromString('--expose-gc')
  return runInNewContext('gc') as Collect
}
