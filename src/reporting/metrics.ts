import { setTimeout as sleep } from 'node:timers/promises'
import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client'
import type { Observation, Observe } from './observe.ts'

export interface Metrics {
  observe: Observe
  /** Prometheus text; the same bytes for all who ask at the same time. */
  expose(): Promise<Buffer>
  contentType: string
}

const secondsPerMs = 0.001
/** Counting is done for so many requests at once: in a row it costs a fifth of what it costs between requests. */
const countedTogether = 256

/** It takes milliseconds to make, and anyone who reaches the server may ask for it. */
const madeEveryMs = 200

/** What `/metrics` shows, all of it derived from observations. Labels take few values, and never a client's text. */
export function createMetrics(): Metrics {
  const registry = new Registry()
  const registers = [registry]
  collectDefaultMetrics({ register: registry, prefix: 'rowport_' })

  const requests = new Counter({
    name: 'rowport_requests_total',
    help: 'Requests handled',
    labelNames: ['operation', 'form', 'method', 'status', 'code'],
    registers,
  })
  const rowsFrom = new Counter({
    name: 'rowport_reads_total',
    help: 'Reads by where their rows came from: memory (hit, or not fresh: rationed, outlasted) or the provider (miss, stale)',
    labelNames: ['source'],
    registers,
  })
  const requestSeconds = new Histogram({
    name: 'rowport_request_seconds',
    help: 'Time from a request to its response',
    labelNames: ['operation'],
    buckets: [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10],
    registers,
  })
  const unreadable = new Counter({
    name: 'rowport_unreadable_requests_total',
    help: 'Requests that were not HTTP, too large or too slow',
    labelNames: ['code'],
    registers,
  })
  const malfunctions = new Counter({
    name: 'rowport_malfunctions_total',
    help: 'Unexpected errors',
    registers,
  })
  const fetches = new Counter({
    name: 'rowport_provider_reads_total',
    help: 'Reads of a spreadsheet at its provider',
    labelNames: ['provider', 'outcome'],
    registers,
  })
  const fetchSeconds = new Histogram({
    name: 'rowport_provider_read_seconds',
    help: 'Time to read a spreadsheet at its provider and make its snapshot',
    labelNames: ['provider'],
    buckets: [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30],
    registers,
  })
  const failures = new Counter({
    name: 'rowport_provider_failures_total',
    help: 'Times a provider could not do what was asked',
    labelNames: ['provider', 'action'],
    registers,
  })
  const writes = new Counter({
    name: 'rowport_provider_writes_total',
    help: 'Writes to a spreadsheet at its provider; many requests may share one',
    labelNames: ['provider'],
    registers,
  })
  const writeSeconds = new Histogram({
    name: 'rowport_provider_write_seconds',
    help: 'Time to write to a spreadsheet at its provider',
    labelNames: ['provider'],
    buckets: [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30],
    registers,
  })
  const rowsWritten = new Counter({
    name: 'rowport_rows_written_total',
    help: 'Rows added, updated and deleted',
    labelNames: ['change'],
    registers,
  })
  const heldBytes = new Gauge({
    name: 'rowport_snapshot_bytes',
    help: 'Memory held by snapshots: their rows, and bodies made of them',
    labelNames: ['kind'],
    registers,
  })
  const dropped = new Counter({
    name: 'rowport_snapshots_dropped_total',
    help: 'Snapshots dropped to make room for others',
    registers,
  })
  const heldSheets = new Gauge({ name: 'rowport_snapshots', help: 'Sheets held in memory', registers })

  const providerCalls = new Counter({
    name: 'rowport_provider_calls_total',
    help: 'Calls of providers beyond a network, by the quota they count against; status 0 when there was no response',
    labelNames: ['provider', 'service', 'kind', 'status'],
    registers,
  })
  const providerSeconds = new Histogram({
    name: 'rowport_provider_call_seconds',
    help: 'Time providers beyond a network took to respond',
    labelNames: ['provider', 'service', 'kind'],
    buckets: [0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30],
    registers,
  })
  const rationed = new Counter({
    name: 'rowport_provider_rationed_total',
    help: "Times a provider's quota was used up: by our own count (budget) or by the provider's word",
    labelNames: ['provider', 'kind', 'per', 'by'],
    registers,
  })
  const mails = new Counter({
    name: 'rowport_mails_total',
    help: 'Mails by what came of them: sent, failed (and tried again), given_up',
    labelNames: ['outcome'],
    registers,
  })
  const webhooks = new Counter({
    name: 'rowport_webhook_attempts_total',
    help: 'Messages to webhooks: taken, failed for now, or failed for the last time.',
    labelNames: ['outcome'],
    registers: [registry],
  })
  const expired = new Counter({
    name: 'rowport_credentials_expired_total',
    help: 'Connections that Google stopped accepting',
    registers,
  })

  const sharesUsedUp = new Counter({
    name: 'rowport_shares_used_up_total',
    help: 'Times that an account or an address was refused, went without, or lost something older, because its share of what all share was used up',
    labelNames: ['share'],
    registers,
  })
  const turnSeconds = new Histogram({
    name: 'rowport_turn_wait_seconds',
    help: 'Time that callers waited for their turn at what all share; those who did not wait are not counted',
    labelNames: ['share'],
    buckets: [0.005, 0.025, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30],
    registers,
  })

  const redisConnected = new Gauge({
    name: 'rowport_redis_connected',
    help: 'Whether Redis is there: 1 or 0; 0 as well where none is set',
    registers,
  })
  const windowMoves = new Counter({
    name: 'rowport_rate_windows_moved_total',
    help: 'Times that requests came to be counted in the store because Redis was away, or in Redis again',
    labelNames: ['to'],
    registers,
  })

  let waiting: Observation[] = []
  let rest = Promise.resolve()
  let next: Promise<Buffer> | null = null

  return {
    contentType: registry.contentType,
    expose() {
      next ??= rest.then(makeText)
      return next
    },
    observe(seen) {
      waiting.push(seen)
      if (waiting.length >= countedTogether) countWaiting()
    },
  }

  /** Whoever asks from now on gets the next, so that nobody gets one that is older than the question. */
  async function makeText(): Promise<Buffer> {
    next = null
    rest = sleep(madeEveryMs, undefined, { ref: false })
    countWaiting()
    return Buffer.from(await registry.metrics())
  }

  function countWaiting(): void {
    const seen = waiting
    waiting = []
    let alike: RequestAnswered | null = null
    let times = 0
    for (const observation of seen) {
      if (observation.event !== 'request_answered') {
        count(observation)
        continue
      }
      requestSeconds.observe({ operation: observation.operation }, observation.durationMs * secondsPerMs)
      // Requests come in runs of the same kind, and to find a counter by its labels costs more than all else here.
      if (alike && isCountedAlike(alike, observation)) times++
      else {
        if (alike) countRequests(alike, times)
        alike = observation
        times = 1
      }
    }
    if (alike) countRequests(alike, times)
  }

  function countRequests(seen: RequestAnswered, times: number): void {
    const { operation, form, method, status, code, rowsFrom: source } = seen
    requests.inc({ operation, form, method, status, code: code ?? '' }, times)
    if (source !== null) rowsFrom.inc({ source }, times)
  }

  function count(seen: Exclude<Observation, RequestAnswered>): void {
    switch (seen.event) {
      case 'request_unreadable':
        unreadable.inc({ code: seen.code })
        break
      case 'malfunction':
        malfunctions.inc()
        break
      case 'sheet_fetched':
        fetches.inc({ provider: seen.provider, outcome: seen.outcome })
        fetchSeconds.observe({ provider: seen.provider }, seen.durationMs * secondsPerMs)
        break
      case 'provider_failed':
        failures.inc({ provider: seen.provider, action: seen.action })
        break
      case 'rows_written':
        writes.inc({ provider: seen.provider })
        writeSeconds.observe({ provider: seen.provider }, seen.durationMs * secondsPerMs)
        for (const change of ['added', 'updated', 'deleted'] as const)
          rowsWritten.inc({ change }, seen[change])
        break
      case 'snapshots_held':
        heldBytes.set({ kind: 'rows' }, seen.bytes)
        heldBytes.set({ kind: 'bodies' }, seen.bodyBytes)
        heldSheets.set(seen.sheets)
        break
      case 'share_used_up':
        sharesUsedUp.inc({ share: seen.share })
        break
      case 'turn_waited':
        turnSeconds.observe({ share: seen.share }, seen.waitedMs * secondsPerMs)
        break
      case 'redis_connected':
        redisConnected.set(1)
        break
      case 'redis_lost':
        redisConnected.set(0)
        break
      case 'rate_windows_moved':
        windowMoves.inc({ to: seen.to })
        break
      case 'snapshot_dropped':
        dropped.inc()
        break
      case 'provider_called':
        providerCalls.inc({
          provider: seen.provider,
          service: seen.service,
          kind: seen.kind,
          status: seen.status ?? 0,
        })
        providerSeconds.observe(
          { provider: seen.provider, service: seen.service, kind: seen.kind },
          seen.durationMs * secondsPerMs,
        )
        break
      case 'provider_rationed':
        rationed.inc({ provider: seen.provider, kind: seen.kind, per: seen.per, by: seen.by })
        break
      case 'credential_expired':
        expired.inc()
        break
      case 'mail_sent':
        mails.inc({ outcome: 'sent' })
        break
      case 'mail_failed':
        mails.inc({ outcome: 'failed' })
        break
      case 'mail_given_up':
        mails.inc({ outcome: 'given_up' })
        break
      case 'webhook_delivered':
        webhooks.inc({ outcome: 'taken' })
        break
      case 'webhook_failed':
        webhooks.inc({ outcome: 'failed' })
        break
      case 'webhook_turned_off':
        webhooks.inc({ outcome: 'turned_off' })
        break
    }
  }
}

type RequestAnswered = Extract<Observation, { event: 'request_answered' }>

function isCountedAlike(one: RequestAnswered, other: RequestAnswered): boolean {
  return (
    one.operation === other.operation &&
    one.form === other.form &&
    one.method === other.method &&
    one.status === other.status &&
    one.code === other.code &&
    one.rowsFrom === other.rowsFrom
  )
}
