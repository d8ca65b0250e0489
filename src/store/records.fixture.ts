import assert from 'node:assert/strict'
import type { AccountRecord } from './accounts/accounts.ts'
import type { NewKey } from './keys/keys.ts'
import type { NewSheet, SheetRecord } from './sheets/sheets.ts'
import type { Store } from './store.ts'

/** What the store's contract fills a store with. */

export async function newAccount(store: Store, slug: string): Promise<AccountRecord> {
  const account = await store.createAccount({ slug, plan: 'pro' })
  assert.ok(account !== 'slug_taken')
  return account
}

export async function accountWithSheet(
  store: Store,
  slug = 'acme',
): Promise<{ account: AccountRecord; sheet: SheetRecord }> {
  const account = await newAccount(store, slug)
  const sheet = await store.createSheet(newSheet(account.id, 'stock'))
  assert.ok(typeof sheet === 'object')
  return { account, sheet }
}

export function newSheet(accountId: string, slug: string): NewSheet {
  return {
    accountId,
    slug,
    provider: 'file',
    source: 'file:/stock.csv',
    location: '{"path":"/stock.csv"}',
    credentialId: null,
    access: 'private',
  }
}

export function newKey(accountId: string, sheetId: string | null, hash: string): NewKey {
  return {
    accountId,
    sheetId,
    name: 'key',
    mode: 'live',
    scope: 'read',
    hash,
    shownStart: 'a',
    shownEnd: 'z',
  }
}
