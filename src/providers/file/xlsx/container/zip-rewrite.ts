import { pipeline } from 'node:stream/promises'
import { constants, crc32, createDeflateRaw } from 'node:zlib'
import { xlsxFailure } from './failure.ts'
import { FORGIVEN_INFLATED_BYTES, MAX_WORKBOOK_BYTES } from './limits.ts'
import {
  CENTRAL_BYTES,
  compressedData,
  DEFLATED,
  ENCRYPTED_FLAG,
  END_BYTES,
  END_SIGNATURE,
  inflate,
  LOCAL_BYTES,
  LOCAL_SIGNATURE,
  readCentralDirectory,
  type ZipEntry,
} from './zip.ts'

/** A part's new content in pieces, or null for a part that goes. Keys are those of `partKey`. */
export type PartChanges = ReadonlyMap<string, Iterable<Buffer> | null>

interface Content {
  flags: number
  method: number
  checksum: number
  inflatedBytes: number
  data: Buffer
}

const SIZES_FOLLOW_FLAG = 0x8
const UTF8_NAME_FLAG = 0x800
const ZIP64_FIELD = 1
/** From here on a count or an offset would need the 64-bit extension. */
const ZIP64_COUNT = 0xffff
const ZIP64_BYTES = 0xffffffff

/**
 * Changes some parts of an archive. All others keep their compressed bytes, their order, names, times and
 * attributes; only their headers are written anew, with sizes that a streaming writer had put elsewhere.
 */
export async function rewriteZip(bytes: Uint8Array, changes: PartChanges): Promise<Buffer> {
  const file = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  const entries = readCentralDirectory(file)
  refuseOdd(file, entries)
  const local: Buffer[] = []
  const central: Buffer[] = []
  let offset = 0
  let count = 0
  for (const entry of entries) {
    const pieces = changes.get(entry.key)
    if (pieces === null) continue
    const content =
      pieces === undefined
        ? sameContent(file, entry)
        : await deflatePieces(pieces, entry.flags & UTF8_NAME_FLAG)
    const header = localHeader(file, entry, content)
    local.push(header, content.data)
    central.push(centralRecord(file, entry, content, offset))
    offset += header.length + content.data.length
    count++
    if (offset > MAX_WORKBOOK_BYTES) throw xlsxFailure('tooLarge', 'the changed workbook is too large')
  }
  const directory = Buffer.concat(central)
  return Buffer.concat([...local, directory, endRecord(file, count, directory.length, offset)])
}

/** What a reader can pass over, a writer would have to guess at, or blow up by copying. */
function refuseOdd(file: Buffer, entries: readonly ZipEntry[]): void {
  if (new Set(entries.map(({ key }) => key)).size < entries.length) {
    throw xlsxFailure('damaged', 'two ZIP entries of one name')
  }
  if (entries.length >= ZIP64_COUNT) throw xlsxFailure('tooLarge', `${entries.length} ZIP entries`)
  let compressedBytes = 0
  for (const entry of entries) {
    if ((entry.flags & ENCRYPTED_FLAG) !== 0) throw xlsxFailure('password', 'encrypted ZIP entry')
    if (entry.inflatedBytes >= ZIP64_BYTES) throw xlsxFailure('tooLarge', 'a part of 4 GiB')
    compressedBytes += entry.compressedBytes
  }
  if (compressedBytes > file.length) throw xlsxFailure('damaged', 'ZIP entries share their bytes')
}

function sameContent(file: Buffer, entry: ZipEntry): Content {
  const { flags, method, checksum, inflatedBytes } = entry
  return {
    flags: flags & ~SIZES_FOLLOW_FLAG,
    method,
    checksum,
    inflatedBytes,
    data: compressedData(file, entry),
  }
}

async function deflatePieces(pieces: Iterable<Buffer>, flags: number): Promise<Content> {
  const all = [...pieces]
  const checksum = all.reduce((sum, piece) => crc32(piece, sum), 0)
  const inflatedBytes = all.reduce((sum, piece) => sum + piece.length, 0)
  const content = { flags, method: DEFLATED, checksum, inflatedBytes }
  const data = await deflate(all)
  if (await isOpened({ ...content, data })) return { ...content, data }
  // The fixed code spends at least 13 bits on 258 bytes, the most that DEFLATE can say at once: 158 to 1.
  return { ...content, data: await deflate(all, constants.Z_FIXED) }
}

async function deflate(pieces: readonly Buffer[], strategy = constants.Z_DEFAULT_STRATEGY): Promise<Buffer> {
  const compressed: Buffer[] = []
  await pipeline(pieces, createDeflateRaw({ strategy }), async (chunks: AsyncIterable<Buffer>) => {
    for await (const chunk of chunks) compressed.push(chunk)
  })
  return Buffer.concat(compressed)
}

/** Whether our own reader takes it, which does not open what is compressed too well. */
async function isOpened({ flags, method, inflatedBytes, data }: Content): Promise<boolean> {
  if (inflatedBytes <= FORGIVEN_INFLATED_BYTES) return true
  try {
    for await (const _ of inflate(data, { flags, method }));
    return true
  } catch {
    return false
  }
}

function localHeader(file: Buffer, entry: ZipEntry, content: Content): Buffer {
  const at = entry.localHeaderOffset
  const nameStart = entry.recordStart + CENTRAL_BYTES
  const name = file.subarray(nameStart, nameStart + file.readUInt16LE(entry.recordStart + 28))
  // `compressedData` has seen that the local header is there.
  if (at + LOCAL_BYTES > file.length) throw xlsxFailure('damaged', 'no ZIP local header')
  const extraStart = at + LOCAL_BYTES + file.readUInt16LE(at + 26)
  const extra = withoutZip64(file.subarray(extraStart, extraStart + file.readUInt16LE(at + 28)))
  const header = Buffer.alloc(LOCAL_BYTES)
  header.writeUInt32LE(LOCAL_SIGNATURE, 0)
  header.writeUInt16LE(Math.max(file.readUInt16LE(entry.recordStart + 6), 20), 4)
  header.writeUInt16LE(content.flags, 6)
  header.writeUInt16LE(content.method, 8)
  // Time and date, two bytes each, are those of the directory.
  file.copy(header, 10, entry.recordStart + 12, entry.recordStart + 16)
  writeSizes(header, 14, content)
  header.writeUInt16LE(name.length, 26)
  header.writeUInt16LE(extra.length, 28)
  return Buffer.concat([header, name, extra])
}

function centralRecord(file: Buffer, entry: ZipEntry, content: Content, offset: number): Buffer {
  const record = file.subarray(entry.recordStart, entry.recordEnd)
  const extraStart = CENTRAL_BYTES + record.readUInt16LE(28)
  const extraEnd = extraStart + record.readUInt16LE(30)
  const extra = withoutZip64(record.subarray(extraStart, extraEnd))
  const header = Buffer.from(record.subarray(0, CENTRAL_BYTES))
  header.writeUInt16LE(Math.max(header.readUInt16LE(6), 20), 6)
  header.writeUInt16LE(content.flags, 8)
  header.writeUInt16LE(content.method, 10)
  writeSizes(header, 16, content)
  header.writeUInt16LE(extra.length, 30)
  // The number of the disk, which may have stood in a ZIP64 field.
  header.writeUInt16LE(0, 34)
  header.writeUInt32LE(offset, 42)
  return Buffer.concat([header, record.subarray(CENTRAL_BYTES, extraStart), extra, record.subarray(extraEnd)])
}

function writeSizes(header: Buffer, at: number, { checksum, data, inflatedBytes }: Content): void {
  header.writeUInt32LE(checksum, at)
  header.writeUInt32LE(data.length, at + 4)
  header.writeUInt32LE(inflatedBytes, at + 8)
}

function withoutZip64(extra: Buffer): Buffer {
  const kept: Buffer[] = []
  for (let at = 0; at + 4 <= extra.length; ) {
    const end = at + 4 + extra.readUInt16LE(at + 2)
    if (extra.readUInt16LE(at) !== ZIP64_FIELD) kept.push(extra.subarray(at, end))
    at = end
  }
  return Buffer.concat(kept)
}

/** The archive's own comment stays. */
function endRecord(file: Buffer, count: number, directoryBytes: number, directoryOffset: number): Buffer {
  const commentStart = file.lastIndexOf(endSignature, file.length - END_BYTES) + END_BYTES
  const comment = file.subarray(commentStart, commentStart + file.readUInt16LE(commentStart - 2))
  const end = Buffer.alloc(END_BYTES)
  end.writeUInt32LE(END_SIGNATURE, 0)
  end.writeUInt16LE(count, 8)
  end.writeUInt16LE(count, 10)
  end.writeUInt32LE(directoryBytes, 12)
  end.writeUInt32LE(directoryOffset, 16)
  end.writeUInt16LE(comment.length, 20)
  return Buffer.concat([end, comment])
}

const endSignature = Buffer.alloc(4)
endSignature.writeUInt32LE(END_SIGNATURE)
