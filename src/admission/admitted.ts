import { Refusal } from '../errors.ts'
import type { RateWindow } from '../shared-state/rate-windows/rate-windows.ts'
import type { Taker } from '../shares/taker.ts'
import type { Soon } from '../soon.ts'
import type { QuotaState } from './quota.ts'

/** The answer to "may this call pass?". */
export interface Admitted<P> {
  verdict: P | Refusal
  /** Refused before it was known who asked. */
  isStranger: boolean
  /** Who asked, and for what; null for a stranger. */
  caller: Caller | null
  limits: Limits
  /**
   * Takes one of the month's requests, for a write: only once it is known to be no replay, which costs nothing. A
   * read has taken its own already.
   */
  reserve(): Soon<Refusal | null>
  /** Gives the month's request back: what was asked for did not succeed, so it costs nothing. */
  release(): void
}

/** Who asked, for those who count requests. */
export interface Caller {
  account: { id: string }
  /** null where the account as a whole was asked for. */
  sheet: { id: string } | null
  /** null for a keyless read of a public sheet. */
  key: { id: string } | null
  /** Whose share of what all share it takes. */
  taker: Taker
}

/** What the caller may be told of its limits; null where there is none, or where it is not the caller's business. */
export interface Limits {
  rate: RateLimit | null
  quota: QuotaState | null
}

/** A rate limit is so many requests in this time. */
export const windowMs = 60_000

export type RateLimit = Pick<RateWindow, 'remaining' | 'resetAtMs'> & { limit: number }

export const withoutQuota: Pick<Admitted<never>, 'reserve' | 'release'> = {
  reserve: () => null,
  release: () => {},
}

export function refuse(refusal: Refusal): Admitted<never> {
  const limits = { rate: null, quota: null }
  return { verdict: refusal, isStranger: false, caller: null, limits, ...withoutQuota }
}

export function tooOften(caller: Caller, limits: Limits, window: RateWindow): Admitted<never> {
  return { ...refuse(rateLimited(window.resetAtMs, window.nowMs)), caller, limits }
}

export function rateLimited(resetAtMs: number, nowMs: number): Refusal {
  const retryAfterSeconds = secondsUntil(resetAtMs, nowMs)
  return new Refusal('rate_limited', { fill: { seconds: String(retryAfterSeconds) }, retryAfterSeconds })
}

export function quotaUsedUp({ resetAtMs }: QuotaState, nowMs: number): Refusal {
  return new Refusal('usage_limit_exceeded', { retryAfterSeconds: secondsUntil(resetAtMs, nowMs) })
}

/** What a caller is told of a window; how full it is of others' requests stays ours. */
export function rateLimitOf({ remaining, resetAtMs }: RateWindow, limit: number): RateLimit {
  return { remaining, resetAtMs, limit }
}

/** Rounded up, so that whoever waits as told comes late enough. */
function secondsUntil(atMs: number, nowMs: number): number {
  return Math.max(1, Math.ceil((atMs - nowMs) / 1_000))
}
