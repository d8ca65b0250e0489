import type { Clock } from '../clock.ts'
import type { Store } from '../store/store.ts'

const flushMs = 15_000

/** Remembers when keys were last used, to a quarter of a minute, and never writes during a request. */
export interface KeyUse {
  note(keyId: string): void
  close(): Promise<void>
}

export function createKeyUse(store: Pick<Store, 'noteKeysUsed'>, clock: Clock): KeyUse {
  let used = new Set<string>()
  // A time that could not be written is lost; the next use brings a newer one.
  const timer = setInterval(() => void flush().catch(() => {}), flushMs).unref()

  return {
    note(keyId) {
      used.add(keyId)
    },
    async close() {
      clearInterval(timer)
      await flush()
    },
  }

  async function flush(): Promise<void> {
    if (used.size === 0) return
    const nowMs = clock.nowMs()
    const noted = new Map([...used].map((keyId) => [keyId, nowMs]))
    used = new Set()
    await store.noteKeysUsed(noted)
  }
}
