/**
 * The logs of what became of rows (docs/decisions/032): changes numbered from 1 on, those that were made together in one chunk, and the
 * rows as they were after one of them. What a change says is a text that the store does not look into.
 */
export interface ChangeLogStore {
  /**
   * Where a log stands, and the sheet with it: taken before a tab is read, it is what `logSeen` holds against. null for a sheet
   * that keeps none, or that is gone.
   */
  changeLogOf(sheetId: string): Promise<LogPosition | null>
  /** The rows after the change `stateSeq`, and the changes since. */
  loggedState(sheetId: string): Promise<{ state: string[]; stateSeq: number } | null>
  /**
   * Chunks with changes after this one, oldest first, whole ones, until they have so many bytes; at least one where there is any. None that begins
   * after `upToSeq`. The entries of long ones stay where they are.
   */
  loggedChanges(sheetId: string, afterSeq: number, maxBytes: number, upToSeq?: number): Promise<ChangeChunk[]>
  /** The first chunk that has changes of a write; null where there is none, or where not all that there were are kept. */
  chunkOfOperation(sheetId: string, operationId: string): Promise<ChangeChunk | null>
  /**
   * What a look found, all of it or nothing: nothing where another change was logged since `position` was taken ('overtaken'), or where a
   * write was finished or is being sent, which the rows may have or not ('writing'). Returns the number of the last change.
   */
  logSeen(seen: SeenChanges): Promise<number | 'overtaken' | 'writing'>
  /** The rows after the last change, where that is still the last one, have this hash. */
  noteContent(sheetId: string, place: LogPlace, contentHash: string): Promise<void>
  /** There is a difference that could not be logged, because of writes: until the next look that is. */
  wantLook(sheetId: string): Promise<void>
  /**
   * Forgets changes that are older than their sheet keeps them, a few at a time, and the oldest of accounts that keep more than
   * `maxAccountBytes`.
   */
  forgetOldChanges(maxAccountBytes: number): Promise<ForgottenChanges>
  /** What an account keeps of changes, and of the rows that they are told from. */
  keptChangesBytes(accountId: string): Promise<number>
}

export interface ForgottenChanges {
  chunks: number
  /** The ids of accounts that lost some before their time. */
  accountsOverShare: string[]
}

export interface LogPosition {
  /** null where nothing was logged yet, as are all zeros below. */
  epoch: string | null
  head: number
  floor: number
  stateSeq: number | null
  stateBytes: number
  sinceStateBytes: number
  /** The key column of what was logged, '' for none. */
  identity: string
  isBroken: boolean
  /** The hash of the rows as they are after the last change; null where that is not known. */
  contentHash: string | null
  unplaced: string | null
  /** For how long a difference is known that could not be logged, because of writes; null where there is none. */
  lookWantedForMs: number | null
  writeSeq: number
}

/** The last change that was logged before something; `epoch` is null where nothing was logged yet. */
export interface LogPlace {
  epoch: string | null
  seq: number
}

export interface ChunkToLog {
  /** JSON, opaque here; or packed already, where `textBytes` says how much JSON it was. */
  entries: string
  textBytes?: number
  count: number
  /** A time of day. */
  atMs: number
  /** The writes that its changes are of, by which it is found again. */
  operations?: readonly string[]
}

export interface ChangeChunk {
  firstSeq: number
  lastSeq: number
  atMs: number
  entries: string | LongEntries
}

/** JSON that is too long to be taken out of the store in one go: a part at a time. */
export interface LongEntries {
  /** How many it is as UTF-8. */
  bytes: number
  /** Throws `GoneMeanwhile` where it was forgotten. */
  slice(from: number, bytes: number): Promise<Uint8Array>
}

export function lengthOfEntries({ entries }: Pick<ChangeChunk, 'entries'>): number {
  return typeof entries === 'string' ? entries.length : entries.bytes
}

export interface SeenChanges {
  sheetId: string
  accountId: string
  source: string
  position: LogPosition
  chunks: readonly ChunkToLog[]
  identity: string
  /** The rows as they were seen, in pieces; null = the former ones and the changes are enough. */
  state: readonly string[] | null
  /** That of all rows as they were seen. */
  contentHash: string
  /** What the log is called where it begins with these rows, and nowhere else: whoever was shown them knows it already. */
  firstEpoch?: string
}

/** What became of the changes of a batch, which `beginSending` has put behind the head. */
export type FinishedChanges = {
  sheetId: string
} /** `textBytes`: what they would take if they were not packed, for whoever knows it still. */ & (
  | { outcome: 'as_begun'; textBytes?: number }
  /** Where row numbers turned out to be others: these instead. */
  | { outcome: 'placed'; chunks: readonly ChunkToLog[] }
  /** Nobody knows where they are: the next look does. `entries`: what they turned out to be, where that is not what was begun. */
  | { outcome: 'unplaced'; entries?: string }
)
