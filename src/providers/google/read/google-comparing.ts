import { ProviderFailure } from '../../../sheets/provider-failure.ts'
import { shortBytes, shortThreads } from '../../../sheets/threads/sized-threads.ts'
import { createThreads, ThreadLost } from '../../../sheets/threads/threads.ts'
import type { Comparison } from './compare-reads.ts'

/** `compareReads` on threads of their own: two large answers would block the server for most of a second. */
export interface GoogleComparing {
  /** Takes the bytes and gives them back: they are handed over, not copied. */
  compare(pair: ReadPair): Promise<Comparison & ReadPair>
  close(): Promise<void>
}

export interface ReadPair {
  serialBody: Uint8Array<ArrayBuffer>
  shownBody: Uint8Array<ArrayBuffer>
}

export function createGoogleComparing(): GoogleComparing {
  const script = new URL('./google-comparing-worker.ts', import.meta.url)
  // As many as there are places in the turns at the threads that decode, in which this is done.
  const short = createThreads<ReadPair, Comparison & ReadPair>({ script, count: shortThreads })
  const large = createThreads<ReadPair, Comparison & ReadPair>({ script, count: 1 })

  return {
    async compare({ serialBody, shownBody }) {
      const handOver = [serialBody.buffer, shownBody.buffer]
      const threads = serialBody.byteLength > shortBytes ? large : short
      const { reply } = await threads.run({ serialBody, shownBody }, handOver).catch(retold)
      return reply
    },
    async close() {
      await Promise.all([short.close(), large.close()])
    },
  }
}

function retold(cause: unknown): never {
  if (cause instanceof ThreadLost) {
    throw new ProviderFailure('the spreadsheet is too large or too complex to read', { cause })
  }
  // Its facts are lost on the way between threads: an answer that cannot be read may well be whole the next time.
  if (cause instanceof ProviderFailure) throw new ProviderFailure(cause.message, { isPassing: true, cause })
  throw cause
}
