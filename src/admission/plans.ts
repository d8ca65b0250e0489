import type { AccountFacts } from '../store/admission/admission-facts.ts'

/**
 * The plans and what each contains (docs/contract.md#plans). null = unlimited, unless the account sets its own number.
 */
export interface Plan {
  requestsPerMinute: number | null
  requestsPerMonth: number | null
  writeApi: boolean
}

export type Plans = ReadonlyMap<string, Plan>

/** An account may be on a plan that the operator has since removed: it gets the least, never the most. */
export const planUnknown: Plan = { requestsPerMinute: 60, requestsPerMonth: 5_000, writeApi: false }

export const defaultPlans: Plans = new Map([
  ['free', { requestsPerMinute: 60, requestsPerMonth: 5_000, writeApi: false }],
  ['pro', { requestsPerMinute: 300, requestsPerMonth: 250_000, writeApi: true }],
  ['business', { requestsPerMinute: 1_000, requestsPerMonth: 2_500_000, writeApi: true }],
  ['unlimited', { requestsPerMinute: null, requestsPerMonth: null, writeApi: true }],
  ['enterprise', { requestsPerMinute: null, requestsPerMonth: null, writeApi: true }],
])

/** An account's own numbers come before those of its plan. */
export function limitsOf(
  account: Pick<AccountFacts, 'plan' | 'requestsPerMinute' | 'requestsPerMonth'>,
  plans: Plans,
): Pick<Plan, 'requestsPerMinute' | 'requestsPerMonth'> {
  const plan = plans.get(account.plan) ?? planUnknown
  return {
    requestsPerMinute: account.requestsPerMinute ?? plan.requestsPerMinute,
    requestsPerMonth: account.requestsPerMonth ?? plan.requestsPerMonth,
  }
}
