import type { Generated } from 'kysely'

/**
 * The tables, for both dialects. Times are Unix milliseconds, yes/no is 1/0: what SQLite and PostgreSQL hold alike.
 */
export interface Tables {
  migration: MigrationTable
  account: AccountTable
  sheet: SheetTable
  api_key: ApiKeyTable
  usage: UsageTable
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

export interface SheetTable {
  id: string
  account_id: string
  slug: string
  provider: string
  /** Which spreadsheet, the same text for every sheet that shares it: writes to it are ordered and counted by this. */
  source: string
  /** What the provider needs to find the tab, as JSON. */
  location: string
  paused: Generated<number>
  access: Generated<SheetAccess>
  accepts: Generated<SheetAccepts>
  cache_seconds: Generated<number>
  stale_if_error_seconds: Generated<number>
  unknown_fields: Generated<UnknownFields>
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
}

/** What an account was charged in one billing month, also for requests that are still to come. */
export interface UsageTable {
  account_id: string
  cycle_start_ms: number
  charged: number
}

export type SheetAccess = 'private' | 'public-read'
export type SheetAccepts = 'both' | 'live'
export type UnknownFields = 'reject' | 'ignore'
export type KeyMode = 'live' | 'test'
export type KeyScope = 'read' | 'read-write'
