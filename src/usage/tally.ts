import type { Observation, RowsFrom } from '../reporting/observe.ts'
import type { RequestOutcome } from '../store/sql/schema.ts'
import { keptOfBurst } from '../store/usage/kept-requests.ts'
import type { RecentRequestRecord, SheetActivity, UsageBatch } from '../store/usage/usage-figures.ts'
import { bucketCount, bucketOf } from './latency-buckets.ts'

export type AnsweredRequest = Extract<Observation, { event: 'request_answered' }>

/** What happened since the last flush, counted. Nothing in it grows with the number of requests. */
export interface Tally {
  countRequest(request: AnsweredRequest, accountId: string, atMs: number): void
  countProviderCall(sheetId: string, atMs: number): void
  noteHealth(sheetId: string, failureReason: string | null, atMs: number): void
  isEmpty(): boolean
  /** All of it, in batches of so few rows that none of them keeps anybody waiting. Each is made when it is asked for. */
  batches(): Generator<UsageBatch, undefined>
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

/** What one sheet was asked lately: times beside the requests, so that a request costs no object of its own. */
interface SheetTally extends SheetActivity {
  requests: AnsweredRequest[]
  requestsAtMs: number[]
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

export function createTally(nextId: (atMs: number) => string): Tally {
  const days = new Map<number, Map<string, Map<string, UsageCounter>>>()
  const logs = new Map<string, SheetTally>()
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
      if (sheetId !== null) keep(sheetId, request, atMs)
    },
    countProviderCall(sheetId, atMs) {
      const day = dayOf(atMs)
      const name = `${sheetId} ${day}`
      const count = calls.get(name) ?? { sheetId, day, calls: 0 }
      count.calls++
      calls.set(name, count)
    },
    noteHealth(sheetId, failureReason, atMs) {
      logFor(sheetId).health = { failureReason, atMs }
    },
    isEmpty: () => days.size === 0 && logs.size === 0 && calls.size === 0,
    *batches() {
      let batch = emptyBatch()
      let rows = 0
      for (const addTo of allRows()) {
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

  function* allRows(): Generator<(batch: UsageBatch) => void> {
    for (const [day, sheets] of days) {
      for (const keys of sheets.values()) {
        for (const cell of keys.values()) yield* rowsOfCell(cell, dayOf(day * dayMs))
      }
    }
    for (const call of calls.values()) yield (batch) => batch.providerCalls.push(call)
    for (const [sheetId, log] of logs) {
      const { firstRequestAtMs, lastRequestAtMs, health } = log
      const activity = { sheetId, firstRequestAtMs, lastRequestAtMs, health }
      yield (batch) => batch.activity.push(activity)
      for (const request of newestIn(sheetId, log)) yield (batch) => batch.recent.push(request)
    }
  }

  function cellFor(accountId: string, sheetId: string, keyId: string, atMs: number): UsageCounter {
    const day = Math.floor(atMs / dayMs)
    if (day !== dayNow) {
      sheetsNow = days.get(day) ?? new Map()
      days.set(day, sheetsNow)
      dayNow = day
    }
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

  function keep(sheetId: string, request: AnsweredRequest, atMs: number): void {
    const log = logFor(sheetId)
    log.firstRequestAtMs ??= atMs
    log.lastRequestAtMs = atMs
    log.requests.push(request)
    log.requestsAtMs.push(atMs)
    if (log.requests.length < 2 * keptOfBurst) return
    log.requests = log.requests.slice(-keptOfBurst)
    log.requestsAtMs = log.requestsAtMs.slice(-keptOfBurst)
  }

  function logFor(sheetId: string): SheetTally {
    const known = logs.get(sheetId)
    if (known) return known
    const nothing = { firstRequestAtMs: null, lastRequestAtMs: null, health: null }
    const fresh: SheetTally = { ...nothing, requests: [], requestsAtMs: [] }
    logs.set(sheetId, fresh)
    return fresh
  }

  function newestIn(sheetId: string, { requests, requestsAtMs }: SheetTally): RecentRequestRecord[] {
    const first = Math.max(0, requests.length - keptOfBurst)
    return requests.slice(first).map((request, at) => {
      const { keyId, method, operation, status, code, rowsFrom, durationMs } = request
      const atMs = requestsAtMs[first + at] ?? 0
      return { id: nextId(atMs), sheetId, keyId, atMs, method, operation, status, code, rowsFrom, durationMs }
    })
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
