import { type Clock, systemClock } from '../../clock.ts'
import type { Observe } from '../../reporting/observe.ts'
import { defaultShares, type Shares } from '../../shares/shares.ts'
import type { TakerByThen } from '../../shares/taker.ts'
import type { Soon } from '../../soon.ts'
import type { Fetched, FetchWish, ReadingTurn } from '../provider.ts'
import { ProviderFailure } from '../provider-failure.ts'
import { type IndexedSnapshot, type Snapshot, withIndexes } from '../rows/snapshot.ts'
import { ownBuffer, type ThreadJob } from '../threads/thread-jobs.ts'
import { createThreadPool, type ThreadPool, type ThreadTurn } from '../threads/thread-pool.ts'
import { ThreadLost } from '../threads/threads.ts'
import type { DecodeReply, ToDecode } from './decode-job.ts'

/**
 * Turns fetched bytes into snapshots on threads of their own: 100,000 rows would block the server for most of a
 * second, and a hostile file would take it down. Whatever a file does to a thread, it is a `ProviderFailure` here.
 */
export interface Decoding {
  /**
   * Fetches and decodes, in one turn of the account at the threads. `fetch` begins the turn before it takes into memory what
   * may be large, so that who waits holds nothing; where it did not, the turn begins with the decoding. What it returns
   * instead of bytes is handed on. Throws `TooManyAtOnce`, and the reason of `left` when whoever it is for leaves before it is
   * done: what waits is not begun then, and what is large is not gone on with.
   */
  decode<Answer extends Fetched | 'unchanged' | null>(
    taker: TakerByThen,
    fetch: (turn: ReadingTurn) => Promise<Answer>,
    wish?: DecodeWish,
  ): Promise<Decoded | Exclude<Answer, Fetched>>
  /** Other work on what a spreadsheet holds, in a turn of the account at the same threads. */
  inTurn<T>(taker: TakerByThen, work: (turn: ReadingTurn) => Promise<T>): Promise<T>
  close(): Promise<void>
}

export interface DecodeWish {
  /** 'typed' unless told. */
  values?: FetchWish['values']
  left?: AbortSignal
}

export interface Decoded {
  version: string
  snapshot: Snapshot
  /** The snapshot with its indexes, which come later for a large one. Nobody need wait for them. */
  indexed: Soon<IndexedSnapshot>
}

export interface DecodingParts {
  observe: Observe
  clock?: Pick<Clock, 'elapsedMs'>
  shares?: Pick<Shares, 'decoding_at_once' | 'decoding_waiting'>
  /** It has threads of its own unless given. */
  threads?: ThreadPool
}

const decodeJob: ThreadJob<ToDecode, DecodeReply> = {
  module: new URL('./decode-job.ts', import.meta.url).href,
  name: 'decodeBytes',
}

export function createDecoding({
  observe,
  clock = systemClock,
  shares = defaultShares,
  threads = createThreadPool({ clock, observe }),
}: DecodingParts): Decoding {
  const door = threads.openDoor({
    share: 'decoding_waiting',
    placesOfAccount: shares.decoding_at_once,
    waitingOfAccount: shares.decoding_waiting,
  })
  let isClosing = false

  return {
    async decode(taker, fetch, { values = 'typed', left } = {}) {
      const turn = door.turnOf(taker, left)
      let isThreadTaken = false
      try {
        const fetched: Fetched | 'unchanged' | null = await fetch(turn)
        if (fetched === null || fetched === 'unchanged') return fetched as never
        await turn.begin(fetched.bytes.byteLength)
        const { decoded, whole } = await decodeNow(fetched, values, turn)
        if (whole) {
          isThreadTaken = true
          void whole.finally(turn.end)
        }
        return decoded
      } finally {
        if (!isThreadTaken) turn.end()
      }
    },
    async inTurn(taker, work) {
      const turn = door.turnOf(taker)
      try {
        return await work(turn)
      } finally {
        turn.end()
      }
    },
    close() {
      isClosing = true
      return threads.close()
    },
  }

  /** `whole` settles when the thread is free again, where that is later; it never rejects. */
  async function decodeNow(
    { version, decoder, bytes }: Fetched,
    values: FetchWish['values'],
    turn: ThreadTurn,
  ): Promise<{ decoded: Decoded; whole: Promise<unknown> | null }> {
    const own = ownBuffer(bytes)
    const { reply, rest } = await turn
      .run(decodeJob, { bytes: own, decoder, values }, [own.buffer])
      .catch(retold)
    const { snapshot } = reply
    if (!snapshot) throw new Error('A thread sent no rows')
    if (!rest)
      return { decoded: { version, snapshot, indexed: withLaterIndexes(snapshot, reply) }, whole: null }
    const indexed = rest.then((later) => withLaterIndexes(snapshot, later), retold)
    // Whoever asks for it hears of a failure; that nobody does is no failure of its own.
    const whole = indexed.catch(() => {})
    return { decoded: { version, snapshot, indexed }, whole }
  }

  function retold(error: unknown): never {
    if (!(error instanceof ThreadLost)) throw error
    const { cause } = error
    if (isClosing) throw new Error('The server is stopping', { cause })
    observe({ event: 'decoder_lost', error: cause })
    throw new ProviderFailure('the spreadsheet is too large or too complex to read', { cause })
  }
}

function withLaterIndexes(snapshot: Snapshot, { later }: DecodeReply): IndexedSnapshot {
  if (!later) throw new Error('A thread sent no indexes')
  return withIndexes(snapshot, later)
}
