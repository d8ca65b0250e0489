/**
 * What the dashboard's pages and the owner's API say to each other: types and nothing else, so that `web/` can
 * import this file alone. Times are Unix milliseconds. Every path begins with `/dashboard/api`.
 *
 * A refusal is `{ error: { code, message, field? } }` with status 400 (the input), 401 (not signed in), 403 (another
 * site asked, or see RecentSignInRequired), 404, 409 (taken), 429 (too often, `Retry-After`), 502 (Google) or 503 (the store).
 *
 * An account may ask so often in a minute (`owner_requests_per_minute`), a network where nobody is signed in as often; rows as
 * often as the plan's requests. Signing out, revoking a key and pausing a sheet are possible also when that is used up.
 */
export interface ApiRefusal {
  error: { code: string; message: string; field?: string }
}

/**
 * The `code` of a 403 to what ends something for good (a sheet, the way to Google, the account), gives a key another value or
 * sets the first password, when the sign-in is older than 15 minutes. POST /confirm { password }, or sign in again in any other way; then
 * ask again. Changing a password needs the current one, which is as good.
 */
export type RecentSignInRequired = 'recent_sign_in_required'

/** GET /session (401 when nobody is signed in; 200 also tells what this server offers) */
export interface SessionView {
  account: AccountView
  /** `hasGoogle`: "Continue with Google" opens this account. */
  owner: { email: string | null; hasPassword: boolean; hasGoogle: boolean }
  signedInAtMs: number
  server: ServerView
}

/** GET /server: for the pages before signing in. */
export interface ServerView {
  baseUrl: string
  version: string
  hasGoogle: boolean
  /** Only the embedded default serves local files. */
  hasFiles: boolean
  canSignUp: boolean
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

/** POST /sign-up, POST /sign-in, POST /confirm, POST /sign-in-link {token}: SessionView. POST /sign-out, POST /sign-out-everywhere, POST /password */
export interface SignUpInput {
  email: string
  password: string
  slug: string
}
export interface SignInInput {
  email: string
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

/** GET /start: the checklist ticks itself off. */
export interface StartView {
  hasGoogle: boolean
  sheets: number
  keys: number
  firstRequestAtMs: number | null
  /** Of the sheet to try first. */
  tryPath: string | null
}

export type SheetState = 'live' | 'paused' | 'needs_reconnect' | 'broken'

/** GET /sheets */
export interface SheetSummary {
  id: string
  slug: string
  title: string
  provider: 'google' | 'file'
  state: SheetState
  /** Why it is broken, in words for the owner. */
  stateReason: string | null
  access: 'private' | 'public-read'
  lastRequestAtMs: number | null
  requestsThisMonth: number
  createdAtMs: number
}

/** GET /sheets/{slug}; PATCH /sheets/{slug} with SheetChange; DELETE /sheets/{slug} */
export interface SheetView extends SheetSummary {
  paths: { formA: string; formB: string }
  settings: SheetSettingsView
  source: { description: string; url: string | null; tab: string | null }
  columns: ColumnView[]
  rowCount: number | null
}
export interface SheetSettingsView {
  access: 'private' | 'public-read'
  accepts: 'both' | 'live'
  cacheSeconds: number
  staleIfErrorSeconds: number
  unknownFields: 'reject' | 'ignore'
  paused: boolean
}
export type SheetChange = Partial<SheetSettingsView> & { slug?: string }
export interface ColumnView {
  name: string
  /** TypeScript type of a cell, as the snippet shows it: `string | null`. */
  type: string
}

/** GET /sheets/{slug}/rows?… with the public API's own query parameters; answers Form B's body (data, meta). */
/** POST /sheets/{slug}/console-key: a key for this sheet, good for an hour or as long as the session; the former one is revoked. */
export interface ConsoleKey {
  value: string
  /** From when it was given. */
  lifeMs: number
}

/** GET /sheets/{slug}/requests */
export interface RecentRequest {
  atMs: number
  method: string
  operation: string
  status: number
  code: string | null
  durationMs: number
  cache: 'hit' | 'miss' | 'stale' | null
  keyName: string | null
}

/**
 * GET /google: the connection of the account. POST /google/connect → { url } to go to; while a connection is valid it needs
 * a recent sign-in, as it may be replaced. POST /google/disconnect.
 * From there Google leads back to `/connect` or `/settings` with `?google=<outcome>`, and with `&picked=<ids>`, comma
 * separated, where the owner chose spreadsheets on the way.
 */
export interface GoogleView {
  isConfigured: boolean
  connection: {
    email: string
    state: 'valid' | 'expired'
    reason: string | null
    connectedAtMs: number
    sheets: number
    /** False with the scope drive.file: only what the owner chose at Google. */
    canSeeAllSpreadsheets: boolean
  } | null
}
/** GET /google/spreadsheets?search= */
export interface SpreadsheetChoice {
  spreadsheetId: string
  title: string
  modifiedAtMs: number | null
}
/** GET /google/spreadsheets/{id or url, encoded}/tabs */
export interface TabsView {
  spreadsheetId: string
  title: string
  tabs: { tabId: number; title: string; rows: number; columns: number }[]
  /** The tab that a pasted link named. */
  preferredTabId: number | null
}
/**
 * GET /files: those that were uploaded. POST /files?name=… with the bytes → FileChoice.
 * POST /files/{name}/replace?name=… with the bytes of another, which takes its place → FileChoice; `name` in the query is what
 * that one is called. GET /files/{name}/content: its bytes. DELETE /files/{name}: 409 while a sheet is connected to it.
 */
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
  | { provider: 'google'; spreadsheetId: string; tabId: number }
  | { provider: 'file'; path: string; tab: string | null }

/** POST /preview with SheetSource: nothing is saved. */
export interface PreviewView {
  suggestedSlug: string
  title: string
  columns: ColumnView[]
  rowCount: number
  /** The first rows as the API would give them. */
  rows: Record<string, string | number | boolean | null>[]
}
/** GET /slug-check?slug= → { problem: string | null } */
/** POST /sheets */
export interface ConnectInput {
  slug: string
  access: 'private' | 'public-read'
  source: SheetSource
}

/** GET /keys; POST /keys with KeyInput → NewKeyView; POST /keys/{id}/revoke; POST /keys/{id}/regenerate → NewKeyView */
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
}
export interface KeyInput {
  name: string
  mode: 'live' | 'test'
  scope: 'read' | 'read-write'
  sheetSlug: string | null
}
export interface NewKeyView {
  key: KeyView
  /** Shown once. */
  value: string
}

/** GET /usage?days=30&sheet=&key= */
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

/** GET /shares: what the account uses of what all share, as far as it lasts. Megabytes where the name says so. */
export interface ShareView {
  share: 'sheets' | 'upload_files' | 'upload_mb' | 'journal_mb' | 'sessions'
  used: number
  limit: number
}

/** GET /errors: the error table for the docs page. GET /openapi.json?sheet= : as the public one, addresses filled in. */
export interface ErrorDoc {
  code: string
  status: number
  message: string
  /** What it means, in a sentence. */
  when: string
}

/** PATCH /account { slug } · GET /export (a JSON file) · POST /account/delete { confirmSlug } */
