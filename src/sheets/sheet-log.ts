import type { LogPlace } from '../store/changes/change-log.ts'
import type { SheetRecord } from '../store/sheets/sheets.ts'
import type { LoggedChange } from './logged-change.ts'
import type { Snapshot } from './rows/snapshot.ts'
import type { Column } from './rows/table.ts'

/**
 * Where it is kept what became of rows. Whoever reads a tab takes the log's place before, and hands over the rows after: what is
 * new in them is logged then, unless something came in between.
 */
export interface SheetLog {
  /** null where no log is kept. Throws when the store is away. */
  beforeLook(record: SheetRecord): Promise<LookBegun | null>
  /**
   * The place in the log that has exactly these rows; null where there is none. Never throws. `promise` is told before where a log begins
   * with them, which takes a while: should it not come to be, that place is over for whoever goes on from it.
   */
  afterLook(
    begun: LookBegun,
    record: SheetRecord,
    rows: Snapshot,
    known: KnownRows | null,
    promise?: (place: Logged) => void,
  ): Promise<Logged | null>
  /**
   * The log's last place, if these columns and rows (their JSON text, null for a blank one) are what it says last of them; else null.
   */
  placeOf(
    record: SheetRecord,
    known: KnownRows | null,
    columns: readonly Column[],
    rows: readonly { rowNumber: number; json: string | null }[],
  ): Promise<LogPlace | null>
  /** A write that the log tells of, with all that came after it; null where it does not, or does no longer. */
  historyOf(record: SheetRecord, operationId: string): Promise<OperationHistory | null>
  /** A write was told in the log. */
  noteWritten(sheetId: string): void
}

/** What the log had before a tab was read; its insides are the log's own. */
export interface LookBegun {
  seq: number
  writeSeq: number
  /** False for rows of which nobody knows whether they are older than that: they may be recognised, and nothing else. */
  mayLog: boolean
}

export interface Logged {
  epoch: string
  seq: number
}

/** From the first change of a write on: its own changes, and those of others. */
export interface OperationHistory {
  operationId: string
  /** In order. Those of one look have the same time; where one `isFull`, it may go on in the next. */
  chunks: readonly { changes: readonly LoggedChange[]; atMs: number; isFull: boolean }[]
  /** More came after it than is gone through. */
  isCut: boolean
}

/** Rows whose place in the log is known. */
export interface KnownRows {
  snapshot: Snapshot
  logged: Logged
}

export const noLog: SheetLog = {
  beforeLook: () => Promise.resolve(null),
  afterLook: () => Promise.resolve(null),
  placeOf: () => Promise.resolve({ epoch: null, seq: 0 }),
  historyOf: () => Promise.resolve(null),
  noteWritten() {},
}
