import type { FreshKey, KeyRecord, Keys, KeyToCreate } from '../keys/keys.ts'
import { Problem } from '../problem.ts'
import type { SheetRecord, Sheets, SheetToConnect } from '../sheets/sheets.ts'
import type { AccountRecord, Accounts } from './accounts.ts'

/**
 * The same verbs for whoever runs the server, who names accounts by their slugs. A slug is looked up once, before
 * anything else: whatever the verb does afterwards is for that account, also when the slug has become another's.
 */
export interface BySlug {
  sheets: SheetsBySlug
  keys: KeysBySlug
}

export interface SheetsBySlug {
  connect(sheet: Slugged<SheetToConnect>): Promise<SheetRecord | Problem>
  find(accountSlug: string, sheetSlug: string): Promise<SheetRecord | Problem>
  list(accountSlug: string): Promise<SheetRecord[] | Problem>
  setPaused(accountSlug: string, sheetSlug: string, paused: boolean): Promise<SheetRecord | Problem>
  change(
    accountSlug: string,
    sheetSlug: string,
    change: Parameters<Sheets['change']>[2],
  ): Promise<SheetRecord | Problem>
}

export interface KeysBySlug extends Omit<Keys, 'create' | 'list'> {
  create(key: Slugged<KeyToCreate>): Promise<FreshKey | Problem>
  list(accountSlug: string): Promise<KeyRecord[] | Problem>
}

export type Slugged<Wish> = Omit<Wish, 'account'> & { accountSlug: string }

export function createBySlug(
  accounts: Pick<Accounts, 'find'>,
  { sheets, keys }: { sheets: Sheets; keys: Keys },
): BySlug {
  return {
    sheets: {
      connect: ({ accountSlug, ...rest }) =>
        of(accountSlug, (account) => sheets.connect({ account, ...rest })),
      find: (slug, sheetSlug) => of(slug, (account) => sheets.find(account, sheetSlug)),
      list: (slug) => of(slug, (account) => sheets.list(account)),
      setPaused: (slug, sheetSlug, paused) =>
        of(slug, (account) => sheets.setPaused(account, sheetSlug, paused)),
      change: (slug, sheetSlug, change) => of(slug, (account) => sheets.change(account, sheetSlug, change)),
    },
    keys: {
      ...keys,
      create: ({ accountSlug, ...rest }) => of(accountSlug, (account) => keys.create({ account, ...rest })),
      list: (slug) => of(slug, (account) => keys.list(account)),
    },
  }

  async function of<T>(
    slug: string,
    act: (account: AccountRecord) => Promise<T | Problem>,
  ): Promise<T | Problem> {
    const account = await accounts.find(slug)
    return account instanceof Problem ? account : act(account)
  }
}
