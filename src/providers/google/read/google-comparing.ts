import { ProviderFailure } from '../../../sheets/provider-failure.ts'
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
  const threads = createThreads<ReadPair, Comparison & ReadPair>(
    new URL('./google-comparing-worker.ts', import.meta.url),
  )

  return {
    async compare({ serialBody, shownBody }) {
      const handOver = [serialBody.buffer, shownBody.buffer]
      const { reply } = await threads.run({ serialBody, shownBody }, handOver).catch(retold)
      return reply
    },
    close: threads.close,
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
