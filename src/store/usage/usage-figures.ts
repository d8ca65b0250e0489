import type { RequestOutcome } from '../sql/schema.ts'

/** The store's part for figures that owners look at. They are written in batches and may be a few seconds behind. */
export interface UsageFigureStore {
  /**
   * Adds a batch to what is there, all or nothing. What belongs to an account or a sheet that is gone by now is left
   * out. Any number of processes may add at once.
   */
  addUsage(batch: UsageBatch): Promise<void>
  /** In the order of days; all of it, or one page. */
  usageSince(accountId: string, fromDay: string, page?: UsagePage): Promise<UsageCount[]>
  /** How many requests fell into each bucket; '' = whatever sheet, whatever key. */
  latenciesSince(
    accountId: string,
    fromDay: string,
    of: { sheetId: string; keyId: string; toDay?: string },
  ): Promise<Map<number, number>>
  /** By sheet. */
  providerCallsSince(accountId: string, fromDay: string): Promise<Map<string, number>>
  /** By sheet; sheets that nobody asked for yet are not in it. */
  activityOf(accountId: string): Promise<Map<string, SheetActivity>>
  /** The newest first, at most so many. `kept-requests.ts` says how far back they go. */
  recentRequests(sheetId: string, limit: number): Promise<RecentRequestRecord[]>
  forgetUsageBefore(day: string): Promise<void>
}

export interface UsagePage {
  /** The last one of the page before; null for the first page. */
  after: UsageCount | null
  rows: number
}

export interface UsageBatch {
  counts: UsageCount[]
  latencies: LatencyCount[]
  providerCalls: { sheetId: string; day: string; calls: number }[]
  activity: (SheetActivity & { sheetId: string })[]
  recent: RecentRequestRecord[]
}

/** Requests of one day. `sheetId` and `keyId` are '' where there was none, `rowsFrom` where no rows were read. */
export interface UsageCount {
  accountId: string
  /** `2026-11-15`, UTC. */
  day: string
  sheetId: string
  keyId: string
  outcome: RequestOutcome
  rowsFrom: string
  requests: number
}

export interface LatencyCount {
  accountId: string
  day: string
  sheetId: string
  keyId: string
  bucket: number
  requests: number
}

/** null = nothing is known of it; in a batch: nothing new. */
export interface SheetActivity {
  firstRequestAtMs: number | null
  lastRequestAtMs: number | null
  /** How it was when the provider was last asked. */
  health: { failureReason: string | null; atMs: number } | null
}

export interface RecentRequestRecord {
  /** Ids grow with time. */
  id: string
  sheetId: string
  keyId: string | null
  atMs: number
  method: string
  operation: string
  status: number
  code: string | null
  rowsFrom: string | null
  durationMs: number
}
