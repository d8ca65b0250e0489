import type { Observe } from '../observe.ts'
import type { Soon } from '../soon.ts'
import type { DecodeReply, ToDecode } from './decoding-worker.ts'
import type { Fetched, FetchWish } from './provider.ts'
import { ProviderFailure } from './provider-failure.ts'
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

export function createDecoding(observe: Observe): Decoding {
  const threads = createThreads<ToDecode, DecodeReply>(new URL('./decoding-worker.ts', import.meta.url))
  let isClosing = false

  return {
    async decode(fetched, values = 'typed') {
      const { reply, rest } = await threads.run({ ...fetched, values }).catch(retold)
      const { snapshot } = reply
      if (!snapshot) throw new Error('A thread sent no rows')
      if (!rest) return { snapshot, indexed: indexedBy(snapshot, reply) }
      const indexed = rest.then((later) => indexedBy(snapshot, later), retold)
      // Whoever asks for it hears of a failure; that nobody does is no failure of its own.
      indexed.catch(() => {})
      return { snapshot, indexed }
    },
    close() {
      isClosing = true
      return threads.close()
    },
  }

  function retold(error: unknown): never {
    if (!(error instanceof ThreadLost)) throw error
    const { cause } = error
    if (isClosing) throw new Error('The server is stopping', { cause })
    observe({ event: 'decoder_lost', error: cause })
    throw new ProviderFailure('the spreadsheet is too large or too complex to read', { cause })
  }
}

function indexedBy(snapshot: Snapshot, { indexes }: DecodeReply): IndexedSnapshot {
  if (!indexes) throw new Error('A thread sent no indexes')
  return withIndexes(snapshot, indexes)
}
