import { createOneAfterAnother } from '../shares/one-after-another.ts'
import type { Soon } from '../soon.ts'
import type { LongEntries } from '../store/changes/change-log.ts'
import { type ReadEntries, type ReadLongEntries, readLong } from './read-entries.ts'

/**
 * What is in long chunks of logs, but for their longest texts. To find out takes some ten milliseconds, however little of it is wanted,
 * so it is kept for a while, and done for one page of an account after the other.
 */
export interface LongChunks {
  /** `name`: equal for chunks that are. */
  read(
    name: string,
    entries: LongEntries,
    accountId: string,
    nextTurn: () => Soon<void>,
  ): Promise<ReadEntries>
}

const mostKept = 64
/** It is memory that nobody counts. */
const mostKeptBytes = 64 * 1024

export function createLongChunks(): LongChunks {
  const kept = new Map<string, ReadEntries>()
  const pages = createOneAfterAnother()

  return {
    read(name, entries, accountId, nextTurn) {
      return pages.whenItsTurnComes(accountId, async () => {
        const known = kept.get(name)
        if (known) return known
        const made = await readLong(entries, nextTurn)
        keep(name, made)
        return made
      })
    },
  }

  function keep(name: string, made: ReadLongEntries): void {
    if (made.parsedBytes > mostKeptBytes) return
    kept.set(name, made)
    const [oldest = ''] = kept.keys()
    if (kept.size > mostKept) kept.delete(oldest)
  }
}
