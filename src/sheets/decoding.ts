import { MessagePort } from 'node:worker_threads'
import type { Observe } from '../observe.ts'
import type { Soon } from '../soon.ts'
import type { DecodeReply, ToDecode } from './decoding-worker.ts'
import type { Fetched, FetchWish } from './provider.ts'
import { ProviderFailure } from './provider-failure.ts'
import type { ColumnIndexes } from './query/column-index.ts'
import { type IndexedSnapshot, type Snapshot, withIndexes } from './snapshot.ts'
import { createThreads, ThreadLost } from './threads.ts'

/**
 * Turns fetched bytes into snapshots on threads of their own: 100,000 rows would block the server for most of a
 * second, and a hostile file would take it down. Whatever a file does to a thread, it is a `ProviderFailure` here.
 */
export interface Decoding {
  decode(fetched: Fetched, values?: FetchWish['values']): Promise<Decoded>
  close(): Promise<void>
}

export interface Decoded {
  snapshot: Snapshot
  /** The same with its indexes, which come later for a large one. Nobody need wait for them. */
  indexed: Soon<IndexedSnapshot>
}

const maxIndexingMs = 30_000

export function createDecoding(observe: Observe): Decoding {
  let isClosing = false
  const threads = createThreads<ToDecode, DecodeReply>(new URL('./decoding-worker.ts', import.meta.url))

  return {
    async decode(fetched, values = 'typed') {
      const reply = await threads.run({ ...fetched, values }).catch((error: unknown) => {
        if (error instanceof ThreadLost) throw lost(error.cause)
        throw error
      })
      if ('failure' in reply) throw new ProviderFailure(reply.failure, { cause: reply.cause })
      if ('malfunction' in reply) {
        throw new Error(`Decoding failed: ${reply.malfunction}`, { cause: reply.stack })
      }
      const { snapshot, indexes } = reply
      if (!(indexes instanceof MessagePort)) return { snapshot, indexed: withIndexes(snapshot, indexes) }
      const indexed = arrived(indexes).then((made) => {
        if (!made) throw lost(new Error('The thread ended before the indexes were made'))
        return withIndexes(snapshot, made)
      })
      // Whoever asks for it hears of a failure; that nobody does is no failure of its own.
      indexed.catch(() => {})
      return { snapshot, indexed }
    },
    close() {
      isClosing = true
      return threads.close()
    },
  }

  function lost(cause: unknown): ProviderFailure {
    if (!isClosing) observe({ event: 'decoder_lost', error: cause })
    return new ProviderFailure('the spreadsheet is too large or too complex to read', { cause })
  }
}

/** null when they take too long, or the port closes before: with its thread, whatever ended that. */
function arrived(port: MessagePort): Promise<ColumnIndexes | null> {
  const { promise, resolve } = Promise.withResolvers<ColumnIndexes | null>()
  const timer = setTimeout(() => resolve(null), maxIndexingMs)
  port.once('message', resolve)
  port.once('close', () => resolve(null))
  return promise.finally(() => {
    clearTimeout(timer)
    port.close()
  })
}
