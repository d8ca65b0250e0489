import type { ShownCaptcha, ShownField } from '../http/form-markup.ts'
import type { LosingShare } from '../shares/shares.ts'

/**
 * What the dashboard's pages and the owner's API say to each other: types and nothing else, for `web/` imports this file and
 * `owner-verbs.ts`, which has every path with what it takes and answers. Times are Unix milliseconds.
 *
 * A refusal is `{ error: { code, message, field? } }` with status 400 (the input), 401 (not signed in), 403 (another
 * site asked, or see RecentSignInRequired), 404, 409 (taken), 429 (too often, `Retry-After`), 502 (the provider) or 503 (the store).
 *
 * An account may ask so often in a minute (`owner_requests_per_minute`), a network where nobody is signed in as often; rows as
 * often as the plan's requests. Signing out, revoking a key and pausing a sheet are possible also when that is used up.
 */
export interface ApiRefusal {
  error: { code: string; message: string; field?: string }
}

/**
 * The `code` of a 403 to what ends something for good (a sheet, a connection, the account), gives a key another value or
 * sets the first password, when the sign-in is older than 15 minutes. POST /confirm { password }, or sign in again in any other way; then
 * ask again. Changing a password needs the current one, which is as good.
 */
export type RecentSignInRequired = 'recent_sign_in_required'

/** 401 when nobody is signed in; 200 also tells what this server offers. */
export interface SessionView {
  account: AccountView
  owner: OwnerView
  signedInAtMs: number
  server: ServerView
}

export interface OwnerView {
  email: string | null
  isEmailVerified: boolean
  /** Whether they hear of trouble by mail, once the address is verified. */
  wantsAlerts: boolean
  hasPassword: boolean
  /** "Continue with Google" opens this account. */
  hasGoogle: boolean
}

/** What this server offers, for the pages before signing in. */
export interface ServerView {
  baseUrl: string
  version: string
  /** "Continue with Google". */
  hasGoogle: boolean
  /** Only the embedded default serves local files. */
  hasFiles: boolean
  /** Where sheets can come from, each with the words that only it can have. */
  sources: SourceView[]
  canSignUp: boolean
  /** Passwords can be reset and addresses verified by mail, and owners hear of trouble. */
  hasMail: boolean
  /** How the operator's commands begin here. */
  operatorCommand: string
}

export interface SourceView {
  provider: string
  /** In sentences: "Google". */
  name: string
  /** As a choice: "Google Sheets". */
  title: string
  /** False where the operator has not set it up. */
  isOffered: boolean
  canBeListed: boolean
  hasTabs: boolean
  /** null where nobody has to let Rowport in: files. */
  connection: {
    /** How owners can let Rowport in here; empty where it is not offered. */
    ways: readonly ('consent' | 'key')[]
    /** Whether what is open to everybody with its link can be read without connecting, and only read. */
    readsPublic: boolean
    /** What this server does not do there; null where it does everything. */
    switchedOff: SwitchedOffView | null
    /** What the operator must do, where it is not offered. */
    notSetUp: string
    /** What is pasted and not searched for: the source of a regular expression. */
    linkPattern: string
    /** What a provider that takes a key asks for. */
    key: { name: string; label: string; hint: string; isFile: boolean } | null
  } | null
}

/** All in sentences. */
export interface SwitchedOffView {
  /** The most that is not done: where nothing is read, nothing is written either. */
  what: string
  /** What that means for requests. */
  means: string
  whatHelps: string[]
  /** What was found, one for each reason. */
  why: string[]
}

export interface AccountView {
  id: string
  slug: string
  createdAtMs: number
  plan: PlanView
  allPlans: PlanView[]
}

export interface PlanView {
  name: string
  requestsPerMinute: number | null
  requestsPerMonth: number | null
  writeApi: boolean
}

export interface SignUpInput {
  email: string
  password: string
  slug: string
}
export interface SignInInput {
  email: string
  password: string
}
export interface ResetPasswordInput {
  token: string
  password: string
}
export interface ConfirmInput {
  password: string
}
export interface PasswordInput {
  /** null when there is none yet (signed in by a link or by Google). */
  current: string | null
  next: string
  /** For an account that has none yet: to sign in with from now on. */
  email?: string
}

/** The checklist ticks itself off. */
export interface StartView {
  isConnected: boolean
  sheets: number
  keys: number
  /** By a client: what the owner tries out in the console is none. */
  firstRequestAtMs: number | null
  /** The path of the sheet to try first. */
  tryPath: string | null
  /** Sheets from which clients get errors until their owner does something. */
  problems: number
}

export type SheetState = 'live' | 'paused' | 'needs_reconnect' | 'broken'

export interface SheetSummary {
  id: string
  slug: string
  title: string
  /** One of `ServerView.sources`. */
  provider: string
  state: SheetState
  /** Why it is broken, in words for the owner. */
  stateReason: string | null
  access: 'private' | 'public-read'
  lastRequestAtMs: number | null
  requestsThisMonth: number
  createdAtMs: number
}

export interface SheetView extends SheetSummary {
  paths: { formA: string; formB: string }
  settings: SheetSettingsView
  /**
   * `encodings`: what its texts can be said to be in; empty where it tells that itself. `upload`: of a file that the owner brought,
   * whether it still lies there; null where it is none.
   */
  source: {
    description: string
    url: string | null
    tab: string | null
    encodings: readonly string[]
    upload: 'there' | 'missing' | null
  }
  columns: ColumnView[]
  rowCount: number | null
  /** When the provider was last asked; null where nobody knows. */
  fetchedAtMs: number | null
}
export interface SheetSettingsView {
  access: 'private' | 'public-read'
  accepts: 'both' | 'live'
  cacheSeconds: number
  staleIfErrorSeconds: number
  unknownFields: 'reject' | 'ignore'
  /** By whose cells rows are named; null = rows have no names. */
  keyColumn: string | null
  autoKey: 'none' | 'uuid'
  /** One of `source.encodings`; null = as the bytes tell. */
  encoding: string | null
  /** For how long changes of rows are kept; 0 = not at all. */
  historyDays: number
  /** How often Rowport checks the spreadsheet by itself; 0 = only while somebody follows its changes. */
  watchSeconds: number
  paused: boolean
}
export type SheetChangeInput = Partial<SheetSettingsView> & { slug?: string }
export interface ColumnView {
  name: string
  /** TypeScript type of a cell, as the snippet shows it: `string | null`. */
  type: string
  /** From the first rows, cut where it is long; null where these have none. */
  example: CellView
}

export type CellView = string | number | boolean | null

/** Form B's body, as far as it is shown. */
export interface RowsView {
  data: Record<string, CellView>[]
  /** `warnings`: what keeps the key column from naming every row. */
  meta: { total: number; columns: string[]; rows: number[]; warnings?: string[] }
}

/** A key for this sheet, good for an hour or as long as the session; the former one is revoked. */
export interface ConsoleKey {
  value: string
  /** From when it was given. */
  lifeMs: number
}

export interface RecentRequest {
  id: string
  atMs: number
  method: string
  operation: string
  status: number
  code: string | null
  durationMs: number
  cache: 'hit' | 'miss' | 'stale' | null
  keyName: string | null
}

/** What became of a row, or of the columns. */
export interface PastChangeView {
  /** Names it within the sheet. */
  seq: number
  atMs: number
  kind: 'added' | 'updated' | 'deleted' | 'columns_changed' | 'reset'
  row: number | null
  key: string | number | boolean | null
  /** Rows by their columns, or the names of columns. */
  before: Record<string, CellView> | string[] | null
  after: Record<string, CellView> | string[] | null
  changed: string[]
  /** The write that it is of; null for what people did in the spreadsheet. */
  operation: string | null
  /** The name of the key that wrote. */
  keyName: string | null
}

export interface HistoryView {
  /** False where `history_days` is 0. */
  isKept: boolean
  changes: PastChangeView[]
  /** For `before`, to go on; null where nothing older is kept. */
  next: string | null
}

/** Something that was changed, by the owner here or by the operator's commands. */
export interface AuditEntryView {
  id: string
  atMs: number
  /** `rowport`: by the server itself. */
  actor: 'owner' | 'operator' | 'rowport'
  /** The network that it came from; null for a command, and for the server. */
  address: string | null
  /** Such as `key.revoked`. */
  action: string
  subject: string
  /** What was set to what. */
  details: Record<string, unknown> | null
}

/**
 * The connection of the account to one of `ServerView.sources`. The address of the provider's consent, where it is made, and a
 * key need a recent sign-in while a connection is valid, as that may be replaced. From there the provider leads back to
 * `/connect` or `/settings` with `?{provider}=<outcome>`, and with `&picked=<ids>`, comma separated, where the owner chose
 * spreadsheets on the way.
 */
export interface ConnectionView {
  isConfigured: boolean
  connection: {
    /** Who it is there, for people. */
    email: string
    state: 'valid' | 'expired'
    reason: string | null
    connectedAtMs: number
    sheets: number
    /** False where Rowport has only what the owner chose there. */
    canSeeAllSpreadsheets: boolean
    /** The address with which the owner shares what Rowport may use; null where it is the owner's own access. */
    shareWith: string | null
  } | null
}
export interface ConsentInput {
  returnTo: '/connect' | '/settings'
}
/** `isRevokedAt` and the provider's name (`isRevokedAtGoogle`): whether it could be told. */
export type DisconnectedView = Record<`isRevokedAt${string}`, boolean> & {
  /** What the owner can do where it could not: after "you can …". */
  endItThere: string
}
export interface SpreadsheetChoice {
  spreadsheetId: string
  title: string
  modifiedAtMs: number | null
}
export interface TabsView {
  spreadsheetId: string
  title: string
  tabs: { tabId: number; title: string; rows: number; columns: number }[]
  /** The tab that a pasted link named. */
  preferredTabId: number | null
}
/** An uploaded file. */
export interface FileChoice {
  path: string
  name: string
  /** null for a file without tabs, and for one with a problem. */
  tabs: string[] | null
  /** Why it could not be looked into, in a sentence. */
  problem: string | null
  bytes: number
  modifiedAtMs: number
  /** The slugs of those that are connected to it. */
  sheets: string[]
}

export type SheetSource =
  | { provider: string; spreadsheetId: string; tabId: number }
  | { provider: 'file'; path: string; tab: string | null }

/** Nothing is saved. */
export interface PreviewView {
  suggestedSlug: string
  title: string
  columns: Omit<ColumnView, 'example'>[]
  /** What clients will not see as it stands in row 1, in sentences. */
  notes: string[]
  rowCount: number
  /** The first rows as the API would give them. */
  rows: Record<string, CellView>[]
}
export interface ConnectInput {
  slug: string
  access: 'private' | 'public-read'
  source: SheetSource
}

export interface KeyView {
  id: string
  name: string
  mode: 'live' | 'test'
  scope: 'read' | 'read-write'
  sheetSlug: string | null
  /** `sk_live_AbCd` and `wxyz`. */
  shownStart: string
  shownEnd: string
  createdAtMs: number
  lastUsedAtMs: number | null
  revokedAtMs: number | null
  requestsThisMonth: number
  expiresAtMs: number | null
  state: 'active' | 'expired' | 'revoked'
  /** What a publishable key may do; null for a secret one. */
  policy: PolicyView | null
  /** The key itself, of a publishable one. */
  publicValue: string | null
}
/** What a publishable key may do. */
export interface PolicyView {
  may: readonly ('read' | 'add')[]
  origins: 'any' | readonly string[]
  /** null = every column. */
  readColumns: readonly string[] | null
  /** null = those that it may read. */
  writeColumns: readonly string[] | null
  /** Filters as in a query string. */
  where: string | null
  set: readonly (readonly [column: string, value: string | number | boolean])[]
  maxRows: number
  requestsPerMinute: number
}
export interface PublishableKeyInput {
  name: string
  mode: 'live' | 'test'
  sheetSlug: string
  policy: PolicyView
  expiresAtMs?: number | null | undefined
}
export interface KeyInput {
  name: string
  mode: 'live' | 'test'
  scope: 'read' | 'read-write'
  sheetSlug: string | null
  expiresAtMs?: number | null | undefined
}
export interface KeyChangeInput {
  name?: string | undefined
  scope?: 'read' | 'read-write' | undefined
  expiresAtMs?: number | null | undefined
}
/** For so long the old value works beside the new one. */
export type OverlapSeconds = 3_600 | 86_400 | 604_800
export interface NewKeyView {
  key: KeyView
  /** Shown once. */
  value: string
}

/** A page at which anybody adds a row to a sheet. */
export interface FormView {
  id: string
  name: string
  sheetSlug: string
  isOpen: boolean
  url: string
  /** How many entries wait for their owner. */
  held: number
  createdAtMs: number
  settings: FormSettingsView
}
export interface FormSettingsView {
  intro: string
  fields: readonly FormFieldView[]
  thanks: string
  next: string | null
  honeypot: string
  minSeconds: number
  set: readonly (readonly [column: string, value: string | number | boolean])[]
  framedBy: readonly string[]
  origins: readonly string[]
  entriesPerMinute: number
  entriesPerHour: number
  /** Its secret is nobody's to see. */
  captcha: ShownCaptcha | null
}
export type FormFieldView = ShownField
export interface FormWishInput {
  name: string
  /** Without a secret, the one of before stays. */
  settings: Omit<FormSettingsView, 'captcha'> & {
    captcha: (ShownCaptcha & { secret?: string | undefined }) | null
  }
}
/** By the sheet's own columns and cells. */
export interface FormGuessView extends Pick<FormSettingsView, 'fields' | 'set'> {
  columns: string[]
}
/** What looks like no person's. */
export interface HeldEntryView {
  id: string
  reason: 'honeypot' | 'too_quick' | 'unfit'
  cells: (readonly [column: string, value: string | number | boolean])[]
  /** It is being added. */
  isReleased: boolean
  receivedAtMs: number
}

/** An address that is called; without a sheet, for events of the account. */
export interface WebhookView {
  id: string
  sheetSlug: string | null
  url: string
  /** null = all. */
  kinds: string[] | null
  columns: string[] | null
  /** `off`: turned off by Rowport, for a reason. */
  state: 'on' | 'paused' | 'off'
  offReason: string | null
  /** That have failed since the last that did not. */
  attempts: number
  nextAttemptAtMs: number | null
  /** Changes that it has not been told yet. */
  waiting: number
  createdAtMs: number
}
export interface WebhookInput {
  sheetSlug: string | null
  url: string
  kinds: ('added' | 'updated' | 'deleted')[] | null
  columns: string[] | null
}
export interface NewWebhookView {
  webhook: WebhookView
  /** Shown once. */
  secret: string
}
export type ReplayInput = { since: 'earliest' | { cursor: string } | { atMs: number } }
/** One attempt; of each webhook the last fifty. */
export interface DeliveryView {
  id: string
  messageId: string
  type: string
  changes: number
  cursor: string | null
  atMs: number
  durationMs: number
  /** null when no answer came. */
  status: number | null
  /** Why it does not count as taken; null when it was. */
  failure: string | null
  /** The first lines. */
  answer: string
}

export interface UsageView {
  /** One for each day, oldest first, days without requests too. */
  days: UsageDay[]
  /** `publicUsed`: by readers without a key, who have a month of the same size for themselves. */
  month: { used: number; publicUsed: number; limit: number | null; resetsAtMs: number }
  rateLimited: number
  /** 0 to 1; null without reads. */
  cacheHitShare: number | null
  /** How often the provider was asked, for all keys together. */
  providerCalls: number
  /** Reads that were answered from memory. */
  providerCallsSaved: number
  latencyMs: { p50: number; p95: number; p99: number } | null
  bySheet: { slug: string; requests: number; errors: number }[]
  byKey: { id: string | null; name: string; requests: number; errors: number }[]
}
export interface UsageDay {
  /** `2026-11-15`, UTC. */
  day: string
  success: number
  clientError: number
  rateLimited: number
  serverError: number
}

/** What the account uses of what all share, as far as it lasts. Megabytes where the name says so. */
export interface ShareView {
  share: 'sheets' | 'upload_files' | 'upload_mb' | 'webhooks' | 'journal_mb' | 'history_mb' | 'sessions'
  used: number
  limit: number
}

/**
 * What the account had used up in the last 24 hours when it wanted more, as the server that answers has seen it since its
 * start. The latest first.
 */
export interface UsedUpSharesView {
  /** A day at most. */
  seenForMs: number
  shares: UsedUpShareView[]
}

export interface UsedUpShareView {
  share: LosingShare
  times: number
  agoMs: number
}
