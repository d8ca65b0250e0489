import type { SheetAccess } from '../store/schema.ts'
import type { SheetRecord, SheetSettings, Store } from '../store/store.ts'
import type { Accounts } from './accounts.ts'
import { Problem } from './problem.ts'
import { problemWithSlug } from './slug.ts'

export interface Sheets {
  connect(sheet: SheetToConnect): Promise<SheetRecord | Problem>
  find(accountSlug: string, sheetSlug: string): Promise<SheetRecord | Problem>
  list(accountSlug: string): Promise<SheetRecord[] | Problem>
  setPaused(accountSlug: string, sheetSlug: string, paused: boolean): Promise<SheetRecord | Problem>
  change(
    accountSlug: string,
    sheetSlug: string,
    settings: Partial<SheetSettings>,
  ): Promise<SheetRecord | Problem>
}

export interface SheetToConnect {
  accountSlug: string
  sheetSlug: string
  access: SheetAccess
  provider: string
  source: string
  location: string
}

/** CONTRACT 2: `cache_seconds` is 0 to 3,600. */
const maxCacheSeconds = 3_600
const maxStaleSeconds = 86_400

export function createSheets(store: Store, accounts: Accounts): Sheets {
  return {
    async connect({ accountSlug, sheetSlug, ...rest }) {
      const problem = problemWithSlug(sheetSlug)
      if (problem) return new Problem(problem)
      const account = await accounts.find(accountSlug)
      if (account instanceof Problem) return account
      const sheet = await store.createSheet({ accountId: account.id, slug: sheetSlug, ...rest })
      if (sheet !== 'slug_taken') return sheet
      return new Problem(`there is already a sheet "${accountSlug}/${sheetSlug}"`)
    },
    find,
    async list(accountSlug) {
      const account = await accounts.find(accountSlug)
      return account instanceof Problem ? account : store.sheetsOf(account.id)
    },
    async change(accountSlug, sheetSlug, settings) {
      const sheet = await find(accountSlug, sheetSlug)
      if (sheet instanceof Problem) return sheet
      const { cacheSeconds = 0, staleIfErrorSeconds = 0 } = settings
      if (cacheSeconds > maxCacheSeconds)
        return new Problem(`rows are kept for at most ${maxCacheSeconds} seconds`)
      if (staleIfErrorSeconds > maxStaleSeconds) {
        return new Problem(`old rows are served for at most ${maxStaleSeconds} seconds`)
      }
      await store.changeSheet(sheet.id, settings)
      return { ...sheet, ...settings }
    },
    async setPaused(accountSlug, sheetSlug, paused) {
      const sheet = await find(accountSlug, sheetSlug)
      if (sheet instanceof Problem) return sheet
      await store.setPaused(sheet.id, paused)
      return { ...sheet, paused }
    },
  }

  async function find(accountSlug: string, sheetSlug: string): Promise<SheetRecord | Problem> {
    const account = await accounts.find(accountSlug)
    if (account instanceof Problem) return account
    const sheet = await store.findSheet(account.id, sheetSlug)
    return sheet ?? new Problem(`there is no sheet "${accountSlug}/${sheetSlug}"`)
  }
}
