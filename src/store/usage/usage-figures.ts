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
  /** Where what is summed up in one go ends: behind about so many rows, and between two sheets. null: there are no more. */
  endOfSpan(
    accountId: string,
    table: CountedByDay,
    from: DayOfSheet,
    rows: number,
  ): Promise<DayOfSheet | null>
  /** Summed up over keys; `keyId` is told apart from all others. */
  usageOfSheets(accountId: string, span: Span, keyId: string): Promise<SheetUsage[]>
  /** Summed up over sheets; '' = whatever sheet, whatever key. */
  usageOfKeys(accountId: string, span: Span, of: UsageOf): Promise<KeyUsage[]>
  /** How many requests fell into each bucket. */
  latenciesIn(accountId: string, span: Span, of: UsageOf): Promise<Map<number, number>>
  /** By sheet. */
  providerCallsIn(accountId: string, days: Days): Promise<Map<string, number>>
  /** By sheet; sheets that nobody asked for yet are not in it. */
  activityOf(accountId: string): Promise<Map<string, SheetActivity>>
  /** The newest first, at most so many. `kept-requests.ts` says how far back they go. */
  recentRequests(sheetId: string, limit: number): Promise<RecentRequestRecord[]>
  /** Takes so many rows of each table at most, and returns whether there may be more. */
  forgetUsageBefore(day: string, rows: number): Promise<boolean>
}

/** What has rows of one account for each day. */
export type CountedByDay = 'usage_day' | 'latency_day'

/** In this order: by day, then by sheet. */
export interface DayOfSheet {
  day: string
  sheetId: string
}

export interface Span {
  from: DayOfSheet
  /** The first that is not meant; null = all that follow are. */
  before: DayOfSheet | null
}

export interface Days {
  from: string
  /** The first day that is not meant; null = all that follow are. */
  before: string | null
}

/** '' = whatever it is. */
export interface UsageOf {
  sheetId: string
  keyId: string
}

export interface SheetUsage {
  day: string
  sheetId: string
  outcome: RequestOutcome
  rowsFrom: string
  by: 'no key' | 'the key' | 'another key'
  requests: number
}

export interface KeyUsage {
  keyId: string
  outcome: RequestOutcome
  requests: number
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
