import type { Observation, RowsFrom } from '../reporting/observe.ts'
import type { RequestOutcome } from '../store/sql/schema.ts'
import type { RecentRequestRecord, SheetActivity, UsageBatch } from '../store/usage/usage-figures.ts'
import { bucketCount, bucketOf } from './latency-buckets.ts'
import type { ToldApart } from './told-apart.ts'

export type AnsweredRequest = Extract<Observation, { event: 'request_answered' }>

/** What happened since the last flush, counted. Nothing in it grows with the number of requests. */
export interface Tally {
  countRequest(request: AnsweredRequest, accountId: string, atMs: number): void
  countProviderCall(sheetId: string, atMs: number): void
  noteHealth(sheetId: string, failureReason: string | null, atMs: number): void
  isEmpty(): boolean
  /** All of it with these requests, in batches of so few rows that none of them keeps anybody waiting. Each is made when it is asked for. */
  batches(recent: Iterable<RecentRequestRecord>): Generator<UsageBatch, undefined>
}

/** One key's requests to one sheet on one day. */
interface UsageCounter {
  accountId: string
  sheetId: string
  keyId: string
  /** By outcome and source. */
  counts: number[]
  latencies: number[]
}

const outcomes: readonly RequestOutcome[] = [
  'success',
  'not_modified',
  'client_error',
  'rate_limited',
  'server_error',
]
const sources: readonly (RowsFrom | '')[] = ['', 'hit', 'miss', 'stale', 'rationed', 'outlasted']
const sourceAt: Readonly<Record<string, number>> = Object.fromEntries(
  sources.map((source, at) => [source, at]),
)
const dayMs = 24 * 60 * 60_000
/** Rows of all kinds in one batch: some milliseconds of SQLite's, on the thread that answers everybody. */
const rowsOfBatch = 256

export function createTally(toldApart: ToldApart): Tally {
  const days = new Map<number, Map<string, Map<string, UsageCounter>>>()
  const activities = new Map<string, SheetActivity & { sheetId: string }>()
  const calls = new Map<string, { sheetId: string; day: string; calls: number }>()
  let dayNow = -1
  let sheetsNow = new Map<string, Map<string, UsageCounter>>()

  return {
    countRequest(request, accountId, atMs) {
      const { sheetId, keyId, rowsFrom } = request
      const cell = cellFor(accountId, sheetId ?? '', keyId ?? '', atMs)
      const at = outcomeAt(request) * sources.length + (sourceAt[rowsFrom ?? ''] ?? 0)
      cell.counts[at] = (cell.counts[at] ?? 0) + 1
      const bucket = bucketOf(request.durationMs)
      cell.latencies[bucket] = (cell.latencies[bucket] ?? 0) + 1
      if (sheetId !== null) noteRequest(sheetId, atMs)
    },
    countProviderCall(sheetId, atMs) {
      const day = dayOf(atMs)
      const name = `${sheetId} ${day}`
      const count = calls.get(name) ?? { sheetId, day, calls: 0 }
      count.calls++
      calls.set(name, count)
    },
    noteHealth(sheetId, failureReason, atMs) {
      activityOf(sheetId).health = { failureReason, atMs }
    },
    isEmpty: () => days.size === 0 && activities.size === 0 && calls.size === 0,
    *batches(recent) {
      let batch = emptyBatch()
      let rows = 0
      for (const addTo of allRows(recent)) {
        addTo(batch)
        if (++rows < rowsOfBatch) continue
        yield batch
        batch = emptyBatch()
        rows = 0
      }
      if (rows > 0) yield batch
      return undefined
    },
  }

  function* allRows(recent: Iterable<RecentRequestRecord>): Generator<(batch: UsageBatch) => void> {
    for (const [day, sheets] of days) {
      for (const keys of sheets.values()) {
        for (const cell of keys.values()) yield* rowsOfCell(cell, dayOf(day * dayMs))
      }
    }
    for (const call of calls.values()) yield (batch) => batch.providerCalls.push(call)
    for (const activity of activities.values()) yield (batch) => batch.activity.push(activity)
    for (const request of recent) yield (batch) => batch.recent.push(request)
  }

  function cellFor(accountId: string, sheetId: string, keyId: string, atMs: number): UsageCounter {
    const day = Math.floor(atMs / dayMs)
    if (day !== dayNow) {
      sheetsNow = days.get(day) ?? new Map()
      days.set(day, sheetsNow)
      dayNow = day
    }
    const known = sheetsNow.get(sheetId === '' ? accountId : sheetId)?.get(keyId)
    if (known) return known
    const told = toldApart.pairFor(accountId, sheetId, keyId, day)
    return cellOfPair(accountId, told.sheetId, told.keyId)
  }

  function cellOfPair(accountId: string, sheetId: string, keyId: string): UsageCounter {
    const name = sheetId === '' ? accountId : sheetId
    let keys = sheetsNow.get(name)
    if (!keys) {
      keys = new Map()
      sheetsNow.set(name, keys)
    }
    let cell = keys.get(keyId)
    if (!cell) {
      const counts = new Array<number>(outcomes.length * sources.length).fill(0)
      const latencies = new Array<number>(bucketCount).fill(0)
      cell = { accountId, sheetId, keyId, counts, latencies }
      keys.set(keyId, cell)
    }
    return cell
  }

  function noteRequest(sheetId: string, atMs: number): void {
    const activity = activityOf(sheetId)
    activity.firstRequestAtMs ??= atMs
    activity.lastRequestAtMs = atMs
  }

  function activityOf(sheetId: string): SheetActivity {
    const known = activities.get(sheetId)
    if (known) return known
    const fresh = { sheetId, firstRequestAtMs: null, lastRequestAtMs: null, health: null }
    activities.set(sheetId, fresh)
    return fresh
  }
}

function emptyBatch(): UsageBatch {
  return { counts: [], latencies: [], providerCalls: [], activity: [], recent: [] }
}

function* rowsOfCell(
  { counts, latencies, ...cell }: UsageCounter,
  day: string,
): Generator<(batch: UsageBatch) => void> {
  for (const [at, requests] of counts.entries()) {
    if (requests === 0) continue
    const outcome = outcomes[Math.floor(at / sources.length)] ?? 'success'
    const rowsFrom = sources[at % sources.length] ?? ''
    yield (batch) => batch.counts.push({ ...cell, day, outcome, rowsFrom, requests })
  }
  for (const [bucket, requests] of latencies.entries()) {
    if (requests > 0) yield (batch) => batch.latencies.push({ ...cell, day, bucket, requests })
  }
}

/** The place of a request's outcome in `outcomes`. */
function outcomeAt({ status, code }: AnsweredRequest): number {
  if (status < 300) return 0
  if (status < 400) return 1
  if (status >= 500) return 4
  return code === 'rate_limited' ? 3 : 2
}

/** `2026-11-15`, UTC. */
export function dayOf(atMs: number): string {
  return new Date(atMs).toISOString().slice(0, 10)
}
