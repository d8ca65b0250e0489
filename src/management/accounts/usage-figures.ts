import { billingCycleAt } from '../../admission/billing-cycle.ts'
import { type Plans, planUnknown } from '../../admission/plans.ts'
import type { Clock } from '../../clock.ts'
import type { LoopTurns } from '../../shares/loop-turns.ts'
import type { AccountRecord } from '../../store/accounts/accounts.ts'
import type { Store } from '../../store/store.ts'
import type { RecentRequestRecord, SheetActivity, UsageCount } from '../../store/usage/usage-figures.ts'
import { percentile } from '../../usage/latency-buckets.ts'
import { dayOf } from '../../usage/tally.ts'
import type { Usage } from '../../usage/usage.ts'

/** What clients asked of an account, for its owner to look at. Always up to the moment, as far as this server goes. */
export interface UsageFigures {
  activityOf(accountId: string): Promise<Map<string, SheetActivity>>
  recentRequests(sheetId: string, limit: number): Promise<RecentRequestRecord[]>
  /** Since the billing month began: by sheet, and by key. */
  thisMonth(account: AccountRecord): Promise<{ bySheet: Map<string, number>; byKey: Map<string, number> }>
  report(account: AccountRecord, wish: ReportWish): Promise<UsageReport>
  /** All that is kept. */
  everything(accountId: string): AsyncIterable<UsageCount[]>
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
/** Answers from memory, for which the provider was not asked. */
const fromMemory: ReadonlySet<string> = new Set(['hit', 'rationed', 'outlasted'])

export interface UsageFiguresParts {
  store: Pick<Store, 'activityOf' | 'recentRequests' | 'usageSince' | 'latenciesSince' | 'providerCallsSince'>
  usage: Pick<Usage, 'flush'>
  plans: Plans
  clock: Clock
  turns: LoopTurns
}

export function createUsageFigures({ store, usage, plans, clock, turns }: UsageFiguresParts): UsageFigures {
  return {
    async activityOf(accountId) {
      await usage.flush()
      return store.activityOf(accountId)
    },
    async recentRequests(sheetId, limit) {
      await usage.flush(sheetId)
      return store.recentRequests(sheetId, limit)
    },
    async thisMonth(account) {
      await usage.flush()
      const [bySheet, byKey] = [new Map<string, number>(), new Map<string, number>()]
      for await (const { sheetId, keyId, requests } of countsSince(
        account.id,
        dayOf(cycleOf(account).startMs),
      )) {
        bySheet.set(sheetId, (bySheet.get(sheetId) ?? 0) + requests)
        byKey.set(keyId, (byKey.get(keyId) ?? 0) + requests)
      }
      return { bySheet, byKey }
    },
    async report(account, wish) {
      await usage.flush()
      return report(account, wish)
    },
    async *everything(accountId) {
      await usage.flush()
      yield* pagesSince(accountId, '')
    },
  }

  async function report(account: AccountRecord, { days, sheetId, keyId }: ReportWish): Promise<UsageReport> {
    const nowMs = clock.nowMs()
    const shownDays = Array.from({ length: days }, (_, at) => dayOf(nowMs - (days - 1 - at) * dayMs))
    const [fromDay = ''] = shownDays
    const cycle = cycleOf(account)
    const cycleDay = dayOf(cycle.startMs)
    const charted = new Map(shownDays.map((day) => [day, emptyDay(day)]))
    const month = { used: 0, publicUsed: 0 }
    const [bySheet, byKey] = [new Map<string, Sum>(), new Map<string, Sum>()]
    let [reads, saved, rateLimited] = [0, 0, 0]
    for await (const count of countsSince(account.id, fromDay < cycleDay ? fromDay : cycleDay)) {
      const { requests, outcome, rowsFrom } = count
      // Only 2xx answers count (docs/contract.md#quota).
      if (count.day >= cycleDay && outcome === 'success') {
        month[count.keyId === '' ? 'publicUsed' : 'used'] += requests
      }
      const isMeant =
        count.day >= fromDay &&
        (sheetId === null || count.sheetId === sheetId) &&
        (keyId === null || count.keyId === keyId)
      if (!isMeant) continue
      if (rowsFrom !== '') reads += requests
      if (fromMemory.has(rowsFrom)) saved += requests
      if (outcome === 'rate_limited') rateLimited += requests
      const ofDay = charted.get(count.day)
      if (ofDay) ofDay[partOfChart[outcome]] += requests
      addTo(bySheet, count.sheetId, count)
      addTo(byKey, count.keyId, count)
    }
    const latencies = await latenciesOf(account.id, shownDays, {
      sheetId: sheetId ?? '',
      keyId: keyId ?? '',
    })
    const [p50, p95, p99] = [0.5, 0.95, 0.99].map((share) => percentile(latencies, share))
    const calls = await store.providerCallsSince(account.id, fromDay)
    const limit = account.requestsPerMonth ?? (plans.get(account.plan) ?? planUnknown).requestsPerMonth
    return {
      days: [...charted.values()],
      month: { ...month, limit, resetsAtMs: cycle.endMs },
      rateLimited,
      cacheHitShare: reads === 0 ? null : saved / reads,
      providerCalls: [...calls].reduce(
        (sum, [id, count]) => sum + (sheetId === null || id === sheetId ? count : 0),
        0,
      ),
      providerCallsSaved: saved,
      latencyMs: p50 != null && p95 != null && p99 != null ? { p50, p95, p99 } : null,
      bySheet,
      byKey,
    }
  }

  /** Page by page, so that others come in between however many there are. */
  async function* countsSince(accountId: string, fromDay: string): AsyncGenerator<UsageCount> {
    for await (const page of pagesSince(accountId, fromDay)) yield* page
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

  async function latenciesOf(
    accountId: string,
    days: readonly string[],
    of: { sheetId: string; keyId: string },
  ): Promise<Map<number, number>> {
    const sum = new Map<number, number>()
    for (const day of days) {
      await turns.next(accountId)
      const ofDay = await store.latenciesSince(accountId, day, { ...of, toDay: day })
      for (const [bucket, requests] of ofDay) sum.set(bucket, (sum.get(bucket) ?? 0) + requests)
    }
    // By bucket, whatever day it came from first.
    return new Map([...sum].sort(([one], [other]) => one - other))
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

function addTo(sums: Map<string, Sum>, name: string, { requests, outcome }: UsageCount): void {
  const sum = sums.get(name) ?? { requests: 0, errors: 0 }
  sum.requests += requests
  if (partOfChart[outcome] !== 'success') sum.errors += requests
  sums.set(name, sum)
}
