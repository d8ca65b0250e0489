import { type Plan, type Plans, planUnknown } from '../../admission/plans.ts'
import type { AccountRecord } from './accounts.ts'

/** The plans, as an owner sees them. */
export interface PlanBook {
  /** With the limits that are this account's own. */
  of(account: AccountRecord): Plan & { name: string }
  all: (Plan & { name: string })[]
}

export function createPlanBook(plans: Plans): PlanBook {
  return {
    of({ plan: name, requestsPerMinute, requestsPerMonth }) {
      const plan = plans.get(name) ?? planUnknown
      return {
        name,
        requestsPerMinute: requestsPerMinute ?? plan.requestsPerMinute,
        requestsPerMonth: requestsPerMonth ?? plan.requestsPerMonth,
        writeApi: plan.writeApi,
      }
    },
    all: [...plans].map(([name, plan]) => ({ name, ...plan })),
  }
}
