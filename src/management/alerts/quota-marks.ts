import { billingCycleAt } from '../../admission/billing-cycle.ts'
import { limitsOf, type Plans, planUnknown } from '../../admission/plans.ts'
import type { AccountRecord } from '../../store/accounts/accounts.ts'

const earlyMark = 80

export interface ChargedMonth {
  account: AccountRecord
  by: 'keys' | 'public'
  cycleStartMs: number
  charged: number
}

/** The mark that a month has reached, with its figures; null for none, and for a month that is over. */
export function reachedMark(month: ChargedMonth, plans: Plans, nowMs: number) {
  const { account, cycleStartMs, charged: used, by } = month
  const limit = limitsOf(account, plans).requestsPerMonth
  const resetsAtMs = billingCycleAt(account.createdAtMs, cycleStartMs).endMs
  if (limit === null || resetsAtMs <= nowMs) return null
  const percent = used >= limit ? 100 : used * 100 >= limit * earlyMark ? earlyMark : 0
  return percent === 0 ? null : { percent, used, limit, resetsAtMs, by }
}

export function leastLimitOf(plans: Plans): number {
  const limits = [planUnknown, ...plans.values()].flatMap(({ requestsPerMonth }) => requestsPerMonth ?? [])
  return Math.min(...limits)
}
