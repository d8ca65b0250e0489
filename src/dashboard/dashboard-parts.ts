import type { IncomingMessage } from 'node:http'
import type { Clock } from '../clock.ts'
import type { Refusal } from '../errors.ts'
import type { EndAccount } from '../management/account-ending.ts'
import type { Accounts } from '../management/accounts.ts'
import type { Attempts } from '../management/attempts.ts'
import type { Connecting } from '../management/connecting.ts'
import type { GoogleConnection } from '../management/google-connection.ts'
import type { GoogleSignIn } from '../management/google-sign-in.ts'
import type { GoogleSpreadsheets } from '../management/google-spreadsheets.ts'
import type { Keys } from '../management/keys.ts'
import type { OwnerPace } from '../management/owner-pace.ts'
import type { Owners } from '../management/owners.ts'
import type { PlanBook } from '../management/plan-book.ts'
import type { ShareUse } from '../management/share-use.ts'
import type { SheetRecord, Sheets } from '../management/sheets.ts'
import type { SignIn } from '../management/sign-in.ts'
import type { Uploads } from '../management/uploads.ts'
import type { UsageFigures } from '../management/usage-figures.ts'
import type { Observe } from '../observe.ts'

export interface DashboardParts {
  signIn: SignIn
  owners: Owners
  pace: OwnerPace
  attempts: Attempts
  googleSignIn: GoogleSignIn
  accounts: Accounts
  planBook: PlanBook
  sheets: Sheets
  keys: Keys
  connecting: Connecting
  google: GoogleConnection
  googleSpreadsheets: GoogleSpreadsheets
  /** null where files of this machine are not served. */
  uploads: Uploads | null
  shareUse: ShareUse
  usageFigures: UsageFigures
  ownerReading: OwnerReading
  endAccount: EndAccount
  /** Whose connection it is, behind proxies that are trusted. */
  addressOf(request: IncomingMessage): string
  version: string
  clock: Clock
  observe: Observe
  /** Known for certain only when the server listens. */
  baseUrl(): string
}

/** Rows for the owner who looks at a sheet of their own: no key, no quota; how often they may look is counted before. */
export interface OwnerReading {
  /** Form B's body, as JSON; `query` as the public API takes it. */
  rows(sheet: SheetRecord, isConnectionOver: boolean, query: string): Promise<string | Refusal>
  /** What is known of a sheet without waiting for long; null when that is nothing. */
  shape(sheet: SheetRecord): Promise<SheetShape | null>
  /** The OpenAPI description: of one sheet at its owner's address, or of any sheet. */
  description(of: { accountSlug: string; sheet: SheetRecord } | null): Promise<string>
}

export interface SheetShape {
  columns: { name: string; type: string }[]
  rowCount: number
}
