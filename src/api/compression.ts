import { Readable, type Transform } from 'node:stream'
import { constants, createBrotliCompress, createGzip, createZstdCompress } from 'node:zlib'
import type { Coding } from './content-coding.ts'

type Chunks = Iterable<Uint8Array> | AsyncIterable<Uint8Array>

/** Below this a compressed body is hardly shorter. */
export const compressedFromBytes = 1_024

/** Fewer and larger steps than Node's 16 KiB: each is a trip to another thread. */
const chunkSize = 64 * 1024

/** DESIGN, measured: the levels that gain most for their time. Node's own level for brotli takes a hundred times as long. */
const compressors: Record<Coding, () => Transform> = {
  zstd: () => createZstdCompress({ chunkSize, params: { [constants.ZSTD_c_compressionLevel]: 1 } }),
  br: () => createBrotliCompress({ chunkSize, params: { [constants.BROTLI_PARAM_QUALITY]: 4 } }),
  gzip: () => createGzip({ chunkSize, level: 6 }),
}

/** Compresses as fast as it is read, on threads of Node's own; who stops reading stops it. */
export async function* compressedChunks(chunks: Chunks, coding: Coding): AsyncGenerator<Uint8Array> {
  const source = Readable.from(chunks, { objectMode: true, highWaterMark: 1 })
  const compressor = compressors[coding]()
  source.once('error', (error) => compressor.destroy(error))
  source.pipe(compressor)
  try {
    for await (const chunk of compressor) yield chunk as Uint8Array
  } finally {
    source.destroy()
    compressor.destroy()
  }
}

export async function compressedWhole(chunks: Chunks, coding: Coding): Promise<Uint8Array[]> {
  const pieces: Uint8Array[] = []
  for await (const chunk of compressedChunks(chunks, coding)) pieces.push(chunk)
  return pieces
}

/**
 * Long lists are compressed one after the other: all at once they would hold up each other, and whatever else needs
 * Node's few threads.
 */
export function createCompressionQueue(): <T>(work: () => Promise<T>) => Promise<T> {
  let last: Promise<unknown> = Promise.resolve()
  return (work) => {
    const turn = last.then(work)
    last = turn.catch(() => {})
    return turn
  }
}
