import type { Clock } from '../../../clock.ts'
import type { TabPlace } from '../../../sheets/provider.ts'
import { createRangeCheck, type RowRange } from '../read/row-ranges.ts'
import { onlyRowsOf, type TabView } from '../read/tab-view.ts'

/** The looks at rows on which changes are judged: the batch that follows at once is made from the same. */
export interface RowLooks {
  /** Names it. */
  keep(place: TabPlace, look: Omit<RowLook, 'version'>): string
  /** As it was then, of these rows; null when it is too old, another one, or did not go so far. */
  find(place: TabPlace, version: string, ranges: readonly RowRange[], maxAgeMs: number): TabView | null
}

interface RowLook {
  view: TabView
  ranges: readonly RowRange[]
  version: string
  /** When the answer was there. */
  seenAtMs: number
}

const maxRemembered = 1_000

export function createRowLooks(clock: Pick<Clock, 'elapsedMs'>): RowLooks {
  const looks = new Map<string, RowLook>()
  let count = 0
  return {
    keep(place, look) {
      const key = keyOf(place)
      const version = `rows.${count++}`
      looks.delete(key)
      looks.set(key, { ...look, version })
      const [oldest] = looks.keys()
      if (looks.size > maxRemembered && oldest !== undefined) looks.delete(oldest)
      return version
    },
    find(place, version, ranges, maxAgeMs) {
      const look = looks.get(keyOf(place))
      if (look?.version !== version || clock.elapsedMs() - look.seenAtMs > maxAgeMs) return null
      const isWithin = createRangeCheck(look.ranges)
      // Beyond the last row of the grid there is nothing to be seen.
      const isSeen = ({ from, to }: RowRange) => {
        const last = Math.min(to, look.view.rowCount)
        return from > last || isWithin(from, last)
      }
      return ranges.every(isSeen) ? onlyRowsOf(look.view, ranges) : null
    },
  }
}

function keyOf({ location, credentialId }: TabPlace): string {
  return `${credentialId} ${location}`
}
