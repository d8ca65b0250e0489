import { Refusal } from '../errors.ts'
import type { RateWindow, RateWindows } from '../shared-state/rate-windows.ts'
import { type Soon, then } from '../soon.ts'
import type { AccountFacts, Facts, KeyFacts, SheetRecord, Store } from '../store/store.ts'
import { type Call, isPastAuthentication, judge, type Pass } from './judge.ts'
import type { KeyUse } from './key-use.ts'
import { type Plan, type Plans, planUnknown } from './plans.ts'
import type { Quota, QuotaState, Reservation } from './quota.ts'

const windowMs = 60_000

export interface Admission {
  /** May this call pass? Asks the store anew each time: what was changed a moment ago already holds. */
  admit(call: Call): Promise<Admitted<Pass>>
  /** The same question once more, for a write that had to wait for its turn; counts nothing. */
  stillAdmits(call: Call): Promise<Refusal | null>
  /** For what belongs to the account and not to one sheet: the key says which account. */
  admitToAccount(keyHash: string | null): Promise<Admitted<AccountPass>>
}

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
  /** For the quota: the request did not succeed, so it costs nothing. */
  release(): void
}

/** For those who count requests. */
export interface Caller {
  account: { id: string }
  /** null where the account as a whole was asked for. */
  sheet: { id: string } | null
  /** null for a keyless read of a public sheet. */
  key: { id: string } | null
}

/** What the caller may be told of its limits; null where there is none, or where it is not the caller's business. */
export interface Limits {
  rate: (Pick<RateWindow, 'remaining' | 'resetAtMs'> & { limit: number }) | null
  quota: QuotaState | null
}

export interface AccountPass {
  account: AccountFacts
  sheet: null
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
}

/** CONTRACT 4: what `judge` says of account, sheet, key, pause, plan and scope, then rate limit, then quota. */
export function createAdmission({ store, plans, windows, quota, keyUse }: AdmissionParts): Admission {
  return {
    admit(call) {
      return store.lookUp(call.address, call.keyHash).then((facts) => {
        const verdict = judge(call, facts, plans)
        if (verdict instanceof Refusal) return refusedEarly(verdict, facts)
        return withinLimits(verdict, call.intent)
      })
    },

    async stillAdmits(call) {
      const verdict = judge(call, await store.lookUp(call.address, call.keyHash), plans)
      return verdict instanceof Refusal ? verdict : null
    },

    async admitToAccount(keyHash) {
      const found = keyHash === null ? null : await store.lookUpKey(keyHash)
      if (!found) {
        const refusal = new Refusal(keyHash === null ? 'api_key_required' : 'invalid_api_key')
        return { ...refused(refusal), isStranger: true }
      }
      const { account, key } = found
      const sheets = (await store.sheetsOf(account.id)).filter(
        (sheet) =>
          (key.sheetId === null || key.sheetId === sheet.id) &&
          (key.mode === 'live' || sheet.accepts !== 'live'),
      )
      return withinLimits({ account, sheet: null, key, sheets }, 'read')
    },
  }

  function withinLimits<P extends Pick<Pass, 'account' | 'key'> & Caller>(
    pass: P,
    intent: Call['intent'],
  ): Soon<Admitted<P>> {
    const { account, key } = pass
    if (key) keyUse.note(key.id)
    const { requestsPerMinute, requestsPerMonth } = limitsOf(account)
    const limits: Limits = { rate: null, quota: null }
    if (requestsPerMinute === null) return withinQuota()
    return then(windows.take(windowName(account, key), requestsPerMinute, windowMs), (window) => {
      const { isAdmitted, remaining, resetAtMs, nowMs } = window
      limits.rate = { limit: requestsPerMinute, remaining, resetAtMs }
      return isAdmitted ? withinQuota() : { ...refused(rateLimited(resetAtMs, nowMs)), caller: pass, limits }
    })

    function withinQuota(): Soon<Admitted<P>> {
      if (requestsPerMonth === null) {
        const { reserve, release } = withoutQuota
        return { verdict: pass, isStranger: false, caller: pass, limits, reserve, release }
      }
      const nowMs = account.lookedUpAtMs
      const of = { id: account.id, anchorMs: account.createdAtMs, nowMs }
      if (intent === 'write')
        return reservedLater(pass, limits, () => quota.reserve(of, requestsPerMonth), nowMs)
      return then(quota.reserve(of, requestsPerMonth), ({ isAdmitted, state, release }) => {
        limits.quota = state
        const { reserve } = withoutQuota
        const verdict = isAdmitted ? pass : usedUp(state, nowMs)
        return { verdict, isStranger: false, caller: pass, limits, reserve, release }
      })
    }
  }

  function reservedLater<P extends Caller>(
    pass: P,
    limits: Limits,
    take: () => Soon<Reservation>,
    nowMs: number,
  ): Admitted<P> {
    let held: Reservation | null = null
    return {
      verdict: pass,
      isStranger: false,
      caller: pass,
      limits,
      reserve: () =>
        then(take(), (reservation) => {
          held = reservation
          limits.quota = reservation.state
          return reservation.isAdmitted ? null : usedUp(reservation.state, nowMs)
        }),
      release: () => held?.release(),
    }
  }

  /** A caller whose key is good is told its limits also where something else was in the way; it costs nothing. */
  async function refusedEarly(refusal: Refusal, { account, sheet, key }: Facts): Promise<Admitted<never>> {
    const isStranger = !isPastAuthentication(refusal)
    const caller = account && !isStranger ? { account, sheet, key } : null
    const requestsPerMinute = account && !isStranger ? limitsOf(account).requestsPerMinute : null
    if (!account || requestsPerMinute === null) return { ...refused(refusal), isStranger, caller }
    const window = await windows.look(windowName(account, key), requestsPerMinute, windowMs)
    const rate = { ...window, limit: requestsPerMinute }
    return { ...refused(refusal), caller, limits: { rate, quota: null } }
  }

  function limitsOf(account: AccountFacts): Pick<Plan, 'requestsPerMinute' | 'requestsPerMonth'> {
    const plan = plans.get(account.plan) ?? planUnknown
    return {
      requestsPerMinute: account.requestsPerMinute ?? plan.requestsPerMinute,
      requestsPerMonth: account.requestsPerMonth ?? plan.requestsPerMonth,
    }
  }
}

function usedUp({ resetAtMs }: QuotaState, nowMs: number): Refusal {
  return new Refusal('usage_limit_exceeded', { retryAfterSeconds: secondsUntil(resetAtMs, nowMs) })
}

/** Test keys have a window of their own, so that trying things out never stops what is live. */
function windowName({ id }: AccountFacts, key: KeyFacts | null): string {
  return `account ${id} ${key?.mode ?? 'live'}`
}

function refused(refusal: Refusal): Admitted<never> {
  const limits = { rate: null, quota: null }
  return { verdict: refusal, isStranger: false, caller: null, limits, ...withoutQuota }
}

export function rateLimited(resetAtMs: number, nowMs: number): Refusal {
  const retryAfterSeconds = secondsUntil(resetAtMs, nowMs)
  return new Refusal('rate_limited', { fill: { seconds: String(retryAfterSeconds) }, retryAfterSeconds })
}

/** Rounded up, so that whoever waits as told comes late enough. */
function secondsUntil(atMs: number, nowMs: number): number {
  return Math.max(1, Math.ceil((atMs - nowMs) / 1_000))
}

const withoutQuota: Pick<Admitted<never>, 'reserve' | 'release'> = { reserve: () => null, release: () => {} }
