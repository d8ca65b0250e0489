import type { IncomingMessage, ServerResponse } from 'node:http'
import type { LookedBack, LookingBackWish } from '../changes/history.ts'
import type { TextPart } from '../changes/long-text.ts'
import type { Clock } from '../clock.ts'
import type { Refusal } from '../errors.ts'
import type { Compression } from '../http/compression.ts'
import type { EndAccount } from '../management/accounts/account-ending.ts'
import type { Accounts } from '../management/accounts/accounts.ts'
import type { PlanBook } from '../management/accounts/plan-book.ts'
import type { ShareUse } from '../management/accounts/share-use.ts'
import type { UsageFigures } from '../management/accounts/usage-figures.ts'
import type { AuditLog } from '../management/audit/audit-log.ts'
import type { Connections } from '../management/connections/connections.ts'
import type { Forms } from '../management/forms/forms.ts'
import type { Keys } from '../management/keys/keys.ts'
import type { Attempts } from '../management/people/attempts.ts'
import type { GoogleSignIn } from '../management/people/google-sign-in.ts'
import type { OwnerEmails } from '../management/people/owner-emails.ts'
import type { OwnerPace } from '../management/people/owner-pace.ts'
import type { Owners } from '../management/people/owners.ts'
import type { PasswordReset } from '../management/people/password-reset.ts'
import type { SignIn } from '../management/people/sign-in.ts'
import type { Connecting } from '../management/sheets/connecting.ts'
import type { SheetRecord, Sheets } from '../management/sheets/sheets.ts'
import type { Lanes, Uploads } from '../management/uploads/uploads.ts'
import type { Webhooks } from '../management/webhooks/webhooks.ts'
import type { Observe } from '../reporting/observe.ts'
import type { OwnerTurns } from './owner-api/owner-turns.ts'

export interface DashboardParts {
  signIn: SignIn
  owners: Owners
  /** What needs mail; null where the operator has not set it up. */
  byMail: { passwordReset: PasswordReset; ownerEmails: OwnerEmails } | null
  pace: OwnerPace
  turns: OwnerTurns
  attempts: Attempts
  googleSignIn: GoogleSignIn
  accounts: Accounts
  planBook: PlanBook
  sheets: Sheets
  keys: Keys
  forms: Forms
  webhooks: Webhooks
  connecting: Connecting
  connections: Connections
  kinds: { all: readonly SourceKind[] }
  /** null where files of this machine are not served. */
  uploads: Uploads | null
  lanes: Lanes
  shareUse: ShareUse
  audit: AuditLog
  usageFigures: UsageFigures
  ownerReading: OwnerReading
  exporting: Exporting
  compression: Pick<Compression, 'whole'>
  endAccount: EndAccount
  /** Whose connection it is, behind proxies that are trusted. */
  addressOf(request: IncomingMessage): string
  version: string
  /** As the first screen shows it: with what finds this server's data from another terminal. */
  operatorCommand: string
  clock: Clock
  observe: Observe
  /** Known for certain only when the server listens. */
  baseUrl(): string
}

/** Where sheets come from, as far as owners and their pages need to know. */
export interface SourceKind {
  id: string
  name: string
  title: string
  connectsBy: readonly ('consent' | 'key')[]
  canBeListed: boolean
  hasTabs: boolean
}

/** Rows for the owner who looks at a sheet of their own: no key, no quota; how often they may look is counted before. */
export interface OwnerReading {
  /** Form B's body, as JSON; `query` as the public API takes it. */
  rows(
    sheet: SheetRecord,
    isConnectionOver: boolean,
    query: string,
    acceptEncoding: string | undefined,
  ): Promise<MadeJson | Refusal>
  /** Looks at the spreadsheet first, unless that takes long: what people did is in the log then. null where none is kept. */
  history(sheet: SheetRecord, wish: LookingBackWish): Promise<LookedBack | null>
  /** JSON of which some is in the store, where it stays until it is sent. */
  inPieces(sheet: SheetRecord, parts: readonly TextPart[]): MadeJson
  /** What is known of a sheet without waiting for long; null when that is nothing. */
  shape(sheet: SheetRecord, mustAskProvider?: boolean): Promise<SheetShape | null>
  /** The cells of the first rows, but for very long ones; null where they cannot be read. */
  firstCells(sheet: SheetRecord, rows: number): Promise<SheetCells | null>
}

/** What an owner takes along, made as far as it is read. */
export interface Exporting {
  /**
   * Gathers what is to be exported when the account has no other export under way. Throws `TooManyAtOnce` where that takes too long,
   * and the reason of `left`.
   */
  begin(accountId: string, left: AbortSignal, gather: () => Promise<ExportToMake>): Promise<MadeJson>
}

export interface ExportToMake {
  /** The text of a JSON object, which is given two members more: `usage` and `changes`. */
  json: string
  /** JSON texts, some at a time. */
  usage: AsyncIterable<string[]>
  /** All that their logs have is in `changes`, by their slugs. */
  sheets: readonly SheetRecord[]
  fileName: string
}

/** JSON that was made, or will be while it is sent: it may be long, so nobody here gets it as one text. */
export interface MadeJson {
  /** `head`: names and values of headers in turn. */
  sendTo(response: ServerResponse, head: readonly string[], isHead: boolean): void
}

export interface SheetCells {
  columns: string[]
  rows: Record<string, string | number | boolean | null>[]
}

export interface SheetShape {
  columns: { name: string; type: string; example: string | number | boolean | null }[]
  rowCount: number
  /** Since the provider was last asked. */
  ageSeconds: number
}
