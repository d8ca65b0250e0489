import type { Clock } from '../clock.ts'
import { Refusal } from '../errors.ts'
import type { RateWindow, RateWindows } from '../shared-state/rate-windows.ts'
import { type Soon, then } from '../soon.ts'
import type { AccountFacts, Facts, KeyFacts, SheetRecord, Store } from '../store/store.ts'
import { hashApiKey } from './api-key.ts'
import { type Call, isPastAuthentication, judge, type Pass } from './judge.ts'
import type { KeyUse } from './key-use.ts'
import { type Plan, type Plans, planUnknown } from './plans.ts'
import type { Quota, QuotaState } from './quota.ts'

/** Not an SHA-256 in hex, so no stored key has it: a misshapen key is looked up like any other and not found. */
const hashOfNoKey = ''
const windowMs = 60_000

export interface Admission {
  /** May this call pass? Asks the store anew each time: what was changed a moment ago already holds. */
  admit(call: Call): Promise<Admitted<Pass>>
  /** For what belongs to the account and not to one sheet: the key says which account. */
  admitToAccount(apiKey: string | null): Promise<Admitted<AccountPass>>
}

export interface Admitted<P> {
  verdict: P | Refusal
  /** Refused before it was known who asked. */
  isStranger: boolean
  limits: Limits
  /** For the quota: the request did not succeed, so it costs nothing. */
  release(): void
}

/** What the caller may be told of its limits; null where there is none, or where it is not the caller's business. */
export interface Limits {
  rate: (Pick<RateWindow, 'remaining' | 'resetAtMs'> & { limit: number }) | null
  quota: QuotaState | null
}

export interface AccountPass {
  account: AccountFacts
  key: KeyFacts
  /** The sheets this key may read. */
  sheets: SheetRecord[]
}

export interface AdmissionParts {
  store: Store
  plans: Plans
  windows: RateWindows
  quota: Quota
  keyUse: KeyUse
  clock: Clock
}

/** CONTRACT 4: what `judge` says of account, sheet, key, pause, plan and scope, then rate limit, then quota. */
export function createAdmission({ store, plans, windows, quota, keyUse, clock }: AdmissionParts): Admission {
  return {
    admit(call) {
      const keyHash = call.apiKey === null ? null : (hashApiKey(call.apiKey) ?? hashOfNoKey)
      return store.lookUp(call.address, keyHash).then((facts) => {
        const verdict = judge(call, facts, plans)
        if (verdict instanceof Refusal) return refusedEarly(verdict, facts)
        return withinLimits(verdict, verdict.account, verdict.key)
      })
    },

    async admitToAccount(apiKey) {
      const found = apiKey === null ? null : await store.lookUpKey(hashApiKey(apiKey) ?? hashOfNoKey)
      if (!found) {
        const refusal = new Refusal(apiKey === null ? 'api_key_required' : 'invalid_api_key')
        return { ...refused(refusal), isStranger: true }
      }
      const { account, key } = found
      const sheets = (await store.sheetsOf(account.id)).filter(
        (sheet) =>
          (key.sheetId === null || key.sheetId === sheet.id) &&
          (key.mode === 'live' || sheet.accepts !== 'live'),
      )
      return withinLimits({ account, key, sheets }, account, key)
    },
  }

  function withinLimits<P>(pass: P, account: AccountFacts, key: KeyFacts | null): Soon<Admitted<P>> {
    if (key) keyUse.note(key.id)
    const { requestsPerMinute, requestsPerMonth } = limitsOf(account)
    const limits: Limits = { rate: null, quota: null }
    if (requestsPerMinute === null) return withinQuota()
    return then(windows.take(windowName(account, key), requestsPerMinute, windowMs), (window) => {
      const { isAdmitted, remaining, resetAtMs } = window
      limits.rate = { limit: requestsPerMinute, remaining, resetAtMs }
      return isAdmitted ? withinQuota() : { ...refused(rateLimited(resetAtMs, clock.nowMs())), limits }
    })

    function withinQuota(): Soon<Admitted<P>> {
      if (requestsPerMonth === null) {
        return { verdict: pass, isStranger: false, limits, release: nothingToRelease }
      }
      const of = { id: account.id, anchorMs: account.createdAtMs }
      return then(quota.reserve(of, requestsPerMonth), ({ isAdmitted, state, release }) => {
        limits.quota = state
        return { verdict: isAdmitted ? pass : usedUp(state), isStranger: false, limits, release }
      })
    }
  }

  /** A caller whose key is good is told its limits also where something else was in the way; it costs nothing. */
  async function refusedEarly(refusal: Refusal, { account, key }: Facts): Promise<Admitted<never>> {
    const isStranger = !isPastAuthentication(refusal)
    const requestsPerMinute = account && !isStranger ? limitsOf(account).requestsPerMinute : null
    if (!account || requestsPerMinute === null) return { ...refused(refusal), isStranger }
    const window = await windows.look(windowName(account, key), requestsPerMinute, windowMs)
    return { ...refused(refusal), limits: { rate: { ...window, limit: requestsPerMinute }, quota: null } }
  }

  function limitsOf(account: AccountFacts): Pick<Plan, 'requestsPerMinute' | 'requestsPerMonth'> {
    const plan = plans.get(account.plan) ?? planUnknown
    return {
      requestsPerMinute: account.requestsPerMinute ?? plan.requestsPerMinute,
      requestsPerMonth: account.requestsPerMonth ?? plan.requestsPerMonth,
    }
  }

  function usedUp({ resetAtMs }: QuotaState): Refusal {
    return new Refusal('usage_limit_exceeded', { retryAfterSeconds: secondsUntil(resetAtMs, clock.nowMs()) })
  }
}

/** Test keys have a window of their own, so that trying things out never stops what is live. */
function windowName({ id }: AccountFacts, key: KeyFacts | null): string {
  return `account ${id} ${key?.mode ?? 'live'}`
}

function refused(refusal: Refusal): Admitted<never> {
  const limits = { rate: null, quota: null }
  return { verdict: refusal, isStranger: false, limits, release: nothingToRelease }
}

export function rateLimited(resetAtMs: number, nowMs: number): Refusal {
  const retryAfterSeconds = secondsUntil(resetAtMs, nowMs)
  return new Refusal('rate_limited', { fill: { seconds: String(retryAfterSeconds) }, retryAfterSeconds })
}

/** Rounded up, so that whoever waits as told comes late enough. */
function secondsUntil(atMs: number, nowMs: number): number {
  return Math.max(1, Math.ceil((atMs - nowMs) / 1_000))
}

function nothingToRelease(): void {}
