import type { Snapshot } from '../rows/snapshot.ts'
import type { Column } from '../rows/table.ts'

/** The tab that orders are held against. */
export interface JudgedTab {
  columns: readonly Column[]
  version: string
  /** null where only the header was read: enough for additions. */
  snapshot: Snapshot | null
}
