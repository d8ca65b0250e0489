import type { Observe } from '../reporting/observe.ts'
import { clientNetwork } from '../shares/client-network.ts'
import { type Soon, then } from '../soon.ts'
import type { AccountFacts } from '../store/admission/admission-facts.ts'
import type { KeyPolicy } from '../store/keys/key-policy.ts'
import {
  type Admitted,
  type Caller,
  type Limits,
  type RateLimit,
  rateLimited,
  rateLimitOf,
  tooOften,
  windowMs,
} from './admitted.ts'
import type { AdmissionCall } from './judge.ts'
import { reserveLater, reserveNow } from './month-limit.ts'
import { limitsOf, type Plans } from './plans.ts'
import type { PublicReaders } from './public-limits.ts'

/** What everyone has who comes through something that stands in a page: a publishable key, or a form. */
export interface PageDoor {
  /** Tells it from all others. */
  id: string
  /** From one visitor's address. */
  requestsPerMinute: KeyPolicy['requestsPerMinute']
  /** What all of them may have done; absent = as many as come. It is taken with the month, for what is no repetition. */
  requestsPerHour?: number
}

type PageCaller = Caller & { account: AccountFacts }

/**
 * Visitors of pages are strangers, so they have what readers without a key have: windows of their own and the month of the
 * public. Whatever they do, the owner's secret keys are not refused for it.
 */
export interface VisitorLimits {
  takeRequest<P extends PageCaller>(
    pass: P,
    door: PageDoor,
    intent: AdmissionCall['intent'],
    clientAddress: string,
  ): Soon<Admitted<P>>
  /** For what the owner does with what came: it takes of the month alone. */
  takeNothing<P extends PageCaller>(pass: P): Soon<Admitted<P>>
  /** The visitor's own window as it stands, for a call that was refused for something else. */
  readRate(door: PageDoor, clientAddress: string): Promise<RateLimit>
}

export function createVisitorLimits(
  plans: Plans,
  { windows, quota }: Pick<PublicReaders, 'windows' | 'quota'>,
  observe: Observe,
): VisitorLimits {
  return {
    takeRequest(pass, door, intent, clientAddress) {
      const { requestsPerMinute, requestsPerMonth } = limitsOf(pass.account, plans)
      const limits: Limits = { rate: null, quota: null }
      const ofVisitor = windows.takeFromWindow(
        visitorWindow(door, clientAddress),
        door.requestsPerMinute,
        windowMs,
      )
      return then(ofVisitor, (visitor) => {
        limits.rate = rateLimitOf(visitor, door.requestsPerMinute)
        if (!visitor.isAdmitted) {
          observe({ event: 'share_used_up', share: 'public_requests_per_minute', accountId: pass.account.id })
          return tooOften(pass, limits, visitor)
        }
        if (requestsPerMinute === null) return withinHour()
        return then(windows.takeFromWindow(doorWindow(door), requestsPerMinute, windowMs), (all) => {
          if (!all.isAdmitted || all.remaining < visitor.remaining)
            limits.rate = rateLimitOf(all, requestsPerMinute)
          return all.isAdmitted ? withinHour() : tooOften(pass, limits, all)
        })
      })

      function withinHour(): Soon<Admitted<typeof pass>> {
        const { id, requestsPerHour } = door
        if (requestsPerHour === undefined) return withinMonth()
        const name = `visitors ${id} hour`
        return then(windows.readWindow(name, requestsPerHour, hourMs), (asItStands) => {
          if (!asItStands.isAdmitted) return tooOften(pass, limits, asItStands)
          return then(withinMonth(), (admitted): Admitted<typeof pass> => {
            const reserve = () =>
              then(windows.takeFromWindow(name, requestsPerHour, hourMs), (hour) =>
                hour.isAdmitted ? admitted.reserve() : rateLimited(hour.resetAtMs, hour.nowMs),
              )
            return { ...admitted, reserve }
          })
        })
      }

      function withinMonth(): Soon<Admitted<typeof pass>> {
        return intent === 'read' || requestsPerMonth === null
          ? reserveNow(pass, limits, quota, requestsPerMonth)
          : reserveLater(pass, limits, quota, requestsPerMonth)
      }
    },
    takeNothing(pass) {
      const { requestsPerMonth } = limitsOf(pass.account, plans)
      const limits: Limits = { rate: null, quota: null }
      return requestsPerMonth === null
        ? reserveNow(pass, limits, quota, requestsPerMonth)
        : reserveLater(pass, limits, quota, requestsPerMonth)
    },
    async readRate(door, clientAddress) {
      const { requestsPerMinute } = door
      const window = await windows.readWindow(visitorWindow(door, clientAddress), requestsPerMinute, windowMs)
      return rateLimitOf(window, requestsPerMinute)
    },
  }
}

const hourMs = 60 * 60_000

function visitorWindow({ id }: PageDoor, clientAddress: string): string {
  return `visitor ${id} ${clientNetwork(clientAddress)}`
}

function doorWindow({ id }: PageDoor): string {
  return `visitors ${id}`
}
