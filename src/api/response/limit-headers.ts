import type { Limits } from '../../admission/admitted.ts'

/** Times in Unix seconds, rounded up, so that none is too early (docs/contract.md#rate-limit). */
export function limitHeaders({ rate, quota }: Limits): string[] {
  const headers: string[] = []
  if (rate) {
    headers.push(
      'X-RateLimit-Limit',
      String(rate.limit),
      'X-RateLimit-Remaining',
      String(rate.remaining),
      'X-RateLimit-Reset',
      String(Math.ceil(rate.resetAtMs / 1_000)),
    )
  }
  if (quota) {
    headers.push(
      'X-Quota-Limit',
      String(quota.limit),
      'X-Quota-Remaining',
      String(quota.remaining),
      'X-Quota-Reset',
      String(Math.ceil(quota.resetAtMs / 1_000)),
    )
  }
  return headers
}
