import { once } from 'node:events'
import { availableParallelism } from 'node:os'
import type { Transform } from 'node:stream'
import { constants, createBrotliCompress, createGzip, createZstdCompress } from 'node:zlib'
import type { Clock } from '../clock.ts'
import type { Observe } from '../reporting/observe.ts'
import type { Shares } from '../shares/shares.ts'
import { accountOf, type Taker } from '../shares/taker.ts'
import { createTurnstile, type TurnstilePlace } from '../shares/turnstile.ts'
import type { Coding } from './content-coding.ts'

/**
 * Compresses on threads of Node's own, of which there are few for everybody: step by step, and the accounts take turns
 * after each. Who does not get the first turn in time sends its bytes as they are.
 */
export interface Compression {
  /** All of it, for a body that is kept or short; null where no turn came in time. */
  whole(wish: CompressionWish & { isLong: boolean }): Promise<Uint8Array[] | null>
  /** As fast as it is read: between two steps a slow reader holds no turn. Null where none came in time. */
  stream(wish: CompressionWish): Promise<AsyncIterable<Uint8Array> | null>
}

export interface CompressionWish {
  taker: Taker
  /** Not touched where the answer is null. */
  chunks: Iterable<Uint8Array> | AsyncIterable<Uint8Array>
  coding: Coding
}

export interface CompressionParts {
  shares: Pick<Shares, 'compression_at_once' | 'compression_wait_ms'>
  clock: Pick<Clock, 'elapsedMs'>
  observe: Observe
}

/** Below this a compressed body is hardly shorter. */
export const compressedFromBytes = 1_024

/** Fewer and larger steps than Node's 16 KiB: each is a trip to another thread. */
const chunkBytes = 64 * 1024
/** Node takes no smaller ones. */
const leastChunkBytes = 64
/** What is compressed in one turn: some milliseconds. */
const stepBytes = 256 * 1024
/** Node has four; one is left for reading files, and a processor for answering. */
const places = Math.max(1, Math.min(3, availableParallelism() - 1))

/** A compressor keeps its memory for as long as its reader takes. */
const streamsOfAccount = 8

/** Measured: the levels that gain most for their time. Node's own level for brotli takes a hundred times as long. */
const compressors: Record<Coding, (chunkSize: number) => Transform> = {
  zstd: (chunkSize) => createZstdCompress({ chunkSize, params: { [constants.ZSTD_c_compressionLevel]: 1 } }),
  br: (chunkSize) => createBrotliCompress({ chunkSize, params: { [constants.BROTLI_PARAM_QUALITY]: 4 } }),
  gzip: (chunkSize) => createGzip({ chunkSize, level: 6 }),
}

export function createCompression({ shares, clock, observe }: CompressionParts): Compression {
  const { compression_at_once: placesOfAccount, compression_wait_ms: patienceMs } = shares
  const turnstile = { share: 'compression_at_once', placesOfAccount, clock, observe } as const
  // Bounded by how long anybody waits for the first turn, and by how many connections there are.
  const waitingOfAccount = Number.POSITIVE_INFINITY
  const steps = createTurnstile({ ...turnstile, waitingOfAccount, places })
  const inMemory = {
    ...turnstile,
    waitingOfAccount,
    places: Number.POSITIVE_INFINITY,
    // A visitor may hold a place for as long as it likes, and nobody with a key shall go without for it.
    areVisitorsBeside: true,
  }
  /** What is made of a long list stays in memory until the end. */
  const longLists = createTurnstile(inMemory)
  const streams = createTurnstile({ ...inMemory, placesOfAccount: streamsOfAccount })

  return {
    async whole({ isLong, ...wish }) {
      const { taker } = wish
      const place = isLong ? await longLists.takePlace(taker, patienceMs) : null
      try {
        if (isLong && !place) return reportUsedUp(taker)
        if (!(await isTurnNear(taker))) return reportUsedUp(taker)
        return await Array.fromAsync(compressed(wish))
      } finally {
        place?.leavePlace()
      }
    },
    async stream(wish) {
      const { taker } = wish
      const place = await streams.takePlace(taker, patienceMs)
      if (place && (await isTurnNear(taker))) return leavingAtEnd(compressed(wish), place)
      place?.leavePlace()
      return reportUsedUp(taker)
    },
  }

  function reportUsedUp(taker: Taker): null {
    observe({ event: 'share_used_up', share: 'compression_at_once', accountId: accountOf(taker) })
    return null
  }

  async function isTurnNear(taker: Taker): Promise<boolean> {
    const place = await steps.takePlace(taker, patienceMs)
    place?.leavePlace()
    return place !== null
  }

  async function* compressed({ taker, chunks, coding }: CompressionWish): AsyncGenerator<Uint8Array> {
    const compressor = compressors[coding](chunkSizeFor(chunks))
    const made: Uint8Array[] = []
    compressor.on('data', (piece: Uint8Array) => made.push(piece))
    // The step that failed says so.
    compressor.on('error', () => {})
    try {
      for await (const chunk of chunks) {
        for (let from = 0; from < chunk.byteLength; from += stepBytes) {
          const part = chunk.subarray(from, from + stepBytes)
          await steps.pass(taker, () => writePart(compressor, part))
          yield* made.splice(0)
        }
      }
      await steps.pass(taker, () => endCompressor(compressor))
      yield* made.splice(0)
    } finally {
      compressor.destroy()
    }
  }
}

/** What is short comes out in one chunk that is no longer than itself: 64 KB for each would wait for the garbage collector. */
function chunkSizeFor(chunks: CompressionWish['chunks']): number {
  if (!Array.isArray(chunks)) return chunkBytes
  const bytes = chunks.reduce((sum: number, chunk: Uint8Array) => sum + chunk.byteLength, 0)
  return Math.max(leastChunkBytes, Math.min(chunkBytes, bytes))
}

async function* leavingAtEnd(
  chunks: AsyncIterable<Uint8Array>,
  place: TurnstilePlace,
): AsyncGenerator<Uint8Array> {
  try {
    yield* chunks
  } finally {
    place.leavePlace()
  }
}

function writePart(compressor: Transform, part: Uint8Array): Promise<void> {
  const { promise, resolve, reject } = Promise.withResolvers<void>()
  compressor.write(part, (error) => (error ? reject(error) : resolve()))
  return promise
}

async function endCompressor(compressor: Transform): Promise<void> {
  const end = once(compressor, 'end')
  compressor.end()
  await end
}
