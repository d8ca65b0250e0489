import type { ErrorCode, Refusal, RefusalFacts } from '../../errors.ts'
import type { SheetFacts } from '../../store/admission/admission-facts.ts'
import type { RowInput } from '../rows/row-input.ts'

/** What a client asks to have written: parsed, admitted, and not yet held against the sheet. */
export interface WriteOrder {
  sheet: Pick<SheetFacts, 'id' | 'writeSeq'>
  accountId: string
  wish: Wish
  /** The operation that its idempotency key was claimed for; null without a key. */
  claim: string | null
  /** Length of the body, for the limits on what may wait. */
  bytes: number
  /** Asked again right before anything is sent: a key may have been revoked while the order waited. */
  stillAdmitted(): Promise<Refusal | null>
}

export type Wish = Addition | Update | Deletion

export interface Addition {
  kind: 'add'
  rows: readonly RowInput[]
}

export interface Update {
  kind: 'update'
  rowNumber: number
  row: RowInput
  isRowAsExpected: Precondition | null
}

export interface Deletion {
  kind: 'delete'
  rowNumber: number
  isRowAsExpected: Precondition | null
}

/** `If-Match`, judged on the row as it is when its turn comes. */
export type Precondition = (rowNumber: number, rowJson: string) => boolean

/** What was done, without the form in which a client is told: a replay may be asked for in the other one. */
export type WriteAnswer = WhatWasDone & {
  /** A sentence for the client where what was done is not quite what it asked for. */
  warning?: string
  /** The columns of the row whose results of formulas are outdated. */
  staleKeys?: string[]
}

/** What is said of a place without conditional writes. */
export const movedWarning =
  'The columns of the spreadsheet were changed while this was written. Compare the row as it stands now with what was sent.'

type WhatWasDone =
  /** `rowNumbers` is empty where they cannot be told for certain. */
  | { kind: 'added'; rowNumbers: number[]; rowsJson: string[] }
  | { kind: 'updated'; rowNumber: number; rowJson: string }
  /** The row as it was. */
  | { kind: 'deleted'; rowNumber: number; rowJson: string }

/** A refusal in the journal. */
export interface RefusedAnswer {
  kind: 'refused'
  code: ErrorCode
  facts: RefusalFacts
}
