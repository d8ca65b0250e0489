import type { Plans } from '../../admission/plans.ts'
import type { AccountRecord } from '../../store/accounts/accounts.ts'
import { maxFormerSlugs, slugReservedMs } from '../../store/accounts/former-slugs.ts'
import type { Store } from '../../store/store.ts'
import { Problem } from '../problem.ts'
import { problemWithSlug } from './slug.ts'

export type { AccountRecord }

/** Whom an owner's verb is for: by the id, which never changes and is never another's. The slug is for sentences alone. */
export type NamedAccount = Pick<AccountRecord, 'id' | 'slug'>

export interface Accounts {
  /** `plan`: null = the operator's default, which has no limits unless it is set. */
  create(slug: string, plan: string | null): Promise<AccountRecord | Problem>
  list(): Promise<(AccountRecord & { sheetCount: number })[]>
  /** For the operator, who names accounts by their slugs; whoever is signed in is known by the id. */
  find(slug: string): Promise<AccountRecord | Problem>
  /** null = as the plan says. */
  setPlan(slug: string, plan: string, own: OwnLimits): Promise<AccountRecord | Problem>
  /** Addresses with the former slug end at once, and are nobody else's for a while; those by id and all keys go on. */
  rename(account: AccountRecord, slug: string): Promise<AccountRecord | Problem>
}

export interface OwnLimits {
  requestsPerMinute: number | null
  requestsPerMonth: number | null
}

const dayMs = 24 * 60 * 60_000
const reservedDays = slugReservedMs / dayMs

export function createAccounts(store: Store, plans: Plans, defaultPlan: string): Accounts {
  return {
    async create(slug, wanted) {
      const plan = wanted ?? defaultPlan
      const problem = problemWithSlug(slug)
      if (problem) return new Problem(problem)
      if (!plans.has(plan)) return unknownPlan(plan)
      const account = await store.createAccount({ slug, plan })
      if (account !== 'slug_taken') return account
      return (await store.findAccount(slug)) ? slugTaken(slug) : slugReserved(slug)
    },
    list: () => store.listAccounts(),
    find,
    async rename(account, slug) {
      const problem = problemWithSlug(slug)
      if (problem) return new Problem(problem, { field: 'slug' })
      const outcome = await store.renameAccount(account.id, slug)
      if (outcome === 'renamed') return { ...account, slug }
      if (outcome === 'too_often') return renamedTooOften
      return (await store.findAccount(slug)) ? slugTaken(slug) : slugReserved(slug)
    },
    async setPlan(slug, plan, own) {
      const account = await find(slug)
      if (account instanceof Problem) return account
      if (!plans.has(plan)) return unknownPlan(plan)
      await store.setPlan(account.id, { plan, ...own })
      return { ...account, plan, ...own }
    },
  }

  async function find(slug: string): Promise<AccountRecord | Problem> {
    return (await store.findAccount(slug)) ?? new Problem(`there is no account "${slug}"`)
  }

  function slugTaken(slug: string): Problem {
    return new Problem(`the account name "${slug}" is taken`, { kind: 'taken', field: 'slug' })
  }

  function unknownPlan(plan: string): Problem {
    return new Problem(`there is no plan "${plan}"; the plans are ${[...plans.keys()].join(', ')}`)
  }
}

/** Slugs stand in public addresses: that somebody had this one is no secret. */
function slugReserved(slug: string): Problem {
  const words = `"${slug}" is taken: another account used it less than ${reservedDays} days ago`
  return new Problem(words, { kind: 'taken', field: 'slug' })
}

const renamedTooOften = new Problem(
  `you can rename an account ${maxFormerSlugs} times in ${reservedDays} days; go back to a former name, or wait`,
  { kind: 'not_allowed', field: 'slug' },
)
