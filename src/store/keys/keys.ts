import type { ApiKeyTable, KeyMode, KeyScope } from '../sql/schema.ts'
import type { KeyPolicy } from './key-policy.ts'

/** The store's part for API keys, which it knows by their hashes. */
export interface KeyStore {
  /** Makes a key; of those that have ended only the last are remembered. Throws `AccountFull` where so many are active. */
  createKey(key: NewKey, mostActive?: number | null): Promise<KeyRecord>
  findKey(keyId: string): Promise<KeyRecord | null>
  keysOf(accountId: string): Promise<KeyRecord[]>
  /** False when it was revoked already or never existed. A revoked key stays revoked. */
  revokeKey(keyId: string): Promise<boolean>
  /**
   * Makes a key's successor and ends the key, both or neither: at once, or after `overlapMs` by the store's clock; null when
   * the old one is not active. Throws `AccountFull` where so many are active and the old one is to live on.
   */
  replaceKey(
    keyId: string,
    successor: Pick<NewKey, 'hash' | 'shownStart' | 'shownEnd' | 'publicValue'>,
    overlapMs?: number,
    mostActive?: number | null,
  ): Promise<KeyRecord | null>

  /**
   * One for each sheet, which expires, by the store's clock, and ends with the session that asked for it: a new value
   * ends the former one and keeps its id.
   */
  putConsoleKey(key: NewKey & { sheetId: string; sessionHash: string }, lifeMs: number): Promise<KeyRecord>
  setKeyScope(keyId: string, scope: KeyScope): Promise<void>
  /** Throws `AccountFull` where so many are active and the change would bring an expired one back. */
  changeKey(keyId: string, change: KeyChange, mostActive?: number | null): Promise<void>
  /** Remembers when keys were last used; a time older than the one known changes nothing. */
  noteKeysUsed(lastUsedMs: ReadonlyMap<string, number>): Promise<void>
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
  expiresAtMs?: number | null
  /** Makes it publishable. */
  policy?: KeyPolicy | null
  /** The key itself, of a publishable one. */
  publicValue?: string | null
}

export interface KeyChange {
  name?: string
  scope?: KeyScope
  expiresAtMs?: number | null
  policy?: KeyPolicy
}

export type KeyRecord = Omit<NewKey, 'hash' | 'expiresAtMs' | 'policy' | 'publicValue'> &
  Pick<ApiKeyTable, 'id'> & {
    createdAtMs: number
    revokedAtMs: number | null
    lastUsedAtMs: number | null
    /** From then on it is no key any more, by the store's clock; null = never. */
    expiresAtMs: number | null
    /** It is the dashboard's own, and ends with a session. */
    isOfConsole: boolean
    policy: KeyPolicy | null
    publicValue: string | null
  }
