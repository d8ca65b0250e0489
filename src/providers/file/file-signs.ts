import type { FileHandle } from 'node:fs/promises'
import type { FileKind } from './file-location.ts'
import { openFile } from './open-file.ts'

/** What is remembered of a version that was whole, to hold the next one against. */
export interface WholeFile {
  size: number
  endsWithLineEnd: boolean
  /** Its last bytes: they stay where they are when somebody only appends. */
  lastBytes: Buffer
}

/** What the bytes of a file say about whether somebody is in the middle of writing it. */
export interface FileSigns {
  /** It is empty, or shorter than it was, or ends in the middle of something. */
  isSuspect: boolean
  /** It has grown, and the end of what was there is still in its place. */
  isAppended: boolean
}

const rememberedBytes = 64
const lineEnds = [0x0a, 0x0d]
const zipEnd = Buffer.from('PK\x05\x06', 'latin1')
/** Its end record and the longest comment after it. */
const zipEndBytes = 22 + 65_535

/** `bytes`: all of it, or, of a file of this size, its end. */
export function rememberWhole(bytes: Uint8Array, size: number = bytes.byteLength): WholeFile {
  return {
    size,
    endsWithLineEnd: lineEnds.includes(bytes.at(-1) ?? 0),
    // A copy: it must not keep the whole file in memory.
    lastBytes: Buffer.from(bytes.subarray(Math.max(0, bytes.byteLength - rememberedBytes))),
  }
}

export async function readSigns(
  path: string,
  size: number,
  kind: FileKind | null,
  former: WholeFile | null,
): Promise<FileSigns> {
  if (size === 0) return { isSuspect: true, isAppended: false }
  await using file = await openFile(path)
  if (kind === 'xlsx' || kind === 'ods') {
    // A workbook may well become shorter. What is whole ends with the directory of its parts.
    const end = await bytesAt(file, Math.max(0, size - zipEndBytes), Math.min(size, zipEndBytes))
    return { isSuspect: !end.includes(zipEnd), isAppended: false }
  }
  if (!former) return { isSuspect: false, isAppended: false }
  const [last] = await bytesAt(file, size - 1, 1)
  const isCut = former.endsWithLineEnd && !lineEnds.includes(last ?? 0)
  const { lastBytes } = former
  const sameBytes = await bytesAt(file, former.size - lastBytes.length, lastBytes.length)
  const isAppended = size > former.size && sameBytes.equals(lastBytes)
  return { isSuspect: size < former.size || isCut, isAppended }
}

async function bytesAt(file: FileHandle, position: number, length: number): Promise<Buffer> {
  const { buffer, bytesRead } = await file.read(Buffer.alloc(length), 0, length, position)
  return buffer.subarray(0, bytesRead)
}
