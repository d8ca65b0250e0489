import type { Store } from '../store/store.ts'
import { idleTimers, type Timers } from '../timers.ts'

/** Waiting for the log of a sheet to go on, whichever instance it is that logs. */
export interface Following {
  /** Something was logged here. */
  noteChange(sheetId: string): void
  /** Resolves when the log may have gone past `seq`, when `left` says that nobody waits, or after `waitMs`. */
  waitFor(
    sheetId: string,
    seq: number,
    waitMs: number,
    left: AbortSignal,
  ): Promise<'woken' | 'over' | 'closing'>
  /** The sheets that somebody waits for here. */
  followed(): string[]
  close(): void
}

export interface FollowingParts {
  store: Pick<Store, 'changeLogOf'>
  timers?: Timers
}

/** What other instances log is found by asking. */
const askEveryMs = 500

interface Watch {
  waiting: Set<() => void>
  head: number
  /** The log's epoch when it was last asked for; undefined before that. */
  epoch: string | null | undefined
  cancel(): void
}

export function createFollowing({ store, timers = idleTimers }: FollowingParts): Following {
  const watches = new Map<string, Watch>()
  let isClosed = false

  return {
    noteChange: wake,
    async waitFor(sheetId, seq, waitMs, left) {
      if (isClosed) return 'closing'
      if (left.aborted) return 'over'
      const watch = watches.get(sheetId) ?? begin(sheetId, seq)
      if (watch.head > seq) return 'woken'
      const { promise, resolve } = Promise.withResolvers<void>()
      let isOver = false
      const cancel = timers.after(waitMs, () => {
        isOver = true
        resolve()
      })
      const leave = () => resolve()
      left.addEventListener('abort', leave, { once: true })
      watch.waiting.add(leave)
      await promise
      cancel()
      left.removeEventListener('abort', leave)
      watch.waiting.delete(leave)
      if (watch.waiting.size === 0) end(sheetId, watch)
      if (isClosed) return 'closing'
      return isOver || left.aborted ? 'over' : 'woken'
    },
    followed: () => [...watches.keys()],
    close() {
      isClosed = true
      for (const [sheetId, watch] of watches) {
        for (const leave of watch.waiting) leave()
        end(sheetId, watch)
      }
    },
  }

  function wake(sheetId: string): void {
    for (const leave of watches.get(sheetId)?.waiting ?? []) leave()
  }

  function end(sheetId: string, watch: Watch): void {
    watch.cancel()
    if (watches.get(sheetId) === watch) watches.delete(sheetId)
  }

  /** One question for all who wait for the same sheet. */
  function begin(sheetId: string, head: number): Watch {
    const watch: Watch = { waiting: new Set(), head, epoch: undefined, cancel() {} }
    watches.set(sheetId, watch)
    const again = () => {
      watch.cancel = timers.after(askEveryMs, ask)
    }
    const ask = () => {
      void store
        .changeLogOf(sheetId)
        .then((position) => {
          const { head, epoch } = position ?? { head: watch.head, epoch: null }
          // Heads only grow: a lower one, too, is another log's.
          const isAnother = !position || head < watch.head || (watch.epoch ?? epoch) !== epoch
          watch.epoch = epoch
          if (head === watch.head && !isAnother) return
          watch.head = head
          wake(sheetId)
        })
        .catch(() => {})
        .then(() => {
          if (watches.get(sheetId) === watch) again()
        })
    }
    again()
    return watch
  }
}
