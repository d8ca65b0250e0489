import { keptOfBurst } from '../store/usage/kept-requests.ts'
import type { RecentRequestRecord } from '../store/usage/usage-figures.ts'
import type { AnsweredRequest } from './tally.ts'

/** The newest requests of each sheet that are not in the store yet. */
export interface RecentRequests {
  keep(sheetId: string, request: AnsweredRequest, atMs: number): void
  /**
   * Those of whole sheets, until there are so many: of `sheetId` first, for somebody is about to look at it, then of whom they
   * have waited for longest. The others stay. Each is made when it is asked for.
   */
  take(mostRows: number, sheetId: string | null): Iterable<RecentRequestRecord>
  isEmpty(): boolean
}

/** A ring, with times beside the requests: so a request costs no object of its own. */
interface RequestsOfSheet {
  requests: AnsweredRequest[]
  atMs: number[]
  /** Those that were overwritten, too. */
  count: number
}

export function createRecentRequests(nextId: (atMs: number) => string): RecentRequests {
  // A map keeps the order of insertion: whose requests have waited for longest comes first.
  const waiting = new Map<string, RequestsOfSheet>()

  return {
    keep(sheetId, request, atMs) {
      let kept = waiting.get(sheetId)
      if (!kept) {
        kept = { requests: [], atMs: [], count: 0 }
        waiting.set(sheetId, kept)
      }
      const place = kept.count++ % keptOfBurst
      kept.requests[place] = request
      kept.atMs[place] = atMs
    },
    take(mostRows, sheetId) {
      const taken: [sheetId: string, RequestsOfSheet][] = []
      let rows = 0
      const first = sheetId === null ? [] : [sheetId]
      for (const name of [...first, ...waiting.keys()]) {
        if (rows >= mostRows) break
        const kept = waiting.get(name)
        if (!kept) continue
        waiting.delete(name)
        taken.push([name, kept])
        rows += kept.requests.length
      }
      return recordsOf(taken)
    },
    isEmpty: () => waiting.size === 0,
  }

  function* recordsOf(taken: readonly [string, RequestsOfSheet][]): Generator<RecentRequestRecord> {
    for (const [sheetId, { requests, atMs: times, count }] of taken) {
      for (let nth = Math.max(0, count - keptOfBurst); nth < count; nth++) {
        const request = requests[nth % keptOfBurst]
        if (!request) continue
        const { keyId, method, operation, status, code, rowsFrom, durationMs } = request
        const atMs = times[nth % keptOfBurst] ?? 0
        const id = nextId(atMs)
        yield { id, sheetId, keyId, atMs, method, operation, status, code, rowsFrom, durationMs }
      }
    }
  }
}
