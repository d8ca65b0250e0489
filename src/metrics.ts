import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client'
import type { Observation, Observe } from './observe.ts'

export interface Metrics {
  observe: Observe
  /** Prometheus text. */
  expose(): Promise<string>
  contentType: string
}

const secondsPerMs = 0.001
/** Counting is done for so many requests at once: in a row it costs a fifth of what it costs between requests. */
const countedTogether = 256

/** What `/metrics` shows, all of it derived from observations. Labels take few values, and never a client's text. */
export function createMetrics(): Metrics {
  const registry = new Registry()
  const registers = [registry]
  collectDefaultMetrics({ register: registry, prefix: 'rowport_' })

  const requests = new Counter({
    name: 'rowport_requests_total',
    help: 'Requests answered',
    labelNames: ['operation', 'form', 'method', 'status', 'code'],
    registers,
  })
  const rowsFrom = new Counter({
    name: 'rowport_reads_total',
    help: 'Reads by where their rows came from: memory (hit) or the provider (miss, stale)',
    labelNames: ['source'],
    registers,
  })
  const requestSeconds = new Histogram({
    name: 'rowport_request_seconds',
    help: 'Time from a request to its answer',
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
  const rowsAdded = new Counter({ name: 'rowport_rows_added_total', help: 'Rows added', registers })
  const heldBytes = new Gauge({ name: 'rowport_snapshot_bytes', help: 'Memory held by snapshots', registers })
  const heldSheets = new Gauge({ name: 'rowport_snapshots', help: 'Sheets held in memory', registers })

  let waiting: Observation[] = []

  return {
    contentType: registry.contentType,
    expose() {
      countWaiting()
      return registry.metrics()
    },
    observe(seen) {
      waiting.push(seen)
      if (waiting.length >= countedTogether) countWaiting()
    },
  }

  function countWaiting(): void {
    const seen = waiting
    waiting = []
    for (const observation of seen) count(observation)
  }

  function count(seen: Observation): void {
    switch (seen.event) {
      case 'request_answered': {
        const { operation, form, method, status, code } = seen
        requests.inc({ operation, form, method, status, code: code ?? '' })
        requestSeconds.observe({ operation }, seen.durationMs * secondsPerMs)
        if (seen.rowsFrom !== null) rowsFrom.inc({ source: seen.rowsFrom })
        break
      }
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
      case 'rows_added':
        rowsAdded.inc(seen.rows)
        break
      case 'snapshots_held':
        heldBytes.set(seen.bytes)
        heldSheets.set(seen.sheets)
        break
    }
  }
}
