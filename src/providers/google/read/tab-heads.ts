import type { TabPlace } from '../../../sheets/provider.ts'
import { ProviderFailure } from '../../../sheets/provider-failure.ts'
import type { GoogleLooking } from './google-looking.ts'
import { lastFilledIn, type TabHead, type TabMemory } from './tab-memory.ts'

/** Header, size and end of a tab. */
export interface TabHeads {
  /** As Google has it now; what is remembered only tells where to look. */
  lookAtHead(place: TabPlace): Promise<TabHead>
  /** From memory while that is young enough. */
  headOf(place: TabPlace, maxAgeMs: number): Promise<TabHead>
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
  }

  async function lookAtHead(place: TabPlace): Promise<TabHead> {
    const known = memory.get(place)
    const seen = known && (await lookAt(place, known.lastRow))
    if (seen?.lastRow) return memory.keep(place, seen.view, seen.lastRow)
    const counted = await looking.countRows(place)
    const found = await lookAt(place, counted)
    if (!found) throw moved()
    return memory.keep(place, found.view, found.lastRow ?? counted)
  }

  async function lookAt(place: TabPlace, lastRow: number) {
    const from = Math.max(1, lastRow)
    const range = { from, to: from + rowsAhead }
    const view = await looking.readTabRanges(place, [{ from: 1, to: 1 }, range])
    return view === 'outside' ? null : { view, lastRow: lastFilledIn(view, range) }
  }
}

/** Between two reads the tab lost the rows of which the first one told. */
function moved(): ProviderFailure {
  return new ProviderFailure('the spreadsheet changed while it was read', {
    isPassing: true,
    retryAfterSeconds: 1,
  })
}
