import type { Plans } from '../admission/plans.ts'
import type { AccountRecord, Store } from '../store/store.ts'
import { Problem } from './problem.ts'
import { problemWithSlug } from './slug.ts'

export type { AccountRecord }

export interface Accounts {
  create(slug: string, plan: string): Promise<AccountRecord | Problem>
  find(slug: string): Promise<AccountRecord | Problem>
  /** null = as the plan says. */
  setPlan(slug: string, plan: string, own: OwnLimits): Promise<AccountRecord | Problem>
  /** Addresses with the former slug end at once; those by id and all keys go on. */
  rename(account: AccountRecord, slug: string): Promise<AccountRecord | Problem>
}

export interface OwnLimits {
  requestsPerMinute: number | null
  requestsPerMonth: number | null
}

export function createAccounts(store: Store, plans: Plans): Accounts {
  return {
    async create(slug, plan) {
      const problem = problemWithSlug(slug)
      if (problem) return new Problem(problem)
      if (!plans.has(plan)) return unknownPlan(plan)
      const account = await store.createAccount({ slug, plan })
      return account === 'slug_taken' ? new Problem(`there is already an account "${slug}"`) : account
    },
    find,
    async rename(account, slug) {
      const problem = problemWithSlug(slug)
      if (problem) return new Problem(problem, { field: 'slug' })
      const outcome = await store.renameAccount(account.id, slug)
      if (outcome === 'renamed') return { ...account, slug }
      return new Problem(`there is already an account "${slug}"`, { kind: 'taken', field: 'slug' })
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

  function unknownPlan(plan: string): Problem {
    return new Problem(`there is no plan "${plan}"; the plans are ${[...plans.keys()].join(', ')}`)
  }
}
