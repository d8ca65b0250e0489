import type { CellStore } from './cells/cells.ts'
import type { AccessTokenStore } from './credentials/access-tokens.ts'
import type { CredentialStore } from './credentials/credentials.ts'
import type { LeaseStore } from './leases/leases.ts'
import type { OperationStore } from './operations/operations.ts'
import type { OwnerStore } from './owners/owners.ts'
import type { SessionStore } from './sessions/sessions.ts'
import type {
  AccountTable,
  ApiKeyTable,
  KeyMode,
  KeyScope,
  SheetAccepts,
  SheetAccess,
  UnknownFields,
} from './sql/schema.ts'
import type { UsageFigureStore } from './usage/usage-figures.ts'
import type { WindowStore } from './windows/windows.ts'

/**
 * What Rowport remembers. Every change is one transaction, durable when its promise resolves and seen by every
 * look-up that starts after that, in this process and in others on the same store. What is to be kept for an account
 * or a sheet that is no longer there throws `GoneMeanwhile`, and nothing is kept.
 */
export interface Store
  extends AccessTokenStore,
    CredentialStore,
    SessionStore,
    OwnerStore,
    OperationStore,
    LeaseStore,
    WindowStore,
    CellStore,
    UsageFigureStore {
  /** The one query of admission (docs/decisions/004): who and what, as of now, never cached. */
  lookUp(address: SheetAddress, keyHash: string | null): Promise<Facts>
  /** The account that a key belongs to; null for an unknown or revoked key. */
  lookUpKey(
    keyHash: string,
  ): Promise<{ account: AccountFacts; key: KeyFacts & { sheetId: string | null } } | null>

  createAccount(account: { slug: string; plan: string }): Promise<AccountRecord | 'slug_taken'>
  findAccount(slug: string): Promise<AccountRecord | null>
  countAccounts(): Promise<number>
  setPlan(accountId: string, plan: PlanChoice): Promise<void>

  /** However many are made at once, with `most` the account never has more; null = any number. */
  createSheet(sheet: NewSheet, most?: number | null): Promise<SheetRecord | 'slug_taken' | 'too_many'>
  findSheet(accountId: string, slug: string): Promise<SheetRecord | null>
  sheetById(sheetId: string): Promise<SheetRecord | null>
  sheetsOf(accountId: string): Promise<SheetRecord[]>
  setPaused(sheetId: string, paused: boolean): Promise<void>
  /** All of it or nothing. */
  changeSheet(sheetId: string, change: SheetChange): Promise<'changed' | 'slug_taken'>
  /** Keys for this sheet alone are revoked with it. */
  deleteSheet(sheetId: string): Promise<void>
  /** Counts a write to `source`: from now on no snapshot read before it is served. Returns when every sheet of it knows. */
  countWrite(source: string): Promise<void>

  /** Of the account's revoked keys only the last ones are remembered. */
  createKey(key: NewKey): Promise<KeyRecord>
  findKey(keyId: string): Promise<KeyRecord | null>
  keysOf(accountId: string): Promise<KeyRecord[]>
  /** False when it was revoked already or never existed. A revoked key stays revoked. */
  revokeKey(keyId: string): Promise<boolean>
  /** Revokes one key and makes its successor, both or neither; null when the old one is not active. */
  replaceKey(
    keyId: string,
    successor: Pick<NewKey, 'hash' | 'shownStart' | 'shownEnd'>,
  ): Promise<KeyRecord | null>

  /**
   * One for each sheet, which expires, by the store's clock, and ends with the session that asked for it: a new value
   * ends the former one and keeps its id.
   */
  putConsoleKey(key: NewKey & { sheetId: string; sessionHash: string }, lifeMs: number): Promise<KeyRecord>
  setKeyScope(keyId: string, scope: KeyScope): Promise<void>
  /** Remembers when keys were last used; a time older than the one known changes nothing. */
  noteKeysUsed(lastUsedMs: ReadonlyMap<string, number>): Promise<void>

  /**
   * Charges up to `wanted` requests of a billing month, never beyond `limit`. One atomic step: however many ask at
   * once, what they are granted together is never more than the limit.
   */
  chargeAhead(accountId: string, cycleStartMs: number, limit: number, wanted: number): Promise<Charge>
  /** Takes back what was charged and not used. */
  giveBack(accountId: string, cycleStartMs: number, unused: number): Promise<void>
  /** The same for what readers without a key take, which nobody's keys pay for. */
  chargePublicAhead(accountId: string, cycleStartMs: number, limit: number, wanted: number): Promise<Charge>
  givePublicBack(accountId: string, cycleStartMs: number, unused: number): Promise<void>

  /** Throws when the store cannot be reached, and `StoreUnwritable` while it takes no writes. */
  ping(): Promise<void>
  close(): Promise<void>
}

export type SheetAddress =
  | { form: 'a'; accountSlug: string; sheetSlug: string }
  | { form: 'b'; sheetId: string }

/** Null where there is none. `key` is null unless it is active and opens this very sheet: no other key is told apart. */
export interface Facts {
  account: AccountFacts | null
  sheet: SheetFacts | null
  key: KeyFacts | null
}

export interface AccountFacts {
  id: string
  /** When it was looked up: a time of day, by the clock of the database's server where there is one. */
  lookedUpAtMs: number
  createdAtMs: number
  plan: string
  requestsPerMinute: number | null
  requestsPerMonth: number | null
}

export interface SheetFacts {
  id: string
  paused: boolean
  access: SheetAccess
  accepts: SheetAccepts
  cacheSeconds: number
  staleIfErrorSeconds: number
  writeSeq: number
  /** Its credential no longer opens anything; never so where a sheet needs none. */
  needsReconnect: boolean
}

export interface KeyFacts {
  id: string
  mode: KeyMode
  scope: KeyScope
}

export type AccountRecord = Pick<AccountTable, 'id' | 'slug' | 'plan'> & {
  requestsPerMinute: number | null
  requestsPerMonth: number | null
  createdAtMs: number
}

export interface PlanChoice {
  plan: string
  requestsPerMinute: number | null
  requestsPerMonth: number | null
}

export interface Charge {
  granted: number
  /** By everyone in this cycle, the granted ones included. */
  charged: number
}

export interface SheetSettings {
  access: SheetAccess
  accepts: SheetAccepts
  cacheSeconds: number
  staleIfErrorSeconds: number
  unknownFields: UnknownFields
}

export type SheetChange = Partial<SheetSettings & { slug: string; paused: boolean }>

export interface NewSheet {
  accountId: string
  slug: string
  provider: string
  source: string
  location: string
  /** Of the same account; null where the provider needs none. */
  credentialId: string | null
  access: SheetAccess
}

export interface SheetRecord extends NewSheet {
  id: string
  paused: boolean
  accepts: SheetAccepts
  cacheSeconds: number
  staleIfErrorSeconds: number
  unknownFields: UnknownFields
  writeSeq: number
  createdAtMs: number
}

export interface NewKey {
  accountId: string
  sheetId: string | null
  name: string
  mode: KeyMode
  scope: KeyScope
  hash: string
  shownStart: string
  shownEnd: string
}

export type KeyRecord = Omit<NewKey, 'hash'> &
  Pick<ApiKeyTable, 'id'> & {
    createdAtMs: number
    revokedAtMs: number | null
    lastUsedAtMs: number | null
    /** From then on it is no key any more, by the store's clock; null = never. */
    expiresAtMs: number | null
  }
