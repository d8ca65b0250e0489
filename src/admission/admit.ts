import { Refusal } from '../errors.ts'
import type { Observe } from '../reporting/observe.ts'
import type { RateWindow, RateWindows } from '../shared-state/rate-windows/rate-windows.ts'
import { clientNetwork } from '../shares/client-network.ts'
import { type Soon, then } from '../soon.ts'
import type { AccountFacts, Facts, KeyFacts, SheetFacts } from '../store/admission/admission-facts.ts'
import type { SheetRecord } from '../store/sheets/sheets.ts'
import type { Store } from '../store/store.ts'
import { type AdmissionCall, isPastAuthentication, judge, type Pass } from './judge.ts'
import type { KeyUse } from './key-use.ts'
import { type Plan, type Plans, planUnknown } from './plans.ts'
import type { Quota, QuotaState, Reservation } from './quota.ts'

const windowMs = 60_000

export interface Admission {
  /**
   * May this call pass? Asks the store anew each time: what was changed a moment ago already holds. Readers without a key
   * are counted by where they come from.
   */
  admit(call: AdmissionCall, clientAddress: string): Promise<Admitted<Pass>>
  /** The same question once more, for a write that had to wait for its turn; counts nothing. */
  stillAdmits(call: AdmissionCall): Promise<Refusal | null>
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
  publicReaders: PublicReaders
  observe: Observe
}

/**
 * What readers without a key have: windows and a month of their own, so that strangers never use up what the owner's keys
 * have. Each sheet has as many requests a minute as its account's keys have, and all of them together as many a month.
 */
export interface PublicReaders {
  /** Of addresses, and of sheets. */
  windows: RateWindows
  /** From one address, for all sheets. */
  requestsPerMinute: number
  quota: Quota
}

/**
 * What `judge` says of account, sheet, key, pause, plan and scope, then rate limit, then quota
 * (docs/contract.md#order-of-checks).
 */
export function createAdmission(parts: AdmissionParts): Admission {
  const { store, plans, windows, quota, keyUse, publicReaders, observe } = parts
  return {
    admit(call, clientAddress) {
      return store.lookUp(call.address, call.keyHash).then((facts) => {
        const verdict = judge(call, facts, plans)
        if (verdict instanceof Refusal) return refusedEarly(verdict, facts, clientAddress)
        if (verdict.key === null) return withinPublicLimits(verdict, clientAddress)
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
    intent: AdmissionCall['intent'],
  ): Soon<Admitted<P>> {
    const { account, key } = pass
    if (key) keyUse.noteKeyUse(key.id)
    const { requestsPerMinute, requestsPerMonth } = limitsOf(account)
    const limits: Limits = { rate: null, quota: null }
    if (requestsPerMinute === null) return withinQuota()
    return then(windows.takeFromWindow(windowName(account, key), requestsPerMinute, windowMs), (window) => {
      const { isAdmitted, remaining, resetAtMs, nowMs } = window
      limits.rate = { limit: requestsPerMinute, remaining, resetAtMs }
      return isAdmitted ? withinQuota() : { ...refused(rateLimited(resetAtMs, nowMs)), caller: pass, limits }
    })

    function withinQuota(): Soon<Admitted<P>> {
      if (intent === 'read' || requestsPerMonth === null)
        return withinMonth(pass, limits, quota, requestsPerMonth)
      const nowMs = account.lookedUpAtMs
      const of = { id: account.id, anchorMs: account.createdAtMs, nowMs }
      return reservedLater(pass, limits, () => quota.reserve(of, requestsPerMonth), nowMs)
    }
  }

  /** The address first: whoever has used up its own part takes nothing from the other readers of the sheet. */
  function withinPublicLimits(pass: Pass, clientAddress: string): Soon<Admitted<Pass>> {
    const { account, sheet } = pass
    const { requestsPerMinute, requestsPerMonth } = limitsOf(account)
    const limits: Limits = { rate: null, quota: null }
    const ofAddress = publicReaders.requestsPerMinute
    return then(
      publicReaders.windows.takeFromWindow(addressWindowName(clientAddress), ofAddress, windowMs),
      (address) => {
        limits.rate = { ...withoutCount(address), limit: ofAddress }
        if (!address.isAdmitted) {
          observe({ event: 'share_used_up', share: 'public_requests_per_minute', accountId: null })
          return tooOften(address)
        }
        if (requestsPerMinute === null) return withinPublicMonth()
        const taking = publicReaders.windows.takeFromWindow(
          sheetWindowName(sheet),
          requestsPerMinute,
          windowMs,
        )
        return then(taking, (window) => {
          if (!window.isAdmitted || window.remaining < address.remaining)
            limits.rate = { ...withoutCount(window), limit: requestsPerMinute }
          return window.isAdmitted ? withinPublicMonth() : tooOften(window)
        })
      },
    )

    function withinPublicMonth(): Soon<Admitted<Pass>> {
      return withinMonth(pass, limits, publicReaders.quota, requestsPerMonth)
    }
    function tooOften({ resetAtMs, nowMs }: RateWindow): Admitted<Pass> {
      return { ...refused(rateLimited(resetAtMs, nowMs)), caller: pass, limits }
    }
  }

  function withinMonth<P extends Pick<Pass, 'account'> & Caller>(
    pass: P,
    limits: Limits,
    month: Quota,
    requestsPerMonth: number | null,
  ): Soon<Admitted<P>> {
    const { reserve, release } = withoutQuota
    if (requestsPerMonth === null)
      return { verdict: pass, isStranger: false, caller: pass, limits, reserve, release }
    const { id, createdAtMs: anchorMs, lookedUpAtMs: nowMs } = pass.account
    return then(month.reserve({ id, anchorMs, nowMs }, requestsPerMonth), (reservation) => {
      limits.quota = reservation.state
      const verdict = reservation.isAdmitted ? pass : usedUp(reservation.state, nowMs)
      return {
        verdict,
        isStranger: false,
        caller: pass,
        limits,
        reserve,
        release: reservation.release,
      }
    })
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
  async function refusedEarly(
    refusal: Refusal,
    { account, sheet, key }: Facts,
    clientAddress: string,
  ): Promise<Admitted<never>> {
    if (!account || !sheet || !isPastAuthentication(refusal)) return { ...refused(refusal), isStranger: true }
    const caller = { account, sheet, key }
    const { requestsPerMinute } = limitsOf(account)
    if (key === null) {
      const rate = await lookAtPublic(sheet, requestsPerMinute, clientAddress)
      return { ...refused(refusal), caller, limits: { rate, quota: null } }
    }
    if (requestsPerMinute === null) return { ...refused(refusal), caller }
    const window = await windows.readWindow(windowName(account, key), requestsPerMinute, windowMs)
    const rate = { ...withoutCount(window), limit: requestsPerMinute }
    return { ...refused(refusal), caller, limits: { rate, quota: null } }
  }

  /** As `withinPublicLimits` would tell it. */
  async function lookAtPublic(
    sheet: SheetFacts,
    requestsPerMinute: number | null,
    clientAddress: string,
  ): Promise<Limits['rate']> {
    const { windows: ofPublic, requestsPerMinute: ofAddress } = publicReaders
    const [address, window] = await Promise.all([
      ofPublic.readWindow(addressWindowName(clientAddress), ofAddress, windowMs),
      requestsPerMinute === null
        ? null
        : ofPublic.readWindow(sheetWindowName(sheet), requestsPerMinute, windowMs),
    ])
    if (requestsPerMinute !== null && window && window.remaining < address.remaining)
      return { ...withoutCount(window), limit: requestsPerMinute }
    return { ...withoutCount(address), limit: ofAddress }
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

function addressWindowName(clientAddress: string): string {
  return `public ${clientNetwork(clientAddress)}`
}

function sheetWindowName({ id }: SheetFacts): string {
  return `public ${id}`
}

function withoutCount({ remaining, resetAtMs }: RateWindow): Pick<RateWindow, 'remaining' | 'resetAtMs'> {
  return { remaining, resetAtMs }
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
