import type { Cell } from '../../sheets/rows/grid.ts'
import type { CsvEnd } from './csv/csv-end.ts'
import { isStillAsPut, type PutIdentity } from './file-version.ts'

/** What is known of tabs in files that we have put in their places, for as long as those are there. */
export interface KnownFiles {
  /** `location` as the store has it: one file may have many tabs. null: nothing is known of it. */
  note(location: string, identity: PutIdentity, known: KnownFile | null): void
  has(location: string): boolean
  /** null where the file with this stamp is not surely the one that we put there. */
  find(location: string, stamp: string): KnownFile | null
}

/** What additions need to know. */
export interface KnownFile {
  /** Row 1 as it is read. */
  header: readonly Cell[]
  /** Where new rows only have to be written behind the last byte. */
  end?: CsvEnd
}

const mostKnown = 1_000

export function createKnownFiles(): KnownFiles {
  const files = new Map<string, { identity: PutIdentity; known: KnownFile }>()
  return {
    note(location, identity, known) {
      files.delete(location)
      if (known === null) return
      if (files.size >= mostKnown) files.delete(files.keys().next().value ?? '')
      files.set(location, { identity, known })
    },
    has: (location) => files.has(location),
    find(location, stamp) {
      const put = files.get(location)
      return put && isStillAsPut(stamp, put.identity) ? put.known : null
    },
  }
}
