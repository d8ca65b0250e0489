import type { Clock } from '../clock.ts'
import type { Observe } from '../reporting/observe.ts'
import { isLosingShare, type LosingShare, losingShares } from '../shares/shares.ts'

/**
 * What accounts had used up of their shares when they wanted more, in the last day: for their owners, who else hear of it from their clients
 * alone, or of rows that left memory from nobody. It is this server's own, and begins with it.
 */
export interface UsedUpShares {
  observe: Observe
  /** The latest first. */
  of(accountId: string): UsedUpShare[]
  /** For how long it has been looked at, a day at most. */
  seenForMs(): number
}

export interface UsedUpShare {
  share: LosingShare
  /** In the last 24 hours, to the hour. */
  times: number
  agoMs: number
}

interface Kept {
  lastMs: number
  /** By the hour, in a ring. */
  times: number[]
}

const hourMs = 60 * 60_000
const hoursKept = 24
/** Some 400 bytes each, of one account or of many: those that were used up the longest ago are forgotten for the next. */
const mostKept = 20_000

export function createUsedUpShares(
  clock: Pick<Clock, 'elapsedMs'>,
  mostOfAll: number = mostKept,
): UsedUpShares {
  const beganMs = clock.elapsedMs()
  /** By account and share. A map keeps the order of insertion: the one that was used up the longest ago comes first. */
  const kept = new Map<string, Kept>()

  return {
    observe(seen) {
      if (seen.event !== 'share_used_up' || seen.accountId === null || !isLosingShare(seen.share)) return
      const name = nameOf(seen.accountId, seen.share)
      const nowMs = clock.elapsedMs()
      const its = kept.get(name) ?? { lastMs: nowMs, times: Array<number>(hoursKept).fill(0) }
      forgetPassed(its, nowMs)
      const place = hourOf(nowMs) % hoursKept
      its.times[place] = (its.times[place] ?? 0) + 1
      its.lastMs = nowMs
      kept.delete(name)
      kept.set(name, its)
      const [oldest] = kept.keys()
      if (kept.size > mostOfAll && oldest !== undefined) kept.delete(oldest)
    },
    of(accountId) {
      const nowMs = clock.elapsedMs()
      const used: UsedUpShare[] = []
      for (const share of losingShares) {
        const its = kept.get(nameOf(accountId, share))
        if (!its) continue
        forgetPassed(its, nowMs)
        const times = its.times.reduce((sum, ofHour) => sum + ofHour)
        if (times > 0) used.push({ share, times, agoMs: nowMs - its.lastMs })
      }
      return used.sort((one, other) => one.agoMs - other.agoMs)
    },
    seenForMs: () => Math.min(hoursKept * hourMs, clock.elapsedMs() - beganMs),
  }
}

function nameOf(accountId: string, share: LosingShare): string {
  return `${accountId} ${share}`
}

function hourOf(atMs: number): number {
  return Math.floor(atMs / hourMs)
}

/** The hours since the last time are empty, and take the places of those a day before. */
function forgetPassed({ lastMs, times }: Kept, nowMs: number): void {
  const last = hourOf(lastMs)
  const passed = Math.min(hoursKept, hourOf(nowMs) - last)
  for (let n = 1; n <= passed; n++) times[(last + n) % hoursKept] = 0
}
