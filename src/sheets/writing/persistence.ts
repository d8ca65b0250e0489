import { StoreFailure } from '../../errors.ts'
import type { Cancel, Timers } from '../../timers.ts'

/** The server is on its way out: what is open stays in the journal for the next one. */
export class Closing extends Error {
  override readonly name = 'Closing'
}

/** Trying until it works: for what must be known or recorded before anything else may happen in a lane. */
export interface Persistence {
  /** Calls `work` until it does not throw. Throws `Closing` when the server ends before that. */
  until<T>(work: () => Promise<T>, onFailure?: (error: unknown) => void): Promise<T>
  /** Throws `Closing` when the server ends before it is over. */
  pause(delayMs: number): Promise<void>
  close(): void
}

const firstPauseMs = 250
const longestPauseMs = 8_000
/**
 * It costs our own store little to be asked, and everyone waits for it (docs/reliability.md#r24: healthy within 5 s).
 */
const longestPauseForStoreMs = 1_000

export function createPersistence(timers: Timers): Persistence {
  const pauses = new Set<{ cancel: Cancel; end: () => void }>()
  let isClosing = false

  return {
    async until(work, onFailure) {
      for (let failures = 0; ; failures++) {
        try {
          return await work()
        } catch (error) {
          onFailure?.(error)
          const longestMs = error instanceof StoreFailure ? longestPauseForStoreMs : longestPauseMs
          await pauseUnlessClosing(Math.min(firstPauseMs * 2 ** failures, longestMs))
        }
      }
    },
    pause: pauseUnlessClosing,
    close() {
      isClosing = true
      for (const { cancel, end } of pauses) {
        cancel()
        end()
      }
    },
  }

  async function pauseUnlessClosing(delayMs: number): Promise<void> {
    if (!isClosing) await pause(delayMs)
    if (isClosing) throw new Closing('The server is closing')
  }

  async function pause(delayMs: number): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>()
    const pausing = { cancel: timers.after(delayMs, resolve), end: resolve }
    pauses.add(pausing)
    await promise
    pauses.delete(pausing)
  }
}
