import type { ErrorCode, Refusal, RefusalFacts } from '../../errors.ts'
import { type Taker, visitorsOf } from '../../shares/taker.ts'
import type { SheetFacts } from '../../store/admission/admission-facts.ts'
import type { Query } from '../rows/query/query.ts'
import type { GivenCell, RowInput } from '../rows/row-input.ts'
import type { Column } from '../rows/table.ts'

/** What a client asks to have written: parsed, admitted, and not yet held against the sheet. */
export interface WriteOrder {
  sheet: Pick<SheetFacts, 'id' | 'writeSeq'> & { keyColumn?: string | null }
  accountId: string
  /** Sent without a secret key: by a form, or with a key that stands in a page. */
  isForVisitors?: boolean
  wish: Wish
  /** The operation that its idempotency key was claimed for; null without a key. */
  claim: string | null
  /** How long the claim took: the write has so much less time. */
  waitedMs?: number
  /** Names the write for ever: its claim where it has one. Given when it enters. */
  operationId?: string
  /** The id of the key that it came with. */
  by?: string | null
  /** Length of the body, for the limits on what may wait. */
  bytes: number
  /** Only to be told what would be done: nothing is sent, and nothing remembered. */
  isDryRun?: boolean
  /** Resolves when a response was made of its answer, or never will be. */
  whenTold?: Promise<void>
  /** Asked again right before anything is sent: a key may have been revoked while the order waited. */
  stillAdmitted(): Promise<Refusal | null>
}

/** In whose turns and share it is done. */
export function takerOfOrder({
  accountId,
  isForVisitors,
}: Pick<WriteOrder, 'accountId' | 'isForVisitors'>): Taker {
  return isForVisitors ? visitorsOf(accountId) : accountId
}

export type Wish = Addition | Update | Deletion | Upsert | ManyUpdate | ManyDeletion | Undo

/** Takes an earlier write back as a whole, if all its rows are as it left them. */
export interface Undo {
  kind: 'undo'
  undoneId: string
}

export interface Addition {
  kind: 'add'
  rows: readonly RowInput[]
  /** For those who may not fill every column; null for those who may. */
  bounds?: AdditionBounds | null
}

/** What may be added by somebody who does not know all of the sheet. Held against the header when its turn comes. */
export interface AdditionBounds {
  of(columns: readonly Column[]): BoundedColumns | Refusal
}

export interface BoundedColumns {
  /** The others do not exist, also not in what a refusal says. */
  writable: readonly Column[]
  /** Stands in every row, whatever was sent. */
  always: readonly GivenCell[]
  /** Whether it may be told what the sheet's key column makes of the row. */
  mayHearOfKeys: boolean
}

export type Update = RowTarget & {
  kind: 'update'
  row: RowInput
  isRowAsExpected: Precondition | null
}

export type Deletion = RowTarget & {
  kind: 'delete'
  isRowAsExpected: Precondition | null
}

/** A row by its number, or by what it holds when its turn comes. */
export type RowTarget = { rowNumber: number; named?: undefined } | { rowNumber?: undefined; named: NamedRow }

/** The one row whose cell in a column equals a value. */
export interface NamedRow {
  /** Its position among the columns; a refusal where the sheet has none of that name. */
  columnIn(columns: readonly Column[]): number | Refusal
  value: string
}

/** Adds rows whose value in a column is not there yet, and changes those whose is. */
export interface Upsert {
  kind: 'upsert'
  columnIn(columns: readonly Column[]): number | Refusal
  rows: readonly RowInput[]
  /** `skip`: what is there stays as it is. */
  onMatch: 'change' | 'skip'
  isSheetAsExpected: SheetPrecondition | null
}

export interface ManyUpdate {
  kind: 'update_many'
  choice: RowsChoice
  row: RowInput
  isSheetAsExpected: SheetPrecondition | null
}

export interface ManyDeletion {
  kind: 'delete_many'
  choice: RowsChoice
  isSheetAsExpected: SheetPrecondition | null
}

/** All rows that filters and a search leave. */
export interface RowsChoice {
  queryOn(columns: readonly Column[]): Pick<Query, 'filters' | 'search'> | Refusal
  /** If there are more, nothing is done. */
  maxRows: number
}

/** `If-Match`, judged on the row as it is when its turn comes. */
export type Precondition = (rowNumber: number, rowJson: string) => boolean

/** A write about many rows asks that the ETag of the list still hold. */
export type SheetPrecondition = (contentHash: string) => boolean

/** What was done, without the form in which a client is told: a replay may be asked for in the other one. */
export type WriteAnswer = WhatWasDone & {
  operationId?: string
  /** A sentence for the client where what was done is not quite what it asked for. */
  warning?: string
  /** Outdated results of formulas in the rows of the answer. */
  stale?: StaleRows[]
  /** Nothing was done: it is what would be. */
  isDryRun?: true
}

/** What is said of a place without conditional writes. */
export const movedWarning =
  'The columns of the spreadsheet were changed while this was written. Compare the row as it stands now with what was sent.'

/** The warning about rows that were found by what they hold. */
export const racedWarning =
  'Somebody moved or changed rows of the spreadsheet in the moment of this write, and it may have hit another row than the one that was meant. Compare the rows as they stand now.'

/** A column, and the numbers of the rows whose result there is outdated. */
export interface StaleRows {
  key: string
  rowNumbers: number[]
}

export type WhatWasDone =
  /** `rowNumbers` is empty where they cannot be told for certain. */
  | { kind: 'added'; rowNumbers: number[]; rowsJson: string[] }
  | { kind: 'updated'; rowNumber: number; rowJson: string }
  /** The row as it was. */
  | { kind: 'deleted'; rowNumber: number; rowJson: string }
  | { kind: 'upserted'; rows: UpsertedRow[] }
  /** Rows as they are now, or as they were. */
  | { kind: 'many_updated' | 'many_deleted'; rowNumbers: number[]; rowsJson: string[] }

  /** What became of rows when another write was taken back. */
  | { kind: 'undone'; undoneId: string; changes: UndoneChange[] }

export interface UndoneChange {
  kind: 'added' | 'updated' | 'deleted'
  /** As it is numbered afterwards; of a row that is gone, as it was before. */
  rowNumber: number
  beforeJson: string | null
  afterJson: string | null
}

export interface UpsertedRow {
  was: 'added' | 'updated' | 'unchanged'
  /** null where it cannot be told for certain. */
  rowNumber: number | null
  rowJson: string
}

/** A refusal in the journal. */
export interface RefusedAnswer {
  kind: 'refused'
  code: ErrorCode
  facts: RefusalFacts
}

/** With the name of the write. */
export function withOperationId(
  answer: WriteAnswer,
  { operationId }: Pick<WriteOrder, 'operationId'>,
): WriteAnswer {
  return operationId === undefined ? answer : { ...answer, operationId }
}
