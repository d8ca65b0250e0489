import { billingCycleAt } from '../../admission/billing-cycle.ts'
import { type Plans, planUnknown } from '../../admission/plans.ts'
import type { Clock } from '../../clock.ts'
import type { Observe } from '../../reporting/observe.ts'
import type { LoopTurns } from '../../shares/loop-turns.ts'
import { createSharedWork } from '../../shares/shared-work.ts'
import type { Shares } from '../../shares/shares.ts'
import { createTurnstile, type TurnstileParts } from '../../shares/turnstile.ts'
import type { AccountRecord } from '../../store/accounts/accounts.ts'
import type { Store } from '../../store/store.ts'
import type {
  CountedByDay,
  DayOfSheet,
  Days,
  KeyUsage,
  RecentRequestRecord,
  SheetActivity,
  SheetUsage,
  Span,
  UsageCount,
} from '../../store/usage/usage-figures.ts'
import { percentile } from '../../usage/latency-buckets.ts'
import { dayOf } from '../../usage/tally.ts'
import { otherKeys } from '../../usage/told-apart.ts'
import type { Usage } from '../../usage/usage.ts'

/** What clients asked of an account, for its owner to look at. Always up to the moment, as far as this server goes. */
export interface UsageFigures {
  activityOf(accountId: string): Promise<Map<string, SheetActivity>>
  recentRequests(sheetId: string, limit: number): Promise<RecentRequestRecord[]>
  /** Since the billing month began: by sheet, and by key. */
  thisMonth(account: AccountRecord): Promise<MonthOfAccount>
  report(account: AccountRecord, wish: ReportWish): Promise<UsageReport>
  /** All that is kept. */
  everything(accountId: string): AsyncIterable<UsageCount[]>
}

export interface MonthOfAccount {
  bySheet: Map<string, number>
  byKey: Map<string, number>
}

export interface ReportWish {
  days: number
  /** null = all. */
  sheetId: string | null
  keyId: string | null
}

export interface UsageReport {
  days: { day: string; success: number; clientError: number; rateLimited: number; serverError: number }[]
  /** `publicUsed`: by readers without a key, who have a month of the same size for themselves. */
  month: { used: number; publicUsed: number; limit: number | null; resetsAtMs: number }
  rateLimited: number
  cacheHitShare: number | null
  providerCalls: number
  providerCallsSaved: number
  latencyMs: { p50: number; p95: number; p99: number } | null
  /** By id; '' = none. */
  bySheet: Map<string, Sum>
  byKey: Map<string, Sum>
}

export interface Sum {
  requests: number
  errors: number
}

const dayMs = 24 * 60 * 60_000
/** A flood over many sheets and keys leaves hundreds of thousands: SQLite is asked for some milliseconds' worth at a time. */
const rowsOfPage = 1_000
/** Rows that take SQLite three milliseconds. */
const rowsOfSpan = { usage_day: 2_000, latency_day: 5_000 }
/** Each may have a row for every sheet. */
const daysOfCalls = 31
/** Reports that wait for others of their account. */
const waitingOfAccount = 8
const everything = { sheetId: '', keyId: '' }
/** Answers from memory, for which the provider was not asked. */
const fromMemory: ReadonlySet<string> = new Set(['hit', 'rationed', 'outlasted'])

export interface UsageFiguresParts {
  store: Pick<
    Store,
    | 'activityOf'
    | 'recentRequests'
    | 'usageSince'
    | 'endOfSpan'
    | 'usageOfSheets'
    | 'usageOfKeys'
    | 'latenciesIn'
    | 'providerCallsIn'
  >
  usage: Pick<Usage, 'flush'>
  plans: Plans
  clock: Clock
  turns: LoopTurns
  shares: Pick<Shares, 'reports_at_once'>
  observe: Observe
}

export function createUsageFigures(parts: UsageFiguresParts): UsageFigures {
  const { store, usage, plans, clock, turns, shares, observe } = parts
  const reports = createSharedWork<UsageReport>()
  const reportPlaces = createTurnstile(placesOf(waitingOfAccount))
  // Lists of sheets and keys have it too. Of those who wait for it all share one, so that none is ever refused.
  const months = createSharedWork<MonthOfAccount>()
  const monthPlaces = createTurnstile(placesOf(1))

  return {
    async activityOf(accountId) {
      await usage.flush()
      return store.activityOf(accountId)
    },
    async recentRequests(sheetId, limit) {
      await usage.flush(sheetId)
      return store.recentRequests(sheetId, limit)
    },
    thisMonth: (account) =>
      months.join(account.id, (begin) =>
        monthPlaces.pass(account.id, async () => {
          begin()
          await usage.flush()
          return thisMonth(account)
        }),
      ),
    report: (account, wish) =>
      reports.join(`${account.id} ${JSON.stringify(wish)}`, (begin) =>
        reportPlaces.pass(account.id, async () => {
          begin()
          await usage.flush()
          return report(account, wish)
        }),
      ),
    async *everything(accountId) {
      await usage.flush()
      yield* pagesSince(accountId, '')
    },
  }

  async function thisMonth(account: AccountRecord): Promise<MonthOfAccount> {
    const [bySheet, byKey] = [new Map<string, number>(), new Map<string, number>()]
    const from = dayOf(cycleOf(account).startMs)
    for await (const span of spansOf(account.id, 'usage_day', { from, before: null })) {
      for (const { sheetId, requests } of await store.usageOfSheets(account.id, span, '')) {
        bySheet.set(sheetId, (bySheet.get(sheetId) ?? 0) + requests)
      }
      await turns.next(account.id)
      for (const { keyId, requests } of await store.usageOfKeys(account.id, span, everything)) {
        byKey.set(keyId, (byKey.get(keyId) ?? 0) + requests)
      }
    }
    return { bySheet, byKey }
  }

  async function report(account: AccountRecord, { days, sheetId, keyId }: ReportWish): Promise<UsageReport> {
    const nowMs = clock.nowMs()
    const of = { sheetId: sheetId ?? '', keyId: keyId ?? '' }
    const shownDays = Array.from({ length: days }, (_, at) => dayOf(nowMs - (days - 1 - at) * dayMs))
    const [fromDay = ''] = shownDays
    const shown = { from: fromDay, before: null }
    const cycle = cycleOf(account)
    const cycleDay = dayOf(cycle.startMs)
    const charted = new Map(shownDays.map((day) => [day, emptyDay(day)]))
    const month = { used: 0, publicUsed: 0 }
    const [bySheet, byKey] = [new Map<string, Sum>(), new Map<string, Sum>()]
    let [reads, saved, rateLimited] = [0, 0, 0]
    if (cycleDay < fromDay) {
      for await (const span of spansOf(account.id, 'usage_day', { from: cycleDay, before: fromDay })) {
        for (const count of await store.usageOfSheets(account.id, span, of.keyId)) addToMonth(count)
      }
    }
    for await (const span of spansOf(account.id, 'usage_day', shown)) {
      for (const count of await store.usageOfSheets(account.id, span, of.keyId)) {
        if (count.day >= cycleDay) addToMonth(count)
        const isMeant =
          (sheetId === null || count.sheetId === sheetId) && (keyId === null || count.by === 'the key')
        if (!isMeant) continue
        const { requests, outcome, rowsFrom } = count
        if (rowsFrom !== '') reads += requests
        if (fromMemory.has(rowsFrom)) saved += requests
        if (outcome === 'rate_limited') rateLimited += requests
        const ofDay = charted.get(count.day)
        if (ofDay) ofDay[partOfChart[outcome]] += requests
        addTo(bySheet, count.sheetId, count)
      }
      await turns.next(account.id)
      for (const count of await store.usageOfKeys(account.id, span, of)) addTo(byKey, count.keyId, count)
    }
    const latencies = new Map<number, number>()
    for await (const span of spansOf(account.id, 'latency_day', shown)) {
      for (const [bucket, requests] of await store.latenciesIn(account.id, span, of)) {
        latencies.set(bucket, (latencies.get(bucket) ?? 0) + requests)
      }
    }
    const [p50, p95, p99] = [0.5, 0.95, 0.99].map((share) => percentile(latencies, share))
    const limit = account.requestsPerMonth ?? (plans.get(account.plan) ?? planUnknown).requestsPerMonth
    return {
      days: [...charted.values()],
      month: { ...month, limit, resetsAtMs: cycle.endMs },
      rateLimited,
      cacheHitShare: reads === 0 ? null : saved / reads,
      providerCalls: await providerCalls(account.id, shownDays, sheetId),
      providerCallsSaved: saved,
      latencyMs: p50 != null && p95 != null && p99 != null ? { p50, p95, p99 } : null,
      bySheet,
      byKey,
    }

    // Only 2xx answers count (docs/contract.md#quota).
    function addToMonth({ outcome, by, requests }: SheetUsage): void {
      if (outcome === 'success') month[by === 'no key' ? 'publicUsed' : 'used'] += requests
    }
  }

  async function providerCalls(
    accountId: string,
    days: readonly string[],
    sheetId: string | null,
  ): Promise<number> {
    let sum = 0
    for (let at = 0; at < days.length; at += daysOfCalls) {
      await turns.next(accountId)
      const some = { from: days[at] ?? '', before: days[at + daysOfCalls] ?? null }
      for (const [id, calls] of await store.providerCallsIn(accountId, some)) {
        if (sheetId === null || id === sheetId) sum += calls
      }
    }
    return sum
  }

  /** The days in pieces that are summed up in one go. Others come in between, however many there are. */
  async function* spansOf(accountId: string, table: CountedByDay, days: Days): AsyncGenerator<Span> {
    const last = days.before === null ? null : { day: days.before, sheetId: '' }
    for (let from: DayOfSheet = { day: days.from, sheetId: '' }; ; ) {
      await turns.next(accountId)
      const end = await store.endOfSpan(accountId, table, from, rowsOfSpan[table])
      const isLast = end === null || (days.before !== null && end.day >= days.before)
      await turns.next(accountId)
      yield { from, before: isLast ? last : end }
      if (isLast) return
      from = end
    }
  }

  async function* pagesSince(accountId: string, fromDay: string): AsyncGenerator<UsageCount[]> {
    let after: UsageCount | null = null
    for (;;) {
      await turns.next(accountId)
      const page: UsageCount[] = await store.usageSince(accountId, fromDay, { after, rows: rowsOfPage })
      yield page
      after = page.at(-1) ?? null
      if (page.length < rowsOfPage) return
    }
  }

  function placesOf(waiting: number): TurnstileParts {
    return {
      share: 'reports_at_once',
      places: Number.POSITIVE_INFINITY,
      placesOfAccount: shares.reports_at_once,
      waitingOfAccount: waiting,
      clock,
      observe,
    }
  }

  function cycleOf({ createdAtMs }: AccountRecord) {
    return billingCycleAt(createdAtMs, clock.nowMs())
  }
}

type ChartedDay = UsageReport['days'][number]

const partOfChart: Record<UsageCount['outcome'], Exclude<keyof ChartedDay, 'day'>> = {
  success: 'success',
  not_modified: 'success',
  client_error: 'clientError',
  rate_limited: 'rateLimited',
  server_error: 'serverError',
}

function emptyDay(day: string): ChartedDay {
  return { day, success: 0, clientError: 0, rateLimited: 0, serverError: 0 }
}

function addTo(sums: Map<string, Sum>, name: string, { requests, outcome }: KeyUsage | SheetUsage): void {
  const sum = sums.get(name) ?? { requests: 0, errors: 0 }
  sum.requests += requests
  if (partOfChart[outcome] !== 'success') sum.errors += requests
  sums.set(name, sum)
}

/** How the key is shown that requests were counted for. */
export function nameOfCounted(keyId: string, names: ReadonlyMap<string, string>): string {
  if (keyId === '') return 'Without a key'
  if (keyId === otherKeys) return 'Other keys'
  return names.get(keyId) ?? `a former key (${keyId.slice(-4)})`
}
