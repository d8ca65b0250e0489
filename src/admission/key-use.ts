import type { Clock } from '../clock.ts'
import type { Store } from '../store/store.ts'

const flushMs = 15_000

/** Remembers when keys were last used: in memory at once, in the store every few seconds, never during a request. */
export interface KeyUse {
  note(keyId: string): void
  close(): Promise<void>
}

export function createKeyUse(store: Pick<Store, 'noteKeysUsed'>, clock: Clock): KeyUse {
  let lastUsedMs = new Map<string, number>()
  // A time that could not be written is lost; the next use brings a newer one.
  const timer = setInterval(() => void flush().catch(() => {}), flushMs).unref()

  return {
    note(keyId) {
      lastUsedMs.set(keyId, clock.nowMs())
    },
    async close() {
      clearInterval(timer)
      await flush().catch(() => {})
    },
  }

  async function flush(): Promise<void> {
    if (lastUsedMs.size === 0) return
    const noted = lastUsedMs
    lastUsedMs = new Map()
    await store.noteKeysUsed(noted)
  }
}
