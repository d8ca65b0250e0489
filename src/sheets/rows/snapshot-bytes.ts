import { promisify } from 'node:util'
import { constants, zstdCompress, zstdDecompress } from 'node:zlib'
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

const pack = promisify(zstdCompress)
const unpack = promisify(zstdDecompress)
const fastest = { params: { [constants.ZSTD_c_compressionLevel]: 1 } }

/** All buffers one after the other, behind a text that says what each is. Packed by another thread; null if too large. */
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
  const packed = await pack(Buffer.concat([length, text, ...buffers]), fastest)
  return packed.byteLength > maxPackedBytes ? null : packed
}

export async function fromBytes(bytes: Uint8Array): Promise<SharedRead> {
  const raw = await unpack(bytes, { maxOutputLength: 2 * maxRawBytes })
  let at = 4 + raw.readUInt32LE(0)
  return JSON.parse(raw.toString('utf8', 4, at), (_key, value: unknown) => {
    if (!isBufferNote(value)) return value
    // Each in memory of its own, from its beginning: what looks into them goes by that.
    const own = new Uint8Array(raw.subarray(at, at + value.bytes)).buffer
    at += value.bytes
    return new arrays[value.buffer](own)
  }) as SharedRead
}

const arrays = { Uint8Array, Uint16Array, Uint32Array, Float64Array, Buffer: Uint8Array } as const

interface BufferNote {
  buffer: string
  bytes: number
}

function isBufferNote(value: unknown): value is { buffer: keyof typeof arrays; bytes: number } {
  return typeof value === 'object' && value !== null && 'buffer' in value && 'bytes' in value
}
