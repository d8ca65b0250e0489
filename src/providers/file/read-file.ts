import type { FileHandle } from 'node:fs/promises'
import { ProviderFailure } from '../../sheets/provider-failure.ts'
import { isOfVersion, isSettled, maxPieceBytes, stampOf, versionOf } from './file-version.ts'
import { type IsPrivate, openFile } from './open-file.ts'

/** A file beyond this is refused before it is read. */
const maxFileBytes = 512 * 1024 * 1024
/** A file may be written to while we read it; then its stamp moved, and we read again, so often. */
const maxAttempts = 5

export interface ReadFile {
  bytes: Uint8Array
  version: string
}

/** The whole file as it was at one moment, or 'unchanged' when it surely still is the known version. */
export async function readFile(
  path: string,
  knownVersion: string | null,
  isPrivate?: IsPrivate,
): Promise<ReadFile | 'unchanged'> {
  const { bytes, stamp, isOld } = await readStamped(path, knownVersion, isPrivate)
  if (!bytes) return 'unchanged'
  const version = await versionOf(stamp, bytes, isOld)
  return version === knownVersion ? 'unchanged' : { bytes, version }
}

/** The bytes and the stamp that they were read under, if the file still is this version; else null. */
export async function readIfVersion(
  path: string,
  version: string,
  isPrivate?: IsPrivate,
): Promise<{ bytes: Uint8Array; stamp: string } | null> {
  const { bytes, stamp } = await readStamped(path, null, isPrivate)
  return bytes && (await isOfVersion(version, stamp, bytes)) ? { bytes, stamp } : null
}

interface Stamped {
  /** null when the stamp is the known version. */
  bytes: Uint8Array | null
  stamp: string
  isOld: boolean
}

async function readStamped(
  path: string,
  knownVersion: string | null,
  isPrivate?: IsPrivate,
): Promise<Stamped> {
  await using file = await openFile(path, isPrivate)
  // One for all attempts: what was read in vain would stay in memory until somebody collects it.
  let room = Buffer.alloc(0)
  for (let attempt = 1; attempt <= maxAttempts; attempt++) {
    const before = await checkedStat(file)
    const stamp = stampOf(before)
    const isOld = isSettled(before, Date.now())
    // A version without a hash was taken of a settled file: any change since would show.
    if (stamp === knownVersion) return { bytes: null, stamp, isOld }
    const size = Number(before.size)
    if (room.byteLength !== size) room = Buffer.allocUnsafeSlow(size)
    const bytes = await readBytes(file, room)
    const isWhole = bytes.byteLength === size
    if (isWhole && stampOf(await checkedStat(file)) === stamp) return { bytes, stamp, isOld }
  }
  throw new ProviderFailure('the file keeps changing while it is read')
}

async function checkedStat(file: FileHandle) {
  const stat = await file.stat({ bigint: true })
  if (stat.isDirectory()) throw new ProviderFailure('the path is a folder, not a file')
  if (!stat.isFile()) throw new ProviderFailure('the path is not a file')
  if (stat.size > maxFileBytes)
    throw new ProviderFailure(`the file is larger than ${maxFileBytes / 1024 / 1024} MiB`)
  return stat
}

async function readBytes(file: FileHandle, bytes: Buffer): Promise<Uint8Array> {
  const size = bytes.byteLength
  let length = 0
  while (length < size) {
    const pieceBytes = Math.min(size - length, maxPieceBytes)
    const { bytesRead } = await file.read(bytes, length, pieceBytes, length)
    if (bytesRead === 0) break
    length += bytesRead
  }
  return bytes.subarray(0, length)
}
