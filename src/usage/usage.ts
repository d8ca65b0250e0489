import type { Clock } from '../clock.ts'
import type { Observation, Observe } from '../reporting/observe.ts'
import { randomBase62 } from '../secrets/random-base62.ts'
import type { LoopTurns } from '../shares/loop-turns.ts'
import type { Shares } from '../shares/shares.ts'
import type { Store } from '../store/store.ts'
import { burstSeconds } from '../store/usage/kept-requests.ts'
import type { UsageBatch } from '../store/usage/usage-figures.ts'
import { createRecentRequests } from './recent-requests.ts'
import { createTally, dayOf } from './tally.ts'
import { createToldApart } from './told-apart.ts'

/** Listens to what happens and keeps figures of it for owners: in memory at once, in the store every few seconds. */
export interface Usage {
  observe: Observe
  /** Writes what is not written yet, for whoever is about to look: of the newest requests, at least those of `sheetId`. */
  flush(sheetId?: string): Promise<void>
  close(): Promise<void>
}

const flushMs = burstSeconds * 1_000
/** How many requests are counted together, as with metrics: in a row, each costs a fifth of what it costs between requests. */
const countedTogether = 256
/**
 * Newest requests that are written with each flush: one sheet in use has a hundred, a thousand would have as many as there
 * are requests, each a row of the store. The others wait for their turn, in memory.
 */
const recentOfFlush = 5_000
const keptDays = 400
/** Rows of each kind, for which SQLite takes some milliseconds. */
const forgottenTogether = 500
/** Batches that are kept while the store is away; older ones are lost. */
const maxUnsaved = 360
const dayMs = 24 * 60 * 60_000
/** Whom the turns of the main thread are for, where it is no account. */
const noAccount = ''

export interface UsageParts {
  store: Pick<Store, 'addUsage' | 'forgetUsageBefore'>
  clock: Clock
  turns: LoopTurns
  shares: Pick<Shares, 'sheets'>
}

/** What was counted until one flush. */
interface Unsaved {
  /** The store did not take it, or is about to. */
  batch: UsageBatch | undefined
  rest: Iterator<UsageBatch, undefined>
}

export function createUsage({ store, clock, turns, shares }: UsageParts): Usage {
  let waiting: Observation[] = []
  let waitingAtMs: number[] = []
  const recent = createRecentRequests(nextId)
  const toldApart = createToldApart(shares)
  let tally = createTally(toldApart)
  /** What the store did not take; it is tried again before anything newer. */
  let unsaved: Unsaved[] = []
  let flushing: Promise<void> = Promise.resolve()
  let tidiedDay = ''
  let ids = 0
  const timer = setInterval(() => void flush().catch(() => {}), flushMs).unref()

  return {
    observe(seen) {
      if (!isCounted(seen)) return
      waiting.push(seen)
      waitingAtMs.push(clock.nowMs())
      if (waiting.length >= countedTogether) countWaiting()
    },
    flush,
    async close() {
      clearInterval(timer)
      await flushWith(Number.POSITIVE_INFINITY, null)
    },
  }

  function flush(sheetId: string | null = null): Promise<void> {
    return flushWith(recentOfFlush, sheetId)
  }

  /** One at a time: what is being written must not be written twice. */
  function flushWith(recentRows: number, sheetId: string | null): Promise<void> {
    const next = flushing.catch(() => {}).then(() => save(recentRows, sheetId))
    flushing = next
    return next
  }

  async function save(recentRows: number, sheetId: string | null): Promise<void> {
    countWaiting()
    if (!tally.isEmpty() || !recent.isEmpty()) {
      const rest = tally.batches(recent.take(recentRows, sheetId))
      unsaved = [...unsaved, { batch: undefined, rest }].slice(-maxUnsaved)
      tally = createTally(toldApart)
    }
    while (unsaved[0]) {
      await saveAll(unsaved[0])
      unsaved = unsaved.slice(1)
    }
    // By this machine's time, as the days themselves: an hour more or less of four hundred days is nothing.
    const today = dayOf(clock.nowMs())
    if (tidiedDay === today) return
    tidiedDay = today
    const firstDay = dayOf(clock.nowMs() - keptDays * dayMs)
    do await turns.next(noAccount)
    while (await store.forgetUsageBefore(firstDay, forgottenTogether))
  }

  async function saveAll(counted: Unsaved): Promise<void> {
    for (;;) {
      await turns.next(noAccount)
      counted.batch ??= counted.rest.next().value
      if (!counted.batch) return
      await store.addUsage(counted.batch)
      counted.batch = undefined
    }
  }

  function countWaiting(): void {
    const [seen, atMs] = [waiting, waitingAtMs]
    waiting = []
    waitingAtMs = []
    for (const [at, observation] of seen.entries()) count(observation, atMs[at] ?? 0)
  }

  function count(seen: Observation, atMs: number): void {
    switch (seen.event) {
      case 'request_answered':
        if (seen.accountId !== null) tally.countRequest(seen, seen.accountId, atMs)
        if (seen.sheetId !== null) recent.keep(seen.sheetId, seen, atMs)
        break
      case 'sheet_fetched':
        tally.countProviderCall(seen.sheetId, atMs)
        tally.noteHealth(seen.sheetId, null, atMs)
        break
      case 'rows_written':
        tally.noteHealth(seen.sheetId, null, atMs)
        break
      case 'provider_failed':
        tally.noteHealth(seen.sheetId, seen.reason, atMs)
        break
    }
  }

  /** Sorts by time, by order within this process, and is unlike any other's. */
  function nextId(atMs: number): string {
    const nth = (ids++ % 36 ** 6).toString(36).padStart(6, '0')
    return `${atMs.toString(36).padStart(9, '0')}${nth}${randomBase62(6)}`
  }
}

function isCounted(seen: Observation): boolean {
  const { event } = seen
  if (event === 'request_answered') return seen.accountId !== null
  return event === 'sheet_fetched' || event === 'provider_failed' || event === 'rows_written'
}
