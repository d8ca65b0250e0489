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

/** The runtime's own looks are in short steps, and come with what is read in the place of what was dropped; this one is in one go. */
const leastPauseMs = 5_000
let isPausing = false
let isWanted = false

/** For a thread that answers others: not more often than that they hardly notice. */
export function collectGarbageNowAndThen(): void {
  isWanted = true
  if (isPausing) return
  isWanted = false
  isPausing = true
  collectGarbage()
  setTimeout(() => {
    isPausing = false
    if (isWanted) collectGarbageNowAndThen()
  }, leastPauseMs).unref()
}

type Collect = (how: { type: 'major'; execution: 'async' }) => Promise<void>

let collect: Collect | null = null

/** The flag makes it visible to contexts that are made afterwards, and to nobody else. */
function exposeCollector(): Collect {
  setFlagsFromString('--expose-gc')
  return runInNewContext('gc') as Collect
}
