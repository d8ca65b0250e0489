import type { Clock } from '../clock.ts'
import type { LoopTurns } from '../shares/loop-turns.ts'
import type { Store } from '../store/store.ts'

const flushMs = 15_000
/** Some milliseconds of SQLite's, on the thread that answers everybody. */
const writtenTogether = 256
/** Whom the turns of the main thread are for, where it is no account. */
const noAccount = ''

/** Remembers when keys were last used: in memory at once, in the store every few seconds, never during a request. */
export interface KeyUse {
  noteKeyUse(keyId: string): void
  close(): Promise<void>
}

export interface KeyUseParts {
  store: Pick<Store, 'noteKeysUsed'>
  clock: Clock
  turns: LoopTurns
}

export function createKeyUse({ store, clock, turns }: KeyUseParts): KeyUse {
  let lastUsedMs = new Map<string, number>()
  // A time that could not be written is lost; the next use brings a newer one.
  const timer = setInterval(() => void flush().catch(() => {}), flushMs).unref()

  return {
    noteKeyUse(keyId) {
      lastUsedMs.set(keyId, clock.nowMs())
    },
    async close() {
      clearInterval(timer)
      await flush().catch(() => {})
    },
  }

  async function flush(): Promise<void> {
    if (lastUsedMs.size === 0) return
    const noted = [...lastUsedMs]
    lastUsedMs = new Map()
    for (let at = 0; at < noted.length; at += writtenTogether) {
      await turns.next(noAccount)
      await store.noteKeysUsed(new Map(noted.slice(at, at + writtenTogether)))
    }
  }
}
