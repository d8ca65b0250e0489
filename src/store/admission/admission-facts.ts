import type { KeyPolicy } from '../keys/key-policy.ts'
import type { AutoKey, KeyMode, KeyScope, SheetAccepts, SheetAccess } from '../sql/schema.ts'

/** The store's part for admission: who asks, and for what. */
export interface AdmissionStore {
  /** The one query of admission (docs/decisions/004): who and what, as of now, never cached. */
  lookUp(address: SheetAddress, keyHash: string | null): Promise<Facts>
  /** The account that a key belongs to; null for an unknown or revoked key. */
  lookUpKey(
    keyHash: string,
  ): Promise<{ account: AccountFacts; key: KeyFacts & { sheetId: string | null } } | null>
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
  /** The name of the column whose cells name the rows; null where none does. */
  keyColumn: string | null
  /** Whether a row that is added without a value there gets one. */
  autoKey: AutoKey
  /** Its credential no longer opens anything; never so where a sheet needs none. */
  needsReconnect: boolean
}

export interface KeyFacts {
  id: string
  mode: KeyMode
  scope: KeyScope
  /** A publishable key is bounded by its policy and not by its scope; null for a secret one. */
  policy: KeyPolicy | null
}
