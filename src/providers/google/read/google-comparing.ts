import type { FoundInColumn, ReadingTurn } from '../../../sheets/provider.ts'
import { ProviderFailure } from '../../../sheets/provider-failure.ts'
import type { ThreadJob } from '../../../sheets/threads/thread-jobs.ts'
import { ThreadLost } from '../../../sheets/threads/threads.ts'
import type { Comparison } from './dates/compare-reads.ts'
import type { RowsAndColumnWish } from './tab-reads.ts'
import type { TabCells } from './tab-view.ts'

/** Google's answers held against each other, or against values, in a thread: large ones would block the server for most of a second. */
export interface GoogleComparing {
  /** In a turn that has begun. Takes the bytes and gives them back: they are handed over. */
  compare(pair: ReadPair, turn: Pick<ReadingTurn, 'run'>): Promise<Comparison & ReadPair>
  /** Likewise, but the bytes are gone then. */
  find(toFind: ToFind, turn: Pick<ReadingTurn, 'run'>): Promise<FoundInColumn>
  findWithRows(toFind: ToFindWithRows, turn: Pick<ReadingTurn, 'run'>): Promise<FoundWithRows>
}

export interface ToFind {
  /** An answer with one column. */
  body: Uint8Array<ArrayBuffer>
  values: readonly string[]
  isMarked: boolean
}

export interface ToFindWithRows extends ToFind, RowsAndColumnWish {
  tabId: number
}

export interface FoundWithRows {
  inColumn: FoundInColumn
  tab: TabCells
}

export interface ReadPair {
  serialBody: Uint8Array<ArrayBuffer>
  shownBody: Uint8Array<ArrayBuffer>
}

const compareJob: ThreadJob<ReadPair, Comparison & ReadPair> = {
  module: new URL('./dates/compare-job.ts', import.meta.url).href,
  name: 'comparePair',
}

const findJob: ThreadJob<ToFind, FoundInColumn> = {
  module: new URL('./find-job.ts', import.meta.url).href,
  name: 'findCells',
}

const findWithRowsJob: ThreadJob<ToFindWithRows, FoundWithRows> = {
  module: findJob.module,
  name: 'findCellsWithRows',
}

export const googleComparing: GoogleComparing = {
  async compare(pair, turn) {
    const handOver = [pair.serialBody.buffer, pair.shownBody.buffer]
    const { reply } = await turn.run(compareJob, pair, handOver).catch(retold)
    return reply
  },
  async find(toFind, turn) {
    const { reply } = await turn.run(findJob, toFind, [toFind.body.buffer]).catch(retold)
    return reply
  },
  async findWithRows(toFind, turn) {
    const { reply } = await turn.run(findWithRowsJob, toFind, [toFind.body.buffer]).catch(retold)
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
