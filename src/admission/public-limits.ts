import type { Observe } from '../reporting/observe.ts'
import type { RateWindows } from '../shared-state/rate-windows/rate-windows.ts'
import { clientNetwork } from '../shares/client-network.ts'
import { type Soon, then } from '../soon.ts'
import type { AccountFacts, SheetFacts } from '../store/admission/admission-facts.ts'
import { type Admitted, type Limits, type RateLimit, rateLimitOf, tooOften, windowMs } from './admitted.ts'
import type { Pass } from './judge.ts'
import { reserveNow } from './month-limit.ts'
import { limitsOf, type Plans } from './plans.ts'
import type { Quota } from './quota.ts'

/**
 * What readers without a key have: windows and a month of their own, so that strangers never use up what the owner's keys
 * have. Each sheet has as many requests a minute as its account's keys have, and all of them together as many a month.
 */
export interface PublicReaders {
  /** Windows of addresses, and of sheets. */
  windows: RateWindows
  /** From one address, for all sheets. */
  requestsPerMinute: number
  quota: Quota
}

export interface PublicLimits {
  /**
   * Counts readers by where they come from, and that first: whoever has used up its own part takes nothing from the other
   * readers of the sheet.
   */
  takeRequest(pass: Pass, clientAddress: string): Soon<Admitted<Pass>>
  /** The rate limit as `takeRequest` would tell it, for a call that was refused for something else. */
  readRate(account: AccountFacts, sheet: SheetFacts, clientAddress: string): Promise<RateLimit>
}

export function createPublicLimits(
  plans: Plans,
  { windows, requestsPerMinute: ofAddress, quota }: PublicReaders,
  observe: Observe,
): PublicLimits {
  return {
    takeRequest(pass, clientAddress) {
      const { account, sheet } = pass
      const { requestsPerMinute, requestsPerMonth } = limitsOf(account, plans)
      const limits: Limits = { rate: null, quota: null }
      return then(
        windows.takeFromWindow(addressWindowName(clientAddress), ofAddress, windowMs),
        (address) => {
          limits.rate = rateLimitOf(address, ofAddress)
          if (!address.isAdmitted) {
            observe({ event: 'share_used_up', share: 'public_requests_per_minute', accountId: null })
            return tooOften(pass, limits, address)
          }
          if (requestsPerMinute === null) return reserveNow(pass, limits, quota, requestsPerMonth)
          return then(
            windows.takeFromWindow(sheetWindowName(sheet), requestsPerMinute, windowMs),
            (window) => {
              if (!window.isAdmitted || window.remaining < address.remaining)
                limits.rate = rateLimitOf(window, requestsPerMinute)
              return window.isAdmitted
                ? reserveNow(pass, limits, quota, requestsPerMonth)
                : tooOften(pass, limits, window)
            },
          )
        },
      )
    },
    async readRate(account, sheet, clientAddress) {
      const { requestsPerMinute } = limitsOf(account, plans)
      const [address, window] = await Promise.all([
        windows.readWindow(addressWindowName(clientAddress), ofAddress, windowMs),
        requestsPerMinute === null
          ? null
          : windows.readWindow(sheetWindowName(sheet), requestsPerMinute, windowMs),
      ])
      return requestsPerMinute !== null && window && window.remaining < address.remaining
        ? rateLimitOf(window, requestsPerMinute)
        : rateLimitOf(address, ofAddress)
    },
  }
}

function addressWindowName(clientAddress: string): string {
  return `public ${clientNetwork(clientAddress)}`
}

function sheetWindowName({ id }: SheetFacts): string {
  return `public ${id}`
}
