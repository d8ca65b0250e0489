import type { CsvEnd } from './csv/csv-end.ts'
import { isStillAsPut, type PutIdentity } from './file-version.ts'

/** How the CSV files end that we have put in their places, for as long as they are there. */
export interface KnownEnds {
  note(path: string, identity: PutIdentity, end: CsvEnd | null): void
  has(path: string): boolean
  /** null where the file with this stamp is not surely the one that we put there. */
  find(path: string, stamp: string): CsvEnd | null
}

const mostKnown = 1_000

export function createKnownEnds(): KnownEnds {
  const known = new Map<string, { identity: PutIdentity; end: CsvEnd }>()
  return {
    note(path, identity, end) {
      known.delete(path)
      if (end === null) return
      if (known.size >= mostKnown) known.delete(known.keys().next().value ?? '')
      known.set(path, { identity, end })
    },
    has: (path) => known.has(path),
    find(path, stamp) {
      const put = known.get(path)
      return put && isStillAsPut(stamp, put.identity) ? put.end : null
    },
  }
}
