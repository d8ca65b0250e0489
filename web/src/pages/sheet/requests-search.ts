import type { RecentRequest } from '../../../../src/dashboard/contract.ts'
import { keptRequests } from '../../../../src/store/usage/kept-requests.ts'

export type Outcome = 'success' | 'client-error' | 'server-error'

/** What stands in the URL of the request log. */
export interface RequestsSearch {
  outcome?: Outcome | undefined
  method?: string | undefined
  /** The name of a key; '' for requests without one. */
  by?: string | undefined
  exact?: boolean | undefined
  /** How far back; more than a page of them. */
  last?: number | undefined
}

/** That many are shown at first, and come with each step further back. */
export const requestsOfPage = 100

export const outcomes: readonly { value: Outcome; title: string }[] = [
  { value: 'success', title: 'Success (2xx, 3xx)' },
  { value: 'client-error', title: 'Client errors (4xx)' },
  { value: 'server-error', title: 'Server errors (5xx)' },
]

export function requestsSearchIn({
  outcome,
  method,
  by,
  exact,
  last,
}: Record<string, unknown>): RequestsSearch {
  return {
    ...(outcomes.some(({ value }) => value === outcome) && { outcome: outcome as Outcome }),
    ...(typeof method === 'string' && method !== '' && { method }),
    ...(typeof by === 'string' && { by }),
    ...(exact === true && { exact }),
    ...(Number(last) > requestsOfPage && { last: Math.min(Math.floor(Number(last)), keptRequests) }),
  }
}

export function filteredRequests(
  requests: readonly RecentRequest[],
  { outcome, method, by }: RequestsSearch,
): RecentRequest[] {
  return requests.filter(
    (request) =>
      (outcome === undefined || outcomeOf(request) === outcome) &&
      (method === undefined || request.method === method) &&
      (by === undefined || (request.keyName ?? '') === by),
  )
}

function outcomeOf({ status }: RecentRequest): Outcome {
  if (status < 400) return 'success'
  return status < 500 ? 'client-error' : 'server-error'
}
