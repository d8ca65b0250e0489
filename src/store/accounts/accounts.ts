import type { AccountTable } from '../sql/schema.ts'

/** The store's part for accounts and their plans. */
export interface AccountStore {
  createAccount(account: { slug: string; plan: string }): Promise<AccountRecord | 'slug_taken'>
  findAccount(slug: string): Promise<AccountRecord | null>
  countAccounts(): Promise<number>
  /** All of them by slug, each with how many sheets it has. */
  listAccounts(): Promise<(AccountRecord & { sheetCount: number })[]>
  setPlan(accountId: string, plan: PlanChoice): Promise<void>
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
