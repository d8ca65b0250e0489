import type { Clock } from '../clock.ts'
import { Refusal } from '../errors.ts'

/**
 * Who sends too often, or to a form that takes nothing, and goes on, is told so again for some seconds without a look at anything, not even at what they send: a flood must
 * cost nobody's time. Only as long as that, since the owner may have raised a limit meanwhile; and not the first times, since a second
 * click on what was taken is to be told that it was.
 */
export interface RecentRefusals {
  /** The refusal that this visitor, or everybody at this form, still gets. */
  of(formId: string, network: string): Refusal | null
  note(formId: string, network: string, refusal: Refusal): void
}

interface KeptRefusal {
  refusal: Refusal
  endMs: number
  retryAtMs: number
  times: number
}

const longestMs = 5_000
const looksBefore = 3
/** As many as there may be networks; the oldest go first. */
const mostKept = 20_000

export function createRecentRefusals(clock: Pick<Clock, 'elapsedMs'>): RecentRefusals {
  const untilMs = new Map<string, KeptRefusal>()
  return {
    of(formId, network) {
      const kept = untilMs.get(`${formId} ${network}`)
      const nowMs = clock.elapsedMs()
      if (!kept || kept.endMs <= nowMs || kept.times < looksBefore) return null
      if (kept.refusal.status !== 429) return kept.refusal
      const retryAfterSeconds = Math.max(1, Math.ceil((kept.retryAtMs - nowMs) / 1_000))
      return new Refusal('rate_limited', { fill: { seconds: String(retryAfterSeconds) }, retryAfterSeconds })
    },
    note(formId, network, refusal) {
      const { retryAfterSeconds = longestMs / 1_000 } = refusal.facts
      const nowMs = clock.elapsedMs()
      const retryAtMs = nowMs + retryAfterSeconds * 1_000
      const key = `${formId} ${network}`
      const kept = untilMs.get(key)
      const times = kept && kept.endMs > nowMs ? kept.times + 1 : 1
      untilMs.delete(key)
      untilMs.set(key, { refusal, endMs: Math.min(retryAtMs, nowMs + longestMs), retryAtMs, times })
      const [oldest] = untilMs.keys()
      if (untilMs.size > mostKept && oldest !== undefined) untilMs.delete(oldest)
    },
  }
}
