import type { ReadingTurn } from '../../../sheets/provider.ts'
import { ProviderFailure } from '../../../sheets/provider-failure.ts'
import type { ThreadJob } from '../../../sheets/threads/thread-jobs.ts'
import { ThreadLost } from '../../../sheets/threads/threads.ts'
import type { Comparison } from './compare-reads.ts'

/** `compareReads` in a thread: two large answers would block the server for most of a second. */
export interface GoogleComparing {
  /** In a turn that has begun. Takes the bytes and gives them back: they are handed over. */
  compare(pair: ReadPair, turn: Pick<ReadingTurn, 'run'>): Promise<Comparison & ReadPair>
}

export interface ReadPair {
  serialBody: Uint8Array<ArrayBuffer>
  shownBody: Uint8Array<ArrayBuffer>
}

const compareJob: ThreadJob<ReadPair, Comparison & ReadPair> = {
  module: new URL('./compare-job.ts', import.meta.url).href,
  name: 'comparePair',
}

export const googleComparing: GoogleComparing = {
  async compare(pair, turn) {
    const handOver = [pair.serialBody.buffer, pair.shownBody.buffer]
    const { reply } = await turn.run(compareJob, pair, handOver).catch(retold)
    return reply
  },
}

function retold(cause: unknown): never {
  if (cause instanceof ThreadLost) {
    throw new ProviderFailure('the spreadsheet is too large or too complex to read', { cause })
  }
  // Its facts are lost on the way between threads: an answer that cannot be read may well be whole the next time.
  if (cause instanceof ProviderFailure) throw new ProviderFailure(cause.message, { isPassing: true, cause })
  throw cause
}
