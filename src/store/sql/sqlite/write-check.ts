import type { DatabaseSync } from 'node:sqlite'
import { StoreUnwritable } from '../../../errors.ts'
import { freeSpace } from '../../../free-space.ts'

/** Reasons not to write, by SQLite's primary result code, https://sqlite.org/rescode.html */
const reasons: Record<number, string> = {
  8: 'writing there is not allowed',
  10: 'the disk reports an error',
  13: 'the disk is full',
}

/** What the log of changes grows by at a time, and a little more: with less, the next write may be the one that fails. */
const leastFreeBytes = 128 * 1024

/** Whether an embedded store takes writes. */
export interface WriteCheck {
  /** For what every failed statement says. */
  noteRefusal(error: unknown): void
  /** `alone`: where the connection is in nobody else's transaction. */
  checkWritable(alone: (work: () => void) => Promise<void>): Promise<void>
}

/**
 * A write that is rolled back would say nothing: SQLite keeps it in memory until it is committed. And one that is
 * committed may fit into what the log of changes has on disk already, although there is no room for the next. So the
 * disk is asked for its room first.
 */
export function createWriteCheck(writer: DatabaseSync, folder: string): WriteCheck {
  let wasRefused = false

  return {
    noteRefusal(error) {
      if (reasonOf(error)) wasRefused = true
    },
    async checkWritable(alone) {
      const freeBytes = await freeSpace(folder)
      if (freeBytes !== null && freeBytes < leastFreeBytes) throw new StoreUnwritable('the disk is full')
      if (wasRefused) await alone(tryAgain)
    },
  }

  function tryAgain(): void {
    try {
      const { user_version } = writer.prepare('pragma user_version').get() ?? {}
      writer.exec(`pragma user_version = ${Number(user_version)}`)
      wasRefused = false
    } catch (error) {
      throw new StoreUnwritable(reasonOf(error) ?? 'SQLite refused', error)
    }
  }
}

/** Says the reason in words; undefined for what has nothing to do with the disk. */
export function reasonOf(error: unknown): string | undefined {
  return error instanceof Error && 'errcode' in error ? reasons[Number(error.errcode) & 0xff] : undefined
}
