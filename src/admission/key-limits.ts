import type { RateWindows } from '../shared-state/rate-windows/rate-windows.ts'
import { type Soon, then } from '../soon.ts'
import type { AccountFacts, KeyFacts } from '../store/admission/admission-facts.ts'
import {
  type Admitted,
  type Caller,
  type Limits,
  type RateLimit,
  rateLimitOf,
  tooOften,
  windowMs,
} from './admitted.ts'
import type { AdmissionCall } from './judge.ts'
import { reserveLater, reserveNow } from './month-limit.ts'
import { limitsOf, type Plans } from './plans.ts'
import type { Quota } from './quota.ts'

/** The rate limit and the quota of an account, which all of its keys share. */
export interface KeyLimits {
  takeRequest<P extends KeyCaller>(pass: P, intent: AdmissionCall['intent']): Soon<Admitted<P>>
  /** The rate limit as it stands, for a call that was refused for something else; null without one. */
  readRate(account: AccountFacts, key: KeyFacts): Promise<RateLimit | null>
}

type KeyCaller = Caller & { account: AccountFacts; key: KeyFacts | null }

export function createKeyLimits(plans: Plans, windows: RateWindows, quota: Quota): KeyLimits {
  return {
    takeRequest(pass, intent) {
      const { account, key } = pass
      const { requestsPerMinute, requestsPerMonth } = limitsOf(account, plans)
      const limits: Limits = { rate: null, quota: null }
      if (requestsPerMinute === null) return withinQuota()
      return then(windows.takeFromWindow(windowName(account, key), requestsPerMinute, windowMs), (window) => {
        limits.rate = rateLimitOf(window, requestsPerMinute)
        return window.isAdmitted ? withinQuota() : tooOften(pass, limits, window)
      })

      function withinQuota(): Soon<Admitted<typeof pass>> {
        return intent === 'read' || requestsPerMonth === null
          ? reserveNow(pass, limits, quota, requestsPerMonth)
          : reserveLater(pass, limits, quota, requestsPerMonth)
      }
    },
    async readRate(account, key) {
      const { requestsPerMinute } = limitsOf(account, plans)
      if (requestsPerMinute === null) return null
      const window = await windows.readWindow(windowName(account, key), requestsPerMinute, windowMs)
      return rateLimitOf(window, requestsPerMinute)
    },
  }
}

/** Test keys have a window of their own, so that trying things out never stops what is live. */
function windowName({ id }: AccountFacts, key: KeyFacts | null): string {
  return `account ${id} ${key?.mode ?? 'live'}`
}
