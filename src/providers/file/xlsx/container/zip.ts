import { crc32, createInflateRaw } from 'node:zlib'
import { ProviderFailure } from '../../../../sheets/provider-failure.ts'
import type { PackedParts } from '../../../../sheets/rows/grid.ts'
import { xlsxFailure } from './failure.ts'
import {
  FORGIVEN_INFLATED_BYTES,
  MAX_INFLATED_BYTES,
  MAX_INFLATION_RATIO,
  MAX_ZIP_ENTRIES,
} from './limits.ts'

export interface ZipArchive {
  /** Part names are compared as OPC wants it: without case, with `/`, without a leading one. */
  has(path: string): boolean
  /** Yields the part in pieces and fails past `maxBytes`, past the archive's own budget, or on a wrong checksum. */
  read(path: string, maxBytes: number): AsyncGenerator<Buffer>
  /** What is left of the archive's own budget. */
  readonly remainingBytes: number
  /** All parts that were read. */
  readonly readParts: PackedParts
}

export interface ZipEntry {
  key: string
  /** Where its record stands in the central directory. */
  recordStart: number
  recordEnd: number
  flags: number
  method: number
  checksum: number
  compressedBytes: number
  inflatedBytes: number
  localHeaderOffset: number
}

export const END_SIGNATURE = 0x06054b50
export const END_BYTES = 22
const MAX_COMMENT_BYTES = 65_535
const CENTRAL_SIGNATURE = 0x02014b50
export const CENTRAL_BYTES = 46
export const LOCAL_SIGNATURE = 0x04034b50
export const LOCAL_BYTES = 30
const STORED = 0
export const DEFLATED = 8
export const ENCRYPTED_FLAG = 1
const IN_ZIP64_FIELD_16 = 0xffff
const IN_ZIP64_FIELD_32 = 0xffffffff
const INFLATE_CHUNK_BYTES = 256 * 1024

/**
 * Only the central directory is believed, and of its sizes only as much as the inflated bytes confirm.
 * Parts nobody asks for are never inflated, so what else the archive holds costs nothing.
 */
export function openZip(bytes: Uint8Array): ZipArchive {
  const file = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  const entries = new Map(readCentralDirectory(file).map((entry) => [entry.key, entry]))
  let remainingBytes = MAX_INFLATED_BYTES
  let packedBytes = 0

  return {
    has: (path) => entries.has(partKey(path)),

    get remainingBytes() {
      return remainingBytes
    },

    get readParts() {
      return { packedBytes, unpackedBytes: MAX_INFLATED_BYTES - remainingBytes }
    },

    async *read(path, maxBytes) {
      const entry = entries.get(partKey(path))
      if (entry === undefined) throw xlsxFailure('damaged', `missing part ${path.slice(0, 200)}`)
      packedBytes += entry.compressedBytes
      let checksum = 0
      let inflatedBytes = 0
      for await (const chunk of inflate(compressedData(file, entry), entry)) {
        inflatedBytes += chunk.length
        remainingBytes -= chunk.length
        if (inflatedBytes > maxBytes || remainingBytes < 0) {
          throw xlsxFailure('tooLarge', `part ${path.slice(0, 200)} inflates past its limit`)
        }
        checksum = crc32(chunk, checksum)
        yield chunk
      }
      if (inflatedBytes !== entry.inflatedBytes || checksum !== entry.checksum) {
        throw xlsxFailure('damaged', `part ${path.slice(0, 200)} differs from its size or checksum`)
      }
    },
  }
}

/** One part, one key, however its name is spelled. */
export function partKey(path: string): string {
  return path.replaceAll('\\', '/').replace(/^\//, '').toLowerCase()
}

export async function* inflate(
  data: Buffer,
  entry: Pick<ZipEntry, 'flags' | 'method'>,
): AsyncGenerator<Buffer> {
  if ((entry.flags & ENCRYPTED_FLAG) !== 0) throw xlsxFailure('password', 'encrypted ZIP entry')
  if (entry.method === STORED) {
    for (let from = 0; from < data.length; from += INFLATE_CHUNK_BYTES) {
      yield data.subarray(from, from + INFLATE_CHUNK_BYTES)
    }
    return
  }
  if (entry.method !== DEFLATED) throw xlsxFailure('damaged', `ZIP compression method ${entry.method}`)
  const inflater = createInflateRaw({ chunkSize: INFLATE_CHUNK_BYTES })
  inflater.end(data)
  let inflatedBytes = 0
  try {
    for await (const chunk of inflater as AsyncIterable<Buffer>) {
      inflatedBytes += chunk.length
      // Against the bytes taken in so far: a bomb shows itself long before it has gone off.
      if (inflatedBytes > Math.max(FORGIVEN_INFLATED_BYTES, MAX_INFLATION_RATIO * inflater.bytesWritten)) {
        throw xlsxFailure('tooLarge', 'a part inflates like a ZIP bomb')
      }
      yield chunk
    }
  } catch (error) {
    throw error instanceof ProviderFailure ? error : xlsxFailure('damaged', error)
  }
}

export function compressedData(file: Buffer, entry: ZipEntry): Buffer {
  const at = entry.localHeaderOffset
  if (at + LOCAL_BYTES > file.length || file.readUInt32LE(at) !== LOCAL_SIGNATURE) {
    throw xlsxFailure('damaged', 'no ZIP local header where one should be')
  }
  const start = at + LOCAL_BYTES + file.readUInt16LE(at + 26) + file.readUInt16LE(at + 28)
  const end = start + entry.compressedBytes
  if (end > file.length) throw xlsxFailure('damaged', 'ZIP entry extends past the file')
  return file.subarray(start, end)
}

export function readCentralDirectory(file: Buffer): ZipEntry[] {
  const { entryCount, offset } = findCentralDirectory(file)
  if (entryCount > MAX_ZIP_ENTRIES) throw xlsxFailure('tooLarge', `${entryCount} ZIP entries`)
  const entries: ZipEntry[] = []
  let at = offset
  for (let index = 0; index < entryCount; index++) {
    if (at + CENTRAL_BYTES > file.length || file.readUInt32LE(at) !== CENTRAL_SIGNATURE) {
      throw xlsxFailure('damaged', `ZIP directory entry ${index} is not there`)
    }
    const nameBytes = file.readUInt16LE(at + 28)
    const extraBytes = file.readUInt16LE(at + 30)
    const commentBytes = file.readUInt16LE(at + 32)
    const extraStart = at + CENTRAL_BYTES + nameBytes
    const name = file.toString('utf8', at + CENTRAL_BYTES, extraStart)
    const recordEnd = extraStart + extraBytes + commentBytes
    const entry = {
      key: partKey(name),
      recordStart: at,
      recordEnd,
      flags: file.readUInt16LE(at + 8),
      method: file.readUInt16LE(at + 10),
      checksum: file.readUInt32LE(at + 16),
      compressedBytes: file.readUInt32LE(at + 20),
      inflatedBytes: file.readUInt32LE(at + 24),
      localHeaderOffset: file.readUInt32LE(at + 42),
    }
    widenFromZip64Field(entry, file.subarray(extraStart, extraStart + extraBytes))
    entries.push(entry)
    at = recordEnd
  }
  return entries
}

function findCentralDirectory(file: Buffer): { entryCount: number; offset: number } {
  const searchStart = Math.max(0, file.length - END_BYTES - MAX_COMMENT_BYTES)
  for (let at = file.length - END_BYTES; at >= searchStart; at--) {
    if (file.readUInt32LE(at) !== END_SIGNATURE) continue
    const entryCount = file.readUInt16LE(at + 10)
    const offset = file.readUInt32LE(at + 16)
    if (entryCount !== IN_ZIP64_FIELD_16 && offset !== IN_ZIP64_FIELD_32) return { entryCount, offset }
    return findZip64Directory(file, at)
  }
  throw xlsxFailure('incomplete', 'no ZIP end record')
}

function findZip64Directory(file: Buffer, endRecordAt: number): { entryCount: number; offset: number } {
  const locatorAt = endRecordAt - 20
  if (locatorAt < 0 || file.readUInt32LE(locatorAt) !== 0x07064b50) {
    throw xlsxFailure('damaged', 'no ZIP64 locator')
  }
  const recordAt = Number(file.readBigUInt64LE(locatorAt + 8))
  if (recordAt + 56 > file.length || file.readUInt32LE(recordAt) !== 0x06064b50) {
    throw xlsxFailure('damaged', 'no ZIP64 end record')
  }
  return {
    entryCount: Number(file.readBigUInt64LE(recordAt + 32)),
    offset: Number(file.readBigUInt64LE(recordAt + 48)),
  }
}

/** Streaming writers put sizes into this field even for small files (APPNOTE 4.5.3). */
function widenFromZip64Field(entry: ZipEntry, extra: Buffer): void {
  let at = 0
  while (at + 4 <= extra.length) {
    const fieldEnd = at + 4 + extra.readUInt16LE(at + 2)
    if (extra.readUInt16LE(at) === 1) {
      let next = at + 4
      for (const key of ['inflatedBytes', 'compressedBytes', 'localHeaderOffset'] as const) {
        if (entry[key] !== IN_ZIP64_FIELD_32) continue
        if (next + 8 > Math.min(fieldEnd, extra.length)) throw xlsxFailure('damaged', 'short ZIP64 field')
        entry[key] = Number(extra.readBigUInt64LE(next))
        next += 8
      }
      return
    }
    at = fieldEnd
  }
}
