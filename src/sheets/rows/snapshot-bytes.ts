import type { Readable } from 'node:stream'
import { constants, createZstdCompress, createZstdDecompress } from 'node:zlib'
import type { IndexedSnapshot } from './snapshot.ts'

/** What goes to other instances with a snapshot. */
export interface SharedRead {
  snapshot: IndexedSnapshot
  version: string
  asOfMs: number
  /** Where it was read: a sheet may be connected anew meanwhile. */
  location: string
  credentialId: string | null
}

/** Part of the name under which it is shared: another one whenever `Snapshot` becomes another. */
export const snapshotForm = 3

/** Longer snapshots are not worth their way; every instance then reads for itself. */
const maxRawBytes = 64 * 1024 * 1024
const maxPackedBytes = 8 * 1024 * 1024

const fastest = { params: { [constants.ZSTD_c_compressionLevel]: 1 } }
/** A copy of so much takes well below a millisecond of the thread that serves everyone. */
const bytesPerStep = 256 * 1024

/**
 * All buffers one after the other, behind a text that says what each is. Packed by another thread, a step at a time; null if too
 * large.
 */
export async function toBytes(read: SharedRead): Promise<Uint8Array | null> {
  if (read.snapshot.sizeInBytes > maxRawBytes) return null
  const buffers: Uint8Array[] = []
  const text = Buffer.from(
    JSON.stringify(read, function (this: Record<string, unknown>, key) {
      // Not what is handed in: a Buffer has a text of its own, and a long one.
      const value = this[key]
      if (!ArrayBuffer.isView(value)) return value
      buffers.push(new Uint8Array(value.buffer, value.byteOffset, value.byteLength))
      return { buffer: value.constructor.name, bytes: value.byteLength } satisfies BufferNote
    }),
  )
  const length = Buffer.alloc(4)
  length.writeUInt32LE(text.length)
  const zstd = createZstdCompress(fastest)
  const packed = collectUpTo(zstd, maxPackedBytes)
  // Whoever writes hears of it too.
  packed.catch(() => {})
  try {
    for (const buffer of [length, text, ...buffers]) {
      for (let from = 0; from < buffer.byteLength; from += bytesPerStep) {
        const step = buffer.subarray(from, from + bytesPerStep)
        await new Promise<void>((resolve, reject) =>
          zstd.write(step, (error) => (error ? reject(error) : resolve())),
        )
      }
    }
    zstd.end()
    return await packed
  } catch (error) {
    if (error instanceof TooLong || zstd.errored instanceof TooLong) return null
    throw error
  } finally {
    zstd.destroy()
  }
}

class TooLong extends Error {}

async function collectUpTo(source: Readable, maxBytes: number): Promise<Uint8Array> {
  const pieces: Buffer[] = []
  let bytes = 0
  for await (const piece of source as AsyncIterable<Buffer>) {
    bytes += piece.byteLength
    if (bytes > maxBytes) {
      const error = new TooLong(`More than ${maxBytes} bytes`)
      // Or whoever writes would wait for somebody to read on.
      source.destroy(error)
      throw error
    }
    pieces.push(piece)
  }
  return Buffer.concat(pieces)
}

/** Each buffer in memory of its own, from its beginning: what looks into them goes by that. */
export async function fromBytes(bytes: Uint8Array): Promise<SharedRead> {
  const zstd = createZstdDecompress({ chunkSize: bytesPerStep })
  zstd.end(bytes)
  const pieces = inPieces(zstd)
  const length = Buffer.alloc(4)
  await pieces.fill(length)
  const textBytes = length.readUInt32LE(0)
  if (textBytes > 2 * maxRawBytes) throw new RangeError('A snapshot of another form')
  const text = Buffer.alloc(textBytes)
  await pieces.fill(text)
  const wanted: Uint8Array[] = []
  let wantedBytes = 0
  const read = JSON.parse(text.toString(), (_key, value: unknown) => {
    if (!isBufferNote(value)) return value
    wantedBytes += value.bytes
    if (wantedBytes > 2 * maxRawBytes) throw new RangeError('A snapshot that is too long')
    const own = new ArrayBuffer(value.bytes)
    wanted.push(new Uint8Array(own))
    return new arrays[value.buffer](own)
  }) as SharedRead
  for (const buffer of wanted) await pieces.fill(buffer)
  return read
}

/** What comes out of a stream, put where it belongs a piece at a time. */
function inPieces(source: Readable) {
  const pieces = (source as AsyncIterable<Buffer>)[Symbol.asyncIterator]()
  let piece: Uint8Array = new Uint8Array()
  return {
    async fill(target: Uint8Array): Promise<void> {
      for (let at = 0; at < target.byteLength; ) {
        if (piece.byteLength === 0) {
          const next = await pieces.next()
          if (next.done) throw new RangeError('A snapshot that was cut off')
          piece = next.value
        }
        const part = piece.subarray(0, target.byteLength - at)
        target.set(part, at)
        at += part.byteLength
        piece = piece.subarray(part.byteLength)
      }
    },
  }
}

const arrays = { Uint8Array, Uint16Array, Uint32Array, Float64Array, Buffer: Uint8Array } as const

interface BufferNote {
  buffer: string
  bytes: number
}

function isBufferNote(value: unknown): value is { buffer: keyof typeof arrays; bytes: number } {
  return typeof value === 'object' && value !== null && 'buffer' in value && 'bytes' in value
}
