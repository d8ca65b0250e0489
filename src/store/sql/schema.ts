import type { Generated } from 'kysely'
import type { HoldReason } from '../forms/forms.ts'

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
  change_log: ChangeLogTable
  change_state: ChangeStateTable
  change_chunk: ChangeChunkTable
  change_text: ChangeTextTable
  unnamed_text: UnnamedTextTable
  sheet_look: SheetLookTable
  change_operation: ChangeOperationTable
  form: FormTable
  form_entry: FormEntryTable
  webhook: WebhookTable
  webhook_delivery: WebhookDeliveryTable
  webhook_event: WebhookEventTable
  webhook_told: WebhookToldTable
  provider_proof: ProviderProofTable
}

export interface ProviderProofTable {
  /** Who was tried: a provider, or what stands in its place. */
  service: string
  assumption: string
  holds: number
  saw: string
  tried_at_ms: number
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
  /** For how long changes of its rows are kept; 0 = not at all. */
  history_days: Generated<number>
  /** How often Rowport looks at it by itself; 0 = only for those who follow it. */
  watch_seconds: Generated<number>
  /** Grows with every write to the source; a snapshot is served only under the number it was read at. */
  write_seq: Generated<number>
  created_at_ms: number
}

export interface ApiKeyTable {
  id: string
  /** SHA-256 of the whole key in hex; a secret key itself is nowhere. */
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
  /** The session with which a key of the dashboard's console ends, '' once it has ended. null for all other keys. */
  session_hash: string | null
  /** The policy of a publishable key, as JSON; null for a secret one. */
  policy: string | null
  /** The key itself, of a publishable one alone. */
  public_value: string | null
}

/** What an account was charged in one billing month, also for requests that are still to come. */
export interface UsageTable {
  account_id: string
  cycle_start_ms: number
  charged: number
  /** The mark of the limit up to which the owner has been told, 0, 80 or 100. */
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
  /** The version of which the owner has been told that it ended. */
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

/** The last of each sheet: `usage/kept-requests.ts`. */
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
  actor: 'owner' | 'operator' | 'rowport'
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

/** For a sheet that is watched, or was followed. All times by the store's clock. */
export interface SheetLookTable {
  sheet_id: string
  followed_until_ms: number
  /** When an instance last took it upon itself. */
  looked_at_ms: number
}

/** How far the log of a sheet's changes has come (docs/decisions/032). */
export interface ChangeLogTable {
  sheet_id: string
  account_id: string
  /** Another one for each new log, so that a cursor of a former one is known to be over. */
  epoch: string
  /** The number of the last change that is told; what comes after it belongs to a write that is being sent. */
  head: number
  /** The last change that is no longer kept. */
  floor: number
  /** Which `change_state` has all rows as they were after the change `state_seq`; null where no look was logged yet. */
  state_id: string | null
  state_seq: number | null
  state_bytes: Generated<number>
  /** The hash of all rows as they were after the change `seen_seq`; null where nobody has seen them since there are hashes. */
  seen_hash: string | null
  seen_seq: number | null
  /** The key column by which rows are told; '' where they are told by position. */
  identity: string
  /** 1 = the state was lost to the bound in bytes. */
  is_broken: Generated<number>
  /** Changes that were made nobody knows where, as JSON; the next look finds them. */
  unplaced: string | null
  /** Since when a difference is known that could not be logged, because of writes. */
  look_wanted_at_ms: number | null
  /** The size of the changes after the state. */
  since_state_bytes: Generated<number>
  /** The size of changes and state together. */
  bytes: Generated<number>
}

/** A piece of the rows of a sheet, as they were once. */
export interface ChangeStateTable {
  sheet_id: string
  state_id: string
  nth: number
  /** By the store's clock. */
  made_at_ms: number
  piece: string
}

/** Changes that were made together, numbered from `first_seq` to `last_seq`. */
export interface ChangeChunkTable {
  sheet_id: string
  first_seq: number
  last_seq: number
  /** As it is told: a time of day. */
  at_ms: number
  /** When it was logged by the store's clock, for how long it is kept. */
  logged_at_ms: number
  /** 0 = row numbers are a guess until the write is finished. */
  is_placed: number
  /** JSON; '' where it is in `change_text`, of which the others say where and how long it is. */
  entries: string
  text_id: string | null
  text_nth: number | null
  text_bytes: number | null
  bytes: number
}

/** A piece of the changes of a chunk that were logged with much else. */
export interface ChangeTextTable {
  sheet_id: string
  /** All that was logged together. */
  text_id: string
  /** The place of its chunk in that. */
  nth: number
  /** Where it begins in the text of the chunk, in bytes. */
  at: number
  /** By the store's clock. */
  made_at_ms: number
  piece: string
}

/** A text that no chunk names: not yet, or no longer. Whoever holds its row may name it, or remove pieces of it. */
export interface UnnamedTextTable {
  sheet_id: string
  text_id: string
  nth: number
  /** By the store's clock. */
  since_ms: number
}

/** Where the changes of a write begin in the log, by its name. */
export interface ChangeOperationTable {
  sheet_id: string
  operation_id: string
  /** The first change of a chunk. */
  first_seq: number
}

/** A form that fills a sheet; what it is like is JSON. */
export interface FormTable {
  id: string
  account_id: string
  sheet_id: string
  name: string
  settings: string
  is_open: number
  created_at_ms: number
  captcha_sealed_secret: string | null
  captcha_key_id: string | null
}

/** What came by a form and was not added: it looks like no person's. */
export interface FormEntryTable {
  id: string
  form_id: string
  /** What is sent again under it is the same; null: held before entries had names. */
  name: string | null
  reason: HoldReason
  /** JSON. */
  row: string
  is_released: number
  received_at_ms: number
}

/** An address that is called, and how far it has been told (docs/decisions/034). */
export interface WebhookTable {
  id: string
  account_id: string
  /** Whose changes it is told; null = events of the account. */
  sheet_id: string | null
  url: string
  /** JSON lists of what it is told; null = all. */
  kinds: string | null
  columns: string | null
  state: WebhookState
  /** Why Rowport has turned it off. */
  off_reason: string | null
  /** Whether the owner has been told so by mail. */
  off_told: Generated<number>
  sealed_secret: string
  key_id: string
  /** The secret before this one, which signs too until then, by the store's clock. */
  former_sealed_secret: string | null
  former_key_id: string | null
  former_until_ms: number | null
  /** The last change, or event, that it has taken. Without an epoch: none of a log that is still to begin. */
  epoch: string | null
  seq: Generated<number>
  /** Up to where the message goes that is being sent: its next attempt is the same message. */
  sending_epoch: string | null
  sending_seq: number | null
  /** How often the cursor was moved. */
  replays: Generated<number>
  /** The number of its last event. */
  event_head: Generated<number>
  /** The instance that sends for it; null = nobody. */
  holder: string | null
  /** Grows each time that it is taken, and when its cursor is moved. */
  fence: Generated<number>
  /** By the store's clock. While somebody sends, when others may. */
  due_at_ms: number
  /** That have failed since the last that did not. */
  attempts: Generated<number>
  /** By the store's clock. */
  failing_since_ms: number | null
  created_at_ms: number
}

/** One attempt; of each webhook the newest. */
export interface WebhookDeliveryTable {
  webhook_id: string
  /** In the order of time. */
  id: string
  message_id: string
  type: string
  /** How many were in it. */
  changes: number
  /** Up to which change it told. */
  cursor: string | null
  at_ms: number
  duration_ms: number
  /** null when no answer came. */
  status: number | null
  /** null when it was taken. */
  failure: string | null
  /** Its first lines. */
  answer: string
}

/** What an account's webhook is told of. */
export interface WebhookEventTable {
  webhook_id: string
  seq: number
  type: string
  at_ms: number
  /** JSON. */
  data: string
}

/** What a webhook knows of something that has a state, so that it is told when that is another. */
export interface WebhookToldTable {
  webhook_id: string
  /** `sheet sh_…`, `connection cr_…`, `quota keys`. */
  subject: string
  state: string
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
/** `off`: turned off by Rowport, because it failed for days or said that it is gone. */
export type WebhookState = 'on' | 'paused' | 'off'
export type CredentialState = 'valid' | 'expired'
export type MailLinkKind = 'reset' | 'verify'
export type OperationState = 'queued' | 'sending' | 'applied' | 'refused'
export type RequestOutcome = 'success' | 'not_modified' | 'client_error' | 'rate_limited' | 'server_error'
