import type { TabPlace } from '../../../sheets/provider.ts'
import { ProviderFailure } from '../../../sheets/provider-failure.ts'
import type { GoogleLooking } from './google-looking.ts'
import type { RowRange } from './row-ranges.ts'
import { lastFilledIn, type TabHead, type TabMemory } from './tab-memory.ts'
import type { TabView } from './tab-view.ts'

/** Header, size and end of a tab. */
export interface TabHeads {
  /** As Google has it now; what is remembered only tells where to look. */
  lookAtHead(place: TabPlace): Promise<TabHead>
  /** From memory while that is young enough. */
  headOf(place: TabPlace, maxAgeMs: number): Promise<TabHead>
  /** Where the end is likely to be, for one who looks at the tab anyway; null where nobody knows. */
  whereToLook(place: TabPlace): RowRange | null
  /** Remembers what such a look has shown. */
  keepIfSeen(place: TabPlace, view: TabView, range: RowRange, seenAtMs?: number): void
}

/** People add a few rows at the end now and then; so far we look beyond the end that we know. */
const rowsAhead = 20

export function createTabHeads(looking: GoogleLooking, memory: TabMemory): TabHeads {
  return {
    lookAtHead,
    async headOf(place, maxAgeMs) {
      const known = memory.get(place)
      return known && memory.ageMs(known) <= maxAgeMs ? known : lookAtHead(place)
    },
    whereToLook(place) {
      const known = memory.get(place)
      return known && rangeAt(known.lastRow)
    },
    keepIfSeen(place, view, range, seenAtMs) {
      const lastRow = lastFilledIn(view, range)
      if (lastRow === null) memory.forget(place)
      else memory.keep(place, view, lastRow, seenAtMs)
    },
  }

  async function lookAtHead(place: TabPlace): Promise<TabHead> {
    const known = memory.get(place)
    const seen = known && (await lookAt(place, known.lastRow))
    if (seen?.lastRow) return memory.keep(place, seen.view, seen.lastRow)
    const counted = await looking.countRows(place)
    const found = await lookAt(place, counted)
    if (!found) throw tabShrank()
    return memory.keep(place, found.view, found.lastRow ?? counted)
  }

  async function lookAt(place: TabPlace, lastRow: number) {
    const range = rangeAt(lastRow)
    const view = await looking.readTabRanges(place, [{ from: 1, to: 1 }, range])
    return view === 'outside' ? null : { view, lastRow: lastFilledIn(view, range) }
  }
}

function rangeAt(lastRow: number): RowRange {
  const from = Math.max(1, lastRow)
  return { from, to: from + rowsAhead }
}

/** Between two reads the tab lost the rows of which the first one told. */
function tabShrank(): ProviderFailure {
  return new ProviderFailure('the spreadsheet changed while it was read', {
    isPassing: true,
    retryAfterSeconds: 1,
  })
}
