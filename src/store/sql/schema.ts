import type { Generated } from 'kysely'

/**
 * The tables, for both dialects. Times are Unix milliseconds, yes/no is 1/0: what SQLite and PostgreSQL hold alike.
 */
export interface Tables {
  migration: MigrationTable
  account: AccountTable
  former_slug: FormerSlugTable
  sheet: SheetTable
  api_key: ApiKeyTable
  usage: UsageTable
  /** Requests of readers without a key. */
  public_usage: UsageTable
  credential: CredentialTable
  session: SessionTable
  sign_in_link: SignInLinkTable
  connect_attempt: ConnectAttemptTable
  operation: OperationTable
  journal_use: JournalUseTable
  lease: LeaseTable
  rate_window: RateWindowTable
  shared_cell: RegisterTable
  access_token: AccessTokenTable
  owner: OwnerTable
  usage_day: UsageDayTable
  latency_day: LatencyDayTable
  provider_day: ProviderDayTable
  sheet_activity: SheetActivityTable
  recent_request: RecentRequestTable
  audit_entry: AuditEntryTable
  mail: MailTable
  mail_link: MailLinkTable
}

export interface MigrationTable {
  number: number
  name: string
  applied_at_ms: number
}

export interface AccountTable {
  id: string
  slug: string
  plan: string
  /** Set for an account whose limits are its own and not its plan's; null = the plan's. */
  requests_per_minute: number | null
  requests_per_month: number | null
  created_at_ms: number
}

/** An account's address of earlier days. Until it is free, nobody else gets it: clients that still ask there are not theirs. */
export interface FormerSlugTable {
  slug: string
  /** Who may take it back; null = nobody, because the account was ended. */
  account_id: string | null
  /** By the store's clock. */
  free_at_ms: number
}

export interface SheetTable {
  id: string
  account_id: string
  slug: string
  provider: string
  /** Which spreadsheet, the same text for every sheet that shares it: writes to it are ordered and counted by this. */
  source: string
  /** What the provider needs to find the tab, as JSON. */
  location: string
  /** What opens it at the provider; null where nothing is needed. */
  credential_id: string | null
  paused: Generated<number>
  access: Generated<SheetAccess>
  accepts: Generated<SheetAccepts>
  cache_seconds: Generated<number>
  stale_if_error_seconds: Generated<number>
  unknown_fields: Generated<UnknownFields>
  /** The name of the column whose cells name the rows; null where none does. */
  key_column: Generated<string | null>
  auto_key: Generated<AutoKey>
  /** Grows with every write to the source; a snapshot is served only under the number it was read at. */
  write_seq: Generated<number>
  created_at_ms: number
}

export interface ApiKeyTable {
  id: string
  /** SHA-256 of the whole key in hex; the key itself is nowhere. */
  hash: string
  account_id: string
  /** null = every sheet of the account. */
  sheet_id: string | null
  name: string
  mode: KeyMode
  scope: KeyScope
  /** For people to tell keys apart: `sk_live_AbCd` and `wxyz`. */
  shown_start: string
  shown_end: string
  created_at_ms: number
  revoked_at_ms: number | null
  /** Written in batches every few seconds, never by a request; lost if the process is killed. */
  last_used_at_ms: number | null
  /** null = never. */
  expires_at_ms: number | null
  /** Of a key of the dashboard's console: with which session it ends, '' once it has ended. null for all other keys. */
  session_hash: string | null
}

/** What an account was charged in one billing month, also for requests that are still to come. */
export interface UsageTable {
  account_id: string
  cycle_start_ms: number
  charged: number
  /** Of the limit: up to which mark the owner has been told, 0, 80 or 100. */
  told_percent: Generated<number>
}

/** What opens an account's spreadsheets at a provider: one for each account and provider. */
export interface CredentialTable {
  id: string
  account_id: string
  provider: string
  /** The provider's own name for the person, which never changes (Google: `sub`). */
  subject: string
  /** For the owner to see who is connected: an e-mail address. */
  label: string
  /** Separated by spaces. */
  scopes: string
  /** Empty once it was forgotten. */
  sealed_token: string
  /** Which key sealed the token. */
  key_id: string
  /** Grows with each change of the token, and is part of its seal. */
  version: number
  state: CredentialState
  expired_reason: string | null
  created_at_ms: number
  connected_at_ms: number
  /** Of which version the owner has been told that it ended. */
  told_version: Generated<number | null>
}

/** An owner who is signed in. */
export interface SessionTable {
  /** SHA-256 of the id in hex; the id itself is nowhere. */
  id_hash: string
  account_id: string
  created_at_ms: number
  /** Up to a minute behind. */
  last_seen_at_ms: number
}

/** Good for one sign-in. */
export interface SignInLinkTable {
  hash: string
  account_id: string
  expires_at_ms: number
}

/** Good for one return from a provider, to the session that went there. */
export interface ConnectAttemptTable {
  state_hash: string
  session_hash: string
  account_id: string
  provider: string
  code_verifier: string
  /** The page of the dashboard from which the owner went. */
  return_to: Generated<string>
  expires_at_ms: number
}

/** The person behind an account, once there is one who can sign in without a link. */
export interface OwnerTable {
  id: string
  account_id: string
  /** Case-folded: it is compared as it is. */
  email: string
  /** PHC string of argon2id; null for those who sign in otherwise. */
  password_hash: string | null
  google_subject: string | null
  created_at_ms: number
  /** When it was shown that mail to this address reaches the owner; null = not yet. */
  email_verified_at_ms: Generated<number | null>
  /** Whether they want to hear of trouble by mail. */
  alerts: Generated<number>
}

/** How many requests ended how, on one day (UTC). `sheet_id` and `key_id` are '' where there was none. */
export interface UsageDayTable {
  account_id: string
  /** `2026-11-15` */
  day: string
  sheet_id: string
  key_id: string
  outcome: RequestOutcome
  /** Where the rows came from; '' when none were read. */
  rows_from: string
  requests: number
}

/** How long requests took, by powers of the fourth root of two. */
export interface LatencyDayTable {
  account_id: string
  day: string
  sheet_id: string
  key_id: string
  bucket: number
  requests: number
}

export interface ProviderDayTable {
  sheet_id: string
  day: string
  calls: number
}

/** Apart from the sheet itself, whose row every request reads. */
export interface SheetActivityTable {
  sheet_id: string
  first_request_at_ms: number | null
  last_request_at_ms: number | null
  /** Why the provider failed when it was last asked; null when it did not. */
  failure_reason: string | null
  /** When that was. */
  health_at_ms: number | null
  /** What the owner was last told of it: 1 = that it is broken. */
  told_broken: Generated<number>
  /** By the store's clock. */
  told_at_ms: Generated<number | null>
}

/** The last hundred of each sheet. */
export interface RecentRequestTable {
  /** In the order of time. */
  id: string
  sheet_id: string
  key_id: string | null
  at_ms: number
  method: string
  operation: string
  status: number
  code: string | null
  rows_from: string | null
  duration_us: number
}

/** Who changed what; of each account the newest. */
export interface AuditEntryTable {
  /** In the order of time. */
  id: string
  account_id: string
  at_ms: number
  actor: 'owner' | 'operator'
  address: string | null
  action: string
  subject: string
  /** JSON. */
  details: string | null
}

/** A mail that waits to be sent. */
export interface MailTable {
  id: string
  account_id: string
  /** To whom, about what and the text: it may hold a link that opens the account. */
  sealed: string
  /** Which key sealed it. */
  key_id: string
  /** How often it was taken to be sent; whoever has taken it knows the number. */
  attempts: Generated<number>
  /** By the store's clock. While somebody sends it, when others may try. */
  due_at_ms: number
  /** From then on it is worth nothing to its reader. */
  over_at_ms: number
}

/** What a link in a mail is good for, once. */
export interface MailLinkTable {
  hash: string
  account_id: string
  kind: MailLinkKind
  /** The address that the mail went to: the link says nothing of any other. */
  email: string
  expires_at_ms: number
}

/** The write journal. */
export interface OperationTable {
  id: string
  account_id: string
  sheet_id: string
  source: string
  /** null = nobody can ask for it again; it goes when it is finished. */
  idempotency_key: string | null
  /** Which request took the key. */
  fingerprint: string | null
  state: OperationState
  /** What the provider recognises a repetition by; the same for all that were sent together. */
  fence: string | null
  /** What the provider needs to find the fence again, as JSON. */
  place: string | null
  /** What the client is told, as JSON: while it is being sent, if it turns out to be applied. */
  answer: string | null
  created_at_ms: number
  finished_at_ms: number | null
  /** Which process works on it; null = one that is long gone. */
  instance_id: string | null
  /** What it is counted for in `journal_use`; 0 without a key, and before it is sent. */
  kept_bytes: Generated<number>
}

/** What an account keeps in the journal. */
export interface JournalUseTable {
  account_id: string
  /** When the hour began in which it was asked for, by the store's clock; 0 = the row that is locked to count. */
  hour_ms: number
  bytes: number
}

/** What only one instance does at a time; `instance <id>` says that an instance lives. */
export interface LeaseTable {
  name: string
  holder: string
  /** Grows each time that it changes hands. */
  fence: number
  /** By the store's clock, as all times here. 0 = given back. */
  expires_at_ms: number
  /** Who gets it next. */
  wanted_by: string | null
  wanted_until_ms: number
}

export interface RateWindowTable {
  name: string
  count: number
  /** How many of these the last statement counted. */
  granted: number
  /** By the store's clock. */
  ends_at_ms: number
}

/** A register: a text that instances replace one after the other; what it holds is theirs to know. */
export interface RegisterTable {
  name: string
  version: string
  text: string
  /** By the store's clock. */
  ends_at_ms: number
}

/** What a provider gave for a credential lately, so that one refresh serves every instance. */
export interface AccessTokenTable {
  credential_id: string
  /** Version of the credential. */
  version: number
  sealed_token: string
  key_id: string
  /** By the store's clock. */
  expires_at_ms: number
}

export type SheetAccess = 'private' | 'public-read'
export type SheetAccepts = 'both' | 'live'
export type UnknownFields = 'reject' | 'ignore'
/** What a new row without a key gets in a sheet with a key column: nothing, and is refused, or a new one. */
export type AutoKey = 'none' | 'uuid'
export type KeyMode = 'live' | 'test'
export type KeyScope = 'read' | 'read-write'
export type CredentialState = 'valid' | 'expired'
export type MailLinkKind = 'reset' | 'verify'
export type OperationState = 'queued' | 'sending' | 'applied' | 'refused'
export type RequestOutcome = 'success' | 'not_modified' | 'client_error' | 'rate_limited' | 'server_error'
