import { billingCycleAt } from '../../admission/billing-cycle.ts'
import { type Plans, planUnknown } from '../../admission/plans.ts'
import type { Clock } from '../../clock.ts'
import type { AccountRecord } from '../../store/accounts/accounts.ts'
import type { Store } from '../../store/store.ts'
import type { RecentRequestRecord, SheetActivity, UsageCount } from '../../store/usage/usage-figures.ts'
import { percentile } from '../../usage/latency-buckets.ts'
import { dayOf } from '../../usage/tally.ts'
import type { Usage } from '../../usage/usage.ts'

/** What clients asked of an account, for its owner to look at. Always up to the moment, as far as this server goes. */
export interface UsageFigures {
  activityOf(accountId: string): Promise<Map<string, SheetActivity>>
  recentRequests(sheetId: string): Promise<RecentRequestRecord[]>
  /** Since the billing month began: by sheet, and by key. */
  thisMonth(account: AccountRecord): Promise<{ bySheet: Map<string, number>; byKey: Map<string, number> }>
  report(account: AccountRecord, wish: ReportWish): Promise<UsageReport>
  /** All that is kept. */
  everything(accountId: string): Promise<UsageCount[]>
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
/** From memory, without asking the provider. */
const fromMemory: ReadonlySet<string> = new Set(['hit', 'rationed', 'outlasted'])

export function createUsageFigures(
  store: Pick<
    Store,
    'activityOf' | 'recentRequests' | 'usageSince' | 'latenciesSince' | 'providerCallsSince'
  >,
  usage: Pick<Usage, 'flush'>,
  plans: Plans,
  clock: Clock,
): UsageFigures {
  return {
    async activityOf(accountId) {
      await usage.flush()
      return store.activityOf(accountId)
    },
    async recentRequests(sheetId) {
      await usage.flush()
      return store.recentRequests(sheetId)
    },
    async thisMonth(account) {
      await usage.flush()
      const counts = await store.usageSince(account.id, dayOf(cycleOf(account).startMs))
      return {
        bySheet: totals(counts, ({ sheetId }) => sheetId),
        byKey: totals(counts, ({ keyId }) => keyId),
      }
    },
    async report(account, wish) {
      await usage.flush()
      return report(account, wish)
    },
    async everything(accountId) {
      await usage.flush()
      return store.usageSince(accountId, '')
    },
  }

  async function report(account: AccountRecord, { days, sheetId, keyId }: ReportWish): Promise<UsageReport> {
    const nowMs = clock.nowMs()
    const shownDays = Array.from({ length: days }, (_, at) => dayOf(nowMs - (days - 1 - at) * dayMs))
    const [fromDay = ''] = shownDays
    const cycle = cycleOf(account)
    const cycleDay = dayOf(cycle.startMs)
    const all = await store.usageSince(account.id, fromDay < cycleDay ? fromDay : cycleDay)
    const counts = all.filter(
      (count) =>
        count.day >= fromDay &&
        (sheetId === null || count.sheetId === sheetId) &&
        (keyId === null || count.keyId === keyId),
    )
    const sumOf = (isMeant: (count: UsageCount) => boolean) =>
      counts.reduce((sum, count) => sum + (isMeant(count) ? count.requests : 0), 0)
    const reads = sumOf(({ rowsFrom }) => rowsFrom !== '')
    const saved = sumOf(({ rowsFrom }) => fromMemory.has(rowsFrom))
    const latencies = await store.latenciesSince(account.id, fromDay, {
      sheetId: sheetId ?? '',
      keyId: keyId ?? '',
    })
    const [p50, p95, p99] = [0.5, 0.95, 0.99].map((share) => percentile(latencies, share))
    const calls = await store.providerCallsSince(account.id, fromDay)
    const limit = account.requestsPerMonth ?? (plans.get(account.plan) ?? planUnknown).requestsPerMonth
    return {
      days: shownDays.map((day) =>
        dayOfChart(
          day,
          counts.filter((count) => count.day === day),
        ),
      ),
      month: { ...usedIn(all, cycleDay), limit, resetsAtMs: cycle.endMs },
      rateLimited: sumOf(({ outcome }) => outcome === 'rate_limited'),
      cacheHitShare: reads === 0 ? null : saved / reads,
      providerCalls: [...calls].reduce(
        (sum, [id, count]) => sum + (sheetId === null || id === sheetId ? count : 0),
        0,
      ),
      providerCallsSaved: saved,
      latencyMs: p50 != null && p95 != null && p99 != null ? { p50, p95, p99 } : null,
      bySheet: sums(counts, (count) => count.sheetId),
      byKey: sums(counts, (count) => count.keyId),
    }
  }

  function cycleOf({ createdAtMs }: AccountRecord) {
    return billingCycleAt(createdAtMs, clock.nowMs())
  }
}

/** Only 2xx answers count (docs/contract.md#quota). */
function usedIn(counts: readonly UsageCount[], fromDay: string): { used: number; publicUsed: number } {
  const sum = { used: 0, publicUsed: 0 }
  for (const { day, outcome, keyId, requests } of counts) {
    if (day < fromDay || outcome !== 'success') continue
    sum[keyId === '' ? 'publicUsed' : 'used'] += requests
  }
  return sum
}

function dayOfChart(day: string, counts: readonly UsageCount[]): UsageReport['days'][number] {
  const of = (...outcomes: UsageCount['outcome'][]) =>
    counts.reduce((sum, count) => sum + (outcomes.includes(count.outcome) ? count.requests : 0), 0)
  return {
    day,
    success: of('success', 'not_modified'),
    clientError: of('client_error'),
    rateLimited: of('rate_limited'),
    serverError: of('server_error'),
  }
}

function totals(counts: readonly UsageCount[], nameOf: (count: UsageCount) => string): Map<string, number> {
  return new Map([...sums(counts, nameOf)].map(([name, { requests }]) => [name, requests]))
}

function sums(counts: readonly UsageCount[], nameOf: (count: UsageCount) => string): Map<string, Sum> {
  const found = new Map<string, Sum>()
  for (const count of counts) {
    const sum = found.get(nameOf(count)) ?? { requests: 0, errors: 0 }
    sum.requests += count.requests
    if (count.outcome !== 'success' && count.outcome !== 'not_modified') sum.errors += count.requests
    found.set(nameOf(count), sum)
  }
  return found
}
