import { webcrypto } from 'node:crypto'
import type { BigIntStats } from 'node:fs'

/** Kernels stamp times in ticks of up to 10 ms: two edits within one could look like one. */
const unsettledMs = 100
const nsPerMs = 1_000_000n
/** The least that a number of seconds since 1970 can tell apart is a quarter of it. */
const aMomentNs = 1_000n
const hashMark = '~'
/**
 * All that waits for a disk, hashes or compresses beside the main thread goes through four threads of the process. What
 * is read or hashed there in one go keeps one of them from everybody else for as long as it takes.
 */
export const maxPieceBytes = 1024 * 1024

/** Changes with every edit, replacement or rename over the file that the file system can tell. */
export function stampOf({ dev, ino, size, mtimeNs, ctimeNs }: BigIntStats): string {
  return [dev, ino, size, mtimeNs, ctimeNs].join('.')
}

/** How long the file was. */
export function bytesIn(stamp: string): number {
  return Number(stamp.split('.')[2])
}

/** Whether a later change must show in the stamp: the last one is long enough ago, or was told apart from being written. */
export function isSettled(file: BigIntStats, nowMs: number): boolean {
  return nowMs - Number(file.ctimeMs) > unsettledMs || wasWrittenEarlier(file)
}

/**
 * Whoever writes to a file sets both of its times to the present. Where something else was done to it after it was written (it was renamed, as
 * ours are), the present is past the time at which it was written, and so any later write gives it another one. Not where
 * times are cut to whole milliseconds or seconds: those would hide it.
 */
function wasWrittenEarlier({ mtimeNs, ctimeNs }: Pick<BigIntStats, 'mtimeNs' | 'ctimeNs'>): boolean {
  return mtimeNs < ctimeNs && mtimeNs % nsPerMs !== 0n
}

/** What tells a file that we put in its place from any other, and that nobody has written to it since. */
export type PutIdentity = Pick<BigIntStats, 'dev' | 'ino' | 'size' | 'mtimeNs'>

/** Whether a file with this stamp surely is the one that we put there, with all of its bytes. */
export function isStillAsPut(stamp: string, { dev, ino, size, mtimeNs }: PutIdentity): boolean {
  const ctime = stamp.split('.').at(-1) ?? ''
  const ctimeNs = BigInt(ctime)
  return stamp === [dev, ino, size, mtimeNs, ctime].join('.') && wasWrittenEarlier({ mtimeNs, ctimeNs })
}

/** The time, in seconds, to say that a file was written at, so that it is earlier than all that is done to it from now on. */
export function justBefore({ mtimeNs }: Pick<BigIntStats, 'mtimeNs'>): number {
  return Number(mtimeNs - aMomentNs) / 1e9
}

/** The stamp alone, or, while a further change could hide behind it, with what the bytes are. */
export async function versionOf(stamp: string, bytes: Uint8Array, isSettled: boolean): Promise<string> {
  return isSettled ? stamp : stamp + hashMark + (await hashOf(bytes))
}

/** The stamp, if it alone says that the file is the same; null where the bytes must be looked at. */
export function stampThatSuffices(version: string): string | null {
  return version.includes(hashMark) ? null : version
}

/** What the file system said when this version was taken. */
export function stampIn(version: string): string {
  return version.split(hashMark, 1)[0] ?? ''
}

/** Whether a file with this stamp and these bytes is the one that a version names. */
export async function isOfVersion(version: string, stamp: string, bytes: Uint8Array): Promise<boolean> {
  const [itsStamp, itsHash] = version.split(hashMark, 2)
  if (itsStamp !== stamp) return false
  return itsHash === undefined || itsHash === (await hashOf(bytes))
}

/** A hash of the hashes of its pieces. Not `hash`: the file may be large, and this one runs beside the main thread. */
async function hashOf(bytes: Uint8Array): Promise<string> {
  const hashes: Buffer[] = []
  for (let at = 0; at < bytes.byteLength; at += maxPieceBytes) {
    hashes.push(await digest(bytes.subarray(at, at + maxPieceBytes)))
  }
  return (await digest(Buffer.concat(hashes))).toString('base64url')
}

async function digest(bytes: Uint8Array): Promise<Buffer> {
  return Buffer.from(await webcrypto.subtle.digest('SHA-256', bytes as Uint8Array<ArrayBuffer>))
}
