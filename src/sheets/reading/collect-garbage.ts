import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { type Cancel, idleTimers, type Timers } from '../../timers.ts'

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

/** Longer than large files take that are read one after the other. */
const calmMs = 10_000
let postponed: Cancel = () => {}

/**
 * For a thread that answers others. While much comes and goes the runtime looks often enough by itself, in short steps; this look is
 * in one go, of up to a tenth of a second, and for the time after, when nothing would make it look for what was dropped last.
 */
export function collectGarbageWhenCalm(timers: Timers = idleTimers): void {
  postponed()
  postponed = timers.after(calmMs, collectGarbage)
}

type Collect = (how: { type: 'major'; execution: 'async' }) => Promise<void>

let collect: Collect | null = null

/** The flag makes it visible to contexts that are made afterwards, and to nobody else. */
function exposeCollector(): Collect {
  setFlagsFromString('--expose-gc')
  return runInNewContext('gc') as Collect
}
