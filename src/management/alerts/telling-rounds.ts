import type { Clock } from '../../clock.ts'

const roundEveryMs = 5_000
/** What is well again by then was a hiccup of the provider's, and nobody has to do anything. */
const graceMs = 60_000

/**
 * Which of the sheets that are broken have been so for longer than a hiccup lasts. Each instance goes by when it first found one so, by
 * the clock for durations.
 */
export interface BrokenSheets {
  /** Called once a round, with all that are broken. */
  keep(sheetIds: ReadonlySet<string>): void
  isLong(sheetId: string): boolean
}

/** Tells of trouble again and again, one round at a time: what could not be told now is told the next time. */
export function startTellingRounds(
  clock: Pick<Clock, 'elapsedMs'>,
  tellAll: (broken: BrokenSheets) => Promise<void>,
): { close(): Promise<void> } {
  let round: Promise<void> | null = null
  const broken = createBrokenSheets(clock)
  const timer = setInterval(() => {
    round ??= tellAll(broken)
      .catch(() => {})
      .finally(() => {
        round = null
      })
  }, roundEveryMs).unref()
  return {
    async close() {
      clearInterval(timer)
      await round
    },
  }
}

function createBrokenSheets(clock: Pick<Clock, 'elapsedMs'>): BrokenSheets {
  const sinceMs = new Map<string, number>()
  return {
    keep(sheetIds) {
      for (const sheetId of sinceMs.keys()) if (!sheetIds.has(sheetId)) sinceMs.delete(sheetId)
    },
    isLong(sheetId) {
      const since = sinceMs.get(sheetId) ?? clock.elapsedMs()
      sinceMs.set(sheetId, since)
      return clock.elapsedMs() - since >= graceMs
    },
  }
}
