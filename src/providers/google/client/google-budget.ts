import type { Observe } from '../../../reporting/observe.ts'
import {
  type Budget,
  type BudgetLimits,
  type BudgetParts,
  createBudget,
  type RationWords,
} from '../../remote/rations/budget.ts'
import { isPublicAccess } from './public-access.ts'

/** What everyone has (docs/google.md#limits). */
export const googleRations: BudgetLimits = {
  perUser: { read: 60, write: 60 },
  perProject: { read: 300, write: 300 },
}

const wordsForKey: RationWords = {
  whose: "this server's API key",
  what: "all sheets that are read with this server's API key, of all accounts",
}

export interface GoogleBudgetParts extends Omit<BudgetParts, 'id' | 'name' | 'onUsedUp'> {
  observe: Observe
}

/** Google counts by the project whose registration or key is used: the operator's own, and that of each service account. */
export function createGoogleBudget({ observe, ...parts }: GoogleBudgetParts): Budget {
  const budgets = new Map<string, Budget>()
  const budgetOf = (subject: string): Budget => {
    const project = /@([a-z\d-]+)\.iam\.gserviceaccount\.com$/.exec(subject)?.[1] ?? ''
    const known = budgets.get(project)
    if (known) return known
    const made = createBudget({
      ...parts,
      id: project === '' ? 'google' : `google ${project}`,
      name: 'Google',
      wordsFor: (subject) => (isPublicAccess({ subject }) ? wordsForKey : null),
      onUsedUp: ({ kind, per, by }) =>
        observe({ event: 'provider_rationed', provider: 'google', kind, per, by }),
    })
    budgets.set(project, made)
    return made
  }
  return {
    take: (wish) => budgetOf(wish.subject).take(wish),
    opensInMs: (who) => budgetOf(who.subject).opensInMs(who),
    isTight: (subject) => budgetOf(subject).isTight(subject),
    noteRefusal: (refusal) => budgetOf(refusal.subject).noteRefusal(refusal),
    noteAcceptance: (who) => budgetOf(who.subject).noteAcceptance(who),
    close() {
      for (const budget of budgets.values()) budget.close()
    },
  }
}
