import type { Observe } from '../reporting/observe.ts'
import type { Store } from '../store/store.ts'
import { idleTimers, type Timers } from '../timers.ts'

const firstMs = 15_000
const everyMs = 10 * 60 * 1_000
/** An account can fill its share in less than the time between two rounds. */
const bytesBetween = 4 * 1024 * 1024

/** Forgets changes that are over, and those beyond an account's share. */
export interface Retention {
  noteBytes(bytes: number): void
  close(): void
}

export interface RetentionParts {
  store: Pick<Store, 'forgetOldChanges'>
  maxAccountBytes: number
  observe: Observe
  timers?: Timers
}

export function createRetention({
  store,
  maxAccountBytes,
  observe,
  timers = idleTimers,
}: RetentionParts): Retention {
  let isClosed = false
  let isForgetting = false
  let noted = 0
  let cancel = timers.after(firstMs, forget)

  return {
    noteBytes(bytes) {
      noted += bytes
      if (noted < bytesBetween || isForgetting) return
      cancel()
      forget()
    },
    close() {
      isClosed = true
      cancel()
    },
  }

  /** What cannot be done now is done the next time. */
  function forget(): void {
    noted = 0
    isForgetting = true
    void store
      .forgetOldChanges(maxAccountBytes)
      .then(({ accountsOverShare }) => {
        for (const accountId of accountsOverShare)
          observe({ event: 'share_used_up', share: 'history_mb', accountId })
      })
      .catch(() => {})
      .then(() => {
        isForgetting = false
        if (!isClosed) cancel = timers.after(everyMs, forget)
      })
  }
}
