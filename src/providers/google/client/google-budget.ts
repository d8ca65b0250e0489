import type { Observe } from '../../../reporting/observe.ts'
import {
  type Budget,
  type BudgetLimits,
  type BudgetParts,
  createBudget,
} from '../../remote/rations/budget.ts'

/** What everyone has (docs/google.md#limits). */
export const googleRations: BudgetLimits = {
  perUser: { read: 60, write: 60 },
  perProject: { read: 300, write: 300 },
}

export interface GoogleBudgetParts extends Omit<BudgetParts, 'id' | 'name' | 'onUsedUp'> {
  observe: Observe
}

export function createGoogleBudget({ observe, ...parts }: GoogleBudgetParts): Budget {
  return createBudget({
    ...parts,
    id: 'google',
    name: 'Google',
    onUsedUp: ({ kind, per, by }) =>
      observe({ event: 'google_rationed', kind, per, by: by === 'provider' ? 'google' : by }),
  })
}
