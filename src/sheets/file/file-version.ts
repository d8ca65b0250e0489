import type { BigIntStats } from 'node:fs'

/** Kernels stamp times in ticks of up to 10 ms: two edits within one could look like one. */
const unsettledMs = 100

/** Changes with every edit, replacement or rename over the file that the file system can tell. */
export function versionOf({ dev, ino, size, mtimeNs, ctimeNs }: BigIntStats): string {
  return [dev, ino, size, mtimeNs, ctimeNs].join('.')
}

/** Whether the last change is long enough ago that a later one must show in the version. */
export function isSettled({ ctimeMs }: BigIntStats, nowMs: number): boolean {
  return nowMs - Number(ctimeMs) > unsettledMs
}
