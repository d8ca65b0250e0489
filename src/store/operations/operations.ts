import type { ChunkToLog, FinishedChanges, LogPlace } from '../changes/change-log.ts'
import type { Lease } from '../leases/leases.ts'
import type { OperationState } from '../sql/schema.ts'

/**
 * The write journal (docs/contract.md#order-and-outcome, docs/reliability.md#the-write-journal): what is about to be
 * written at a provider, and what was answered. An operation with an idempotency key stays after its end, to be
 * replayed; one without is removed. Time is the store's own.
 */
export interface OperationStore {
  /**
   * Claims an idempotency key before anything is done, in one atomic step: of any number that ask at once, one gets
   * it. An operation that finished `keepMs` ago or earlier no longer holds its key, nor does one that was queued by an
   * instance that is gone.
   */
  claimOperation(operation: OperationToClaim, keepMs: number): Promise<StoredClaim>
  /**
   * Claims those of the keys that nobody ever held, in one statement for all; returns the ids of the operations that have theirs. The others
   * are for `claimOperation`. Claims none, and throws, where one of the sheets is gone.
   */
  claimFreeKeys(operations: readonly OperationToClaim[]): Promise<ReadonlySet<string>>
  /** What holds the key, without claiming it; null where a claim would get it. */
  findKeyedOperation(
    accountId: string,
    idempotencyKey: string,
    keepMs: number,
  ): Promise<OperationRecord | null>
  /**
   * Before the first byte leaves, all or none. Operations without an id are recorded; those with one, claimed or sent
   * before under another fence, go out under this one. Returns the ids, in the order given. Throws when one is no
   * longer open: then nothing may be sent. Nor may it when there is no room for some of the answers; however many ask at
   * once, an account never keeps more than `maxKeptBytes` of what was recorded here. Nor when the log has gone on since the
   * place that the changes come after.
   */
  beginSending(batch: Batch): Promise<string[] | NoRoom | Overtaken>
  /**
   * Applied: the answers are kept, the writes of `source` are counted (see `countWrite`) and its changes are told in the log, all
   * or none. Once told, they are not told again. Returns the number of the last change, where there is a log.
   */
  finishApplied(
    source: string,
    outcomes: readonly OperationOutcome[],
    changes?: FinishedChanges | null,
  ): Promise<number | null>
  /** Refused for good, or without anything to do: the answers are kept, and no write is counted. The first end of an operation stands, here and in `finishApplied`. */
  finishRefused(outcomes: readonly OperationOutcome[]): Promise<void>
  /** Nothing was done under their fences, and nothing will be: they wait again, and the source counts as one that nobody sends to. */
  unsendOperations(operationIds: readonly string[]): Promise<void>
  /** Nothing was done and nothing will be: their keys are free again. Finished ones are left alone. */
  dropOperations(operationIds: readonly string[]): Promise<void>
  /**
   * All that are queued or sending and that no other living instance works on, oldest first; after a crash, what the
   * dead process left.
   */
  unfinishedOperations(): Promise<OperationRecord[]>
  /** Those unfinished operations that instances left which are gone. */
  abandonedOperations(): Promise<OperationRecord[]>
  /** What instances that are gone had queued, they will never send: those keys are free again. */
  freeAbandonedKeys(): Promise<void>
  /** All of one source that are being sent, whoever sends them, oldest first. */
  sendingOperations(source: string): Promise<OperationRecord[]>
  /** What an account keeps for its keys, for `keepMs` each, as it is counted. Never less than there is, and up to an hour longer. */
  keptAnswers(accountId: string, keepMs: number): Promise<KeptAnswers>
  /** Those that finished longer ago than that, a few at a time. Returns how many went. */
  forgetOldOperations(finishedForMs: number): Promise<number>
}

export interface KeptAnswers {
  bytes: number
  /** Until some of it no longer counts; 0 where there is nothing. */
  roomInMs: number
}

export interface OperationToClaim {
  /** Chosen by whoever claims: one who never heard the answer can give it back all the same. */
  id: string
  accountId: string
  sheetId: string
  source: string
  idempotencyKey: string
  fingerprint: string
}

/** `claimed` is the id of the new operation. */
export type StoredClaim = { claimed: string } | { existing: OperationRecord }

export interface Batch {
  source: string
  /** Where instances share the source: what says that it is this one's turn there. Lost, nothing is recorded. */
  lease?: Lease | null
  fence: string
  place: string
  operations: readonly OperationToSend[]
  /** What the log will tell if it is applied: kept behind its head until then. null = there is no log. */
  changes?: ChangesToSend | null
  /** What one account may keep; absent = anything. */
  keeping?: { maxKeptBytes: number; keepMs: number }
}

/** Nothing was recorded: these, by their place in the batch, are more than their account may keep. */
export interface NoRoom {
  noRoomAt: readonly number[]
  roomInMs: number
}

/** Nothing was recorded: the log has gone on. */
export interface Overtaken {
  isOvertaken: true
}

export interface ChangesToSend {
  sheetId: string
  accountId: string
  /** In the order of the log. */
  chunks: readonly ChunkToLog[]
  /** The key column by which rows are told, '' for none. */
  identity: string
  /** False while row numbers are a guess. */
  isPlaced: boolean
  /** The place in the log that has the rows as they were judged; null = nobody knows, and it is told with the next look. */
  after: LogPlace | null
}

export interface OperationToSend {
  /** null = not recorded yet. */
  id: string | null
  accountId: string
  sheetId: string
  answer: string
  /** Bytes of its account's room that must be left over. */
  leavesBytes?: number
}

export interface OperationOutcome {
  id: string
  /** null = the one that was recorded when it was sent. */
  answer: string | null
}

/**
 * What one operation is counted for beside its answer: the row, its key of up to 255 characters, and its places in the
 * indexes.
 */
export const keptRowBytes = 1_000

export interface OperationRecord {
  id: string
  accountId: string
  sheetId: string
  source: string
  idempotencyKey: string | null
  fingerprint: string | null
  state: OperationState
  fence: string | null
  place: string | null
  answer: string | null
  /** Since it was claimed or recorded, by the store's clock. */
  ageMs: number
}
