import type { Clock } from '../../../clock.ts'
import type { TabPlace } from '../../../sheets/provider.ts'
import { idleTimers, type Timers } from '../../../timers.ts'
import { createRangeCheck, type RowRange } from '../read/row-ranges.ts'
import { onlyRowsOf, type TabView } from '../read/tab-view.ts'

/** The looks at rows on which changes are judged: the batch that follows at once is made from the same. */
export interface RowLooks {
  /** Names it. */
  keep(place: TabPlace, look: Omit<RowLook, 'version'>): string
  /** As it was then, of these rows; null when it is too old, another one, or did not go so far. */
  find(place: TabPlace, version: string, ranges: readonly RowRange[]): TabView | null
}

interface RowLook {
  view: TabView
  ranges: readonly RowRange[]
  version: string
  /** When the answer was there. */
  seenAtMs: number
}

/** Between the look that a batch begins with and sending it. Where a ration made it wait for longer, it looks again. */
export const trustLookMs = 500

export function createRowLooks(clock: Pick<Clock, 'elapsedMs'>, timers: Timers = idleTimers): RowLooks {
  const looks = new Map<string, RowLook>()
  let count = 0
  let isLettingGo = false
  return {
    keep(place, look) {
      const version = `rows.${count++}`
      looks.set(keyOf(place), { ...look, version })
      if (!isLettingGo) letGoLater()
      return version
    },
    find(place, version, ranges) {
      const look = looks.get(keyOf(place))
      if (look?.version !== version || isTooOld(look)) return null
      const isWithin = createRangeCheck(look.ranges)
      // Beyond the last row of the grid there is nothing to be seen.
      const isSeen = ({ from, to }: RowRange) => {
        const last = Math.min(to, look.view.rowCount)
        return from > last || isWithin(from, last)
      }
      return ranges.every(isSeen) ? onlyRowsOf(look.view, ranges) : null
    },
  }

  /** Each may hold thousands of cells, and nobody finds it any more; the last one too, when nobody writes for hours. */
  function letGoLater(): void {
    isLettingGo = true
    timers.after(trustLookMs, () => {
      for (const [key, look] of looks) if (isTooOld(look)) looks.delete(key)
      isLettingGo = false
      if (looks.size > 0) letGoLater()
    })
  }

  function isTooOld({ seenAtMs }: RowLook): boolean {
    return clock.elapsedMs() - seenAtMs > trustLookMs
  }
}

function keyOf({ location, credentialId }: TabPlace): string {
  return `${credentialId} ${location}`
}
