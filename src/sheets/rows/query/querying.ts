import type { Clock } from '../../../clock.ts'
import type { Observe } from '../../../reporting/observe.ts'
import type { LoopTurns } from '../../../shares/loop-turns.ts'
import type { Shares } from '../../../shares/shares.ts'
import type { Taker } from '../../../shares/taker.ts'
import { type Asker, createTurnstile } from '../../../shares/turnstile.ts'
import type { Soon } from '../../../soon.ts'
import type { IndexedSnapshot } from '../snapshot.ts'
import type { Query } from './query.ts'
import { inSlices, type QueryResult, runQuerySteps } from './run-query.ts'

/**
 * Runs queries on the thread that answers everybody, in slices, with turns for the accounts. Of one account few are under
 * way at once, and of all together no more than fit into their memory: each of them holds numbers for every row.
 */
export interface Querying {
  /** At once where it takes a moment. Throws `TooManyAtOnce`. */
  run(taker: Taker, snapshot: IndexedSnapshot, query: Query, watch?: WatchAsker): Soon<QueryResult>
  /** Does anything that is done in steps and holds so many bytes meanwhile. `begin` may be called twice. */
  runSteps<T>(taker: Taker, bytes: number, begin: () => Generator<void, T>, watch?: WatchAsker): Soon<T>
}

/** Whoever has left wants no answer: the reason of `left` is thrown then. It is asked for only where there is something to wait for. */
export type WatchAsker = () => Asker & { forget(): void }

/** Two lists of positions for a sort, a third for the page, and a verdict on each different cell. */
const bytesPerRow = 13

export interface QueryingParts {
  shares: Pick<Shares, 'queries_at_once' | 'queries_waiting' | 'queries_mb'>
  turns: LoopTurns
  clock: Pick<Clock, 'elapsedMs'>
  observe: Observe
}

export function createQuerying({ shares, turns, clock, observe }: QueryingParts): Querying {
  const turnstile = createTurnstile({
    share: 'queries_waiting',
    places: shares.queries_mb,
    placesOfAccount: shares.queries_at_once,
    waitingOfAccount: shares.queries_waiting,
    clock,
    observe,
  })

  return {
    run(taker, snapshot, query, watch) {
      const bytes = snapshot.rowNumbers.length * bytesPerRow
      return runSteps(taker, bytes, () => runQuerySteps(snapshot, query), watch)
    },
    runSteps,
  }

  function runSteps<T>(
    taker: Taker,
    bytes: number,
    begin: () => Generator<void, T>,
    watch?: WatchAsker,
  ): Soon<T> {
    const mayBegin = !(turns.next(taker) instanceof Promise)
    let begun = mayBegin ? inSlices(begin(), clock) : null
    const first = begun?.next()
    if (first?.done) return first.value
    // Whoever waits should hold nothing: where its place is not free at once, what was begun is let go.
    setImmediate(() => {
      begun = null
    })
    const asker = watch?.()
    const work = async () => {
      const slices = begun ?? inSlices(begin(), clock)
      begun = null
      for (;;) {
        await turns.next(taker)
        asker?.left.throwIfAborted()
        const slice = slices.next()
        if (slice.done) return slice.value
      }
    }
    const passing = turnstile.pass(taker, work, Math.ceil(bytes / 2 ** 20), asker)
    return asker ? passing.finally(asker.forget) : passing
  }
}
