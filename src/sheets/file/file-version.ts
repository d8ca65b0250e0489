import { webcrypto } from 'node:crypto'
import type { BigIntStats } from 'node:fs'

/** Kernels stamp times in ticks of up to 10 ms: two edits within one could look like one. */
const unsettledMs = 100
const hashMark = '~'

/** Changes with every edit, replacement or rename over the file that the file system can tell. */
export function stampOf({ dev, ino, size, mtimeNs, ctimeNs }: BigIntStats): string {
  return [dev, ino, size, mtimeNs, ctimeNs].join('.')
}

/** Whether the last change is long enough ago that a later one must show in the stamp. */
export function isSettled({ ctimeMs }: BigIntStats, nowMs: number): boolean {
  return nowMs - Number(ctimeMs) > unsettledMs
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

/** Not `hash`: the file may be large, and this one runs beside the main thread. */
async function hashOf(bytes: Uint8Array): Promise<string> {
  const digest = await webcrypto.subtle.digest('SHA-256', bytes as Uint8Array<ArrayBuffer>)
  return Buffer.from(digest).toString('base64url')
}
