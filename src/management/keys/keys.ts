import { generateApiKey, hashApiKey, type KeyKind, shownParts } from '../../admission/api-key.ts'
import type { KeyPolicy } from '../../store/keys/key-policy.ts'
import type { KeyChange, KeyRecord } from '../../store/keys/keys.ts'
import type { SheetRecord } from '../../store/sheets/sheets.ts'
import type { KeyMode, KeyScope } from '../../store/sql/schema.ts'
import type { Store } from '../../store/store.ts'
import type { NamedAccount } from '../accounts/accounts.ts'
import { Problem } from '../problem.ts'
import type { Sheets } from '../sheets/sheets.ts'
import { type PolicyColumns, type PolicyWish, policyFor } from './key-policy.ts'

export type { KeyRecord }

export interface Keys {
  create(key: KeyToCreate): Promise<FreshKey | Problem>
  /** A key that is made to be seen, for one sheet. */
  createPublishable(key: PublishableKeyToCreate): Promise<FreshKey | Problem>
  /** A policy in place of the one that a publishable key has; it holds for every request from then on. */
  setPolicy(keyId: string, wish: PolicyWish): Promise<KeyRecord | Problem>
  /** Without those that the dashboard's console uses. */
  list(account: NamedAccount): Promise<KeyRecord[]>
  /** The key, if it is this account's: to everybody else it does not exist. */
  ofAccount(accountId: string, keyId: string): Promise<KeyRecord | Problem>
  /** Names of all keys that there ever were, by their ids; the console's with the sheet that each is for (`slugs`: by its id). */
  namesOf(accountId: string, slugs: ReadonlyMap<string, string>): Promise<Map<string, string>>
  /** For the dashboard's console: a key for one sheet, good for an hour, or as long as the session; the one before it ends. A test key, unless the sheet refuses them. */
  forConsole(sheet: SheetRecord, sessionHash: string): Promise<{ value: string; lifeMs: number }>
  revoke(keyId: string): Promise<KeyRecord | Problem>
  setScope(keyId: string, scope: KeyScope): Promise<KeyRecord | Problem>
  change(keyId: string, change: KeyChange, mostActive?: number): Promise<KeyRecord | Problem>
  /** A new value for the same rights. The old one lives on for so long; with 0 it is dead when this returns. */
  regenerate(keyId: string, overlapMs?: number, mostActive?: number): Promise<FreshKey | Problem>
}

export interface KeyToCreate {
  account: NamedAccount
  /** null = every sheet of the account. */
  sheetSlug: string | null
  name: string
  mode: KeyMode
  scope: KeyScope
  /** By the store's clock; null = never. */
  expiresAtMs?: number | null
  /** The account's; without it, any number. */
  mostActive?: number
}

export interface PublishableKeyToCreate {
  account: NamedAccount
  sheetSlug: string
  name: string
  mode: KeyMode
  policy: PolicyWish
  expiresAtMs?: number | null
  mostActive?: number
}

/** The value of a secret key exists only here: it is shown once and then gone. */
export interface FreshKey {
  record: KeyRecord
  value: string
}

const maxNameCharacters = 100
const consoleKeyLifeMs = 60 * 60_000
const consoleKeyName = 'Console'

export function createKeys(store: Store, sheets: Pick<Sheets, 'find'>, policyColumns: PolicyColumns): Keys {
  return {
    async create({ account, sheetSlug, name, mode, scope, expiresAtMs = null, mostActive }) {
      const trimmed = name.trim()
      if (!canBeName(trimmed)) return badName
      const sheet = sheetSlug === null ? null : await sheets.find(account, sheetSlug)
      if (sheet instanceof Problem) return sheet
      const { value, ...stored } = freshValue(mode)
      const sheetId = sheet?.id ?? null
      const named = { accountId: account.id, sheetId, name: trimmed }
      const record = await store.createKey({ ...named, mode, scope, expiresAtMs, ...stored }, mostActive)
      return { record, value }
    },
    async createPublishable({
      account,
      sheetSlug,
      name,
      mode,
      policy: wish,
      expiresAtMs = null,
      mostActive,
    }) {
      const trimmed = name.trim()
      if (!canBeName(trimmed)) return badName
      const sheet = await sheets.find(account, sheetSlug)
      if (sheet instanceof Problem) return sheet
      const policy = await checkPolicy(sheet, wish)
      if (policy instanceof Problem) return policy
      const { value, ...stored } = freshValue(mode, 'publishable')
      const rights = { mode, scope: scopeOf(policy), expiresAtMs, policy }
      const named = { accountId: account.id, sheetId: sheet.id, name: trimmed }
      const record = await store.createKey({ ...named, ...rights, ...stored, publicValue: value }, mostActive)
      return { record, value }
    },
    async setPolicy(keyId, wish) {
      const key = await active(keyId)
      if (key instanceof Problem) return key
      if (key.policy === null || key.sheetId === null) return notPublishable
      const sheet = (await store.sheetsOf(key.accountId)).find(({ id }) => id === key.sheetId)
      if (!sheet) return unknownKey(keyId)
      const policy = await checkPolicy(sheet, wish)
      if (policy instanceof Problem) return policy
      const scope = scopeOf(policy)
      await store.changeKey(keyId, { policy, scope })
      return { ...key, policy, scope }
    },
    async list(account) {
      return (await store.keysOf(account.id)).filter(({ isOfConsole }) => !isOfConsole)
    },
    async ofAccount(accountId, keyId) {
      const key = await store.findKey(keyId)
      return key?.accountId === accountId ? key : unknownKey(keyId)
    },
    async namesOf(accountId, slugs) {
      const keys = await store.keysOf(accountId)
      return new Map(
        keys.map(({ id, name, isOfConsole, sheetId }) => {
          const slug = isOfConsole && sheetId !== null ? slugs.get(sheetId) : undefined
          return [id, slug === undefined ? name : `${name} (${slug})`]
        }),
      )
    },
    async forConsole({ id: sheetId, accountId, accepts }, sessionHash) {
      const mode = accepts === 'live' ? 'live' : 'test'
      const { value, ...stored } = freshValue(mode)
      const rights = { accountId, sheetId, name: consoleKeyName, mode, scope: 'read-write' } as const
      await store.putConsoleKey({ ...rights, ...stored, sessionHash }, consoleKeyLifeMs)
      return { value, lifeMs: consoleKeyLifeMs }
    },
    async revoke(keyId) {
      const key = await active(keyId)
      if (key instanceof Problem) return key
      return (await store.revokeKey(keyId)) ? key : alreadyRevoked(keyId)
    },
    async setScope(keyId, scope) {
      const key = await active(keyId)
      if (key instanceof Problem) return key
      if (key.policy) return boundByPolicy
      await store.setKeyScope(keyId, scope)
      return { ...key, scope }
    },
    async change(keyId, { name, ...rest }, mostActive) {
      const key = await active(keyId)
      if (key instanceof Problem) return key
      if (key.policy && rest.scope !== undefined) return boundByPolicy
      const trimmed = name?.trim()
      if (trimmed !== undefined && !canBeName(trimmed)) return badName
      const changed = { ...rest, ...(trimmed !== undefined && { name: trimmed }) }
      await store.changeKey(keyId, changed, mostActive)
      return { ...key, ...changed }
    },
    async regenerate(keyId, overlapMs = 0, mostActive) {
      const key = await active(keyId)
      if (key instanceof Problem) return key
      const { value, ...stored } = freshValue(key.mode, key.policy ? 'publishable' : 'secret')
      const publicValue = key.policy ? value : null
      const record = await store.replaceKey(keyId, { ...stored, publicValue }, overlapMs, mostActive)
      return record ? { record, value } : alreadyRevoked(keyId)
    },
  }

  async function checkPolicy(sheet: SheetRecord, wish: PolicyWish): Promise<KeyPolicy | Problem> {
    const policy = policyFor(wish)
    return policy instanceof Problem ? policy : policyColumns.check(sheet, policy)
  }

  async function active(keyId: string): Promise<KeyRecord | Problem> {
    const key = await store.findKey(keyId)
    if (!key) return unknownKey(keyId)
    return key.revokedAtMs === null ? key : alreadyRevoked(keyId)
  }
}

/** What a list of keys says of it; nothing is decided by that. */
function scopeOf({ may }: KeyPolicy): KeyScope {
  return may.includes('add') ? 'read-write' : 'read'
}

const notPublishable = new Problem('only a publishable key has a policy')
const boundByPolicy = new Problem('a publishable key has a policy in place of a scope; change that')

function canBeName(trimmed: string): boolean {
  return trimmed !== '' && trimmed.length <= maxNameCharacters && !/\p{Cc}/u.test(trimmed)
}

const badName = new Problem(`a key needs a name of 1 to ${maxNameCharacters} characters on one line`, {
  field: 'name',
})

function freshValue(mode: KeyMode, kind: KeyKind = 'secret') {
  const value = generateApiKey(mode, kind)
  const hash = hashApiKey(value)
  if (hash === null) throw new Error('A generated key does not have the shape of a key')
  return { value, hash, ...shownParts(value) }
}

function unknownKey(keyId: string): Problem {
  return new Problem(`there is no key with the id "${keyId}"`, { kind: 'not_found' })
}

function alreadyRevoked(keyId: string): Problem {
  return new Problem(`the key "${keyId}" is revoked; a revoked key stays revoked`)
}
