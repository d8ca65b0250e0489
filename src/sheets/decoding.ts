import type { Observe } from '../observe.ts'
import type { DecodeReply, ToDecode } from './decoding-worker.ts'
import type { Fetched, FetchWish } from './provider.ts'
import { ProviderFailure } from './provider-failure.ts'
import type { Snapshot } from './snapshot.ts'
import { createThreads, ThreadLost } from './threads.ts'

/**
 * Turns fetched bytes into snapshots on threads of their own: 100,000 rows would block the server for most of a
 * second, and a hostile file would take it down. Whatever a file does to a thread, it is a `ProviderFailure` here.
 */
export interface Decoding {
  decode(fetched: Fetched, values?: FetchWish['values']): Promise<Snapshot>
  close(): Promise<void>
}

export function createDecoding(observe: Observe): Decoding {
  const threads = createThreads<ToDecode, DecodeReply>(new URL('./decoding-worker.ts', import.meta.url))

  return {
    async decode(fetched, values = 'typed') {
      const reply = await threads.run({ ...fetched, values }).catch((error: unknown) => {
        if (!(error instanceof ThreadLost)) throw error
        observe({ event: 'decoder_lost', error: error.cause })
        throw new ProviderFailure('the spreadsheet is too large or too complex to read', { cause: error })
      })
      if ('snapshot' in reply) return reply.snapshot
      if ('failure' in reply) throw new ProviderFailure(reply.failure, { cause: reply.cause })
      throw new Error(`Decoding failed: ${reply.malfunction}`, { cause: reply.stack })
    },
    close: () => threads.close(),
  }
}
