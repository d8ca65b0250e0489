import type { Clock } from '../../../clock.ts'
import type { GoogleTime } from '../client/google-time.ts'
import type { FoundMarker, Marker } from './marker.ts'

/**
 * Which markers can go. Each is needed until nothing of its batch can arrive any more: Google works on a request for
 * three minutes at most. And until the journal in which the batch is written down knows how it ended: of our own, that is
 * so for everything that a search finds, because whoever writes has settled what was open there before.
 *
 * No machine's wall clock has a say in it. Those of this process are counted by how long it has known them; those of
 * others by Google's clock, which made them and looks at them.
 */
export interface MarkerCleaning {
  /** What a search found that was begun by whoever has the lane. */
  noteFound(spreadsheetId: string, markers: readonly FoundMarker[]): void
  noteNew(spreadsheetId: string, marker: Marker): void
  /** To be deleted along with the next batch. */
  due(spreadsheetId: string): number[]
  gone(spreadsheetId: string, ids: readonly number[]): void
  /** True now and then for each spreadsheet: what other processes left behind has to be looked for. */
  mustSearch(spreadsheetId: string): boolean
  /** It came to nothing, or what was found there was not so: look again at the next occasion. */
  searchAgain(spreadsheetId: string): void
}

export interface CleaningParts {
  clock: Clock
  time: Pick<GoogleTime, 'nowMs'>
  /** Names the journal of the servers to which this one belongs. */
  journalTag: string
}

const minuteMs = 60_000
/** Long enough for what left late (`leaveWithinMs`), was under way for 25 s and then lay three minutes at Google. */
const keepOwnMs = 10 * minuteMs
/** A little longer than ours: while the process that left them lives, it deletes them itself. */
const keepFoundMs = 12 * minuteMs
/**
 * A batch that was done, of servers with another journal. They may be down, and ask what became of it when they are back;
 * a day later nobody repeats it any more, because its key is forgotten.
 */
const keepForeignMs = 25 * 60 * minuteMs
/** With so many, half of the characters that Google allows are used: then those of others are kept no longer than ours. */
const crowded = 700
/** A marker's time is good for as long as its batch leaves soon after it was made. */
export const leaveWithinMs = minuteMs
const searchEveryMs = 5 * minuteMs
const maxTogether = 100
const maxRemembered = 10_000

export function createMarkerCleaning({ clock, time, journalTag }: CleaningParts): MarkerCleaning {
  /** By spreadsheet: when each marker may go, by our own clock. */
  const known = new Map<string, Map<number, number>>()
  const searchedAtMs = new Map<string, number>()

  return {
    noteFound(spreadsheetId, markers) {
      const nowMs = clock.elapsedMs()
      const googleMs = time.nowMs()
      const own = ofSpreadsheet(spreadsheetId)
      for (const marker of markers) {
        const { id, madeAtMs } = marker
        if (own.has(id)) continue
        const keepMs = keepMsOf(marker, markers.length > crowded)
        if (madeAtMs === null || googleMs === null) own.set(id, nowMs + keepMs)
        // The others are found again by the next search.
        else if (googleMs - madeAtMs > keepMs) own.set(id, nowMs)
      }
    },
    noteNew(spreadsheetId, { id }) {
      ofSpreadsheet(spreadsheetId).set(id, clock.elapsedMs() + keepOwnMs)
    },
    due(spreadsheetId) {
      const nowMs = clock.elapsedMs()
      return [...(known.get(spreadsheetId) ?? [])]
        .filter(([, dueAtMs]) => dueAtMs <= nowMs)
        .map(([id]) => id)
        .slice(0, maxTogether)
    },
    gone(spreadsheetId, ids) {
      for (const id of ids) known.get(spreadsheetId)?.delete(id)
    },
    mustSearch(spreadsheetId) {
      const nowMs = clock.elapsedMs()
      if (nowMs - (searchedAtMs.get(spreadsheetId) ?? Number.NEGATIVE_INFINITY) < searchEveryMs) return false
      ofSpreadsheet(spreadsheetId)
      searchedAtMs.set(spreadsheetId, nowMs)
      return true
    },
    searchAgain: (spreadsheetId) => void searchedAtMs.delete(spreadsheetId),
  }

  function keepMsOf({ journalTag: its, isVoid }: FoundMarker, isCrowded: boolean): number {
    // To settle a batch anew that was not done comes to the same, with its marker or without.
    const isForeign = its !== null && its !== journalTag && !isVoid
    return isForeign && !isCrowded ? keepForeignMs : keepFoundMs
  }

  function ofSpreadsheet(spreadsheetId: string): Map<number, number> {
    const own = known.get(spreadsheetId) ?? new Map<number, number>()
    known.delete(spreadsheetId)
    known.set(spreadsheetId, own)
    const [longestUnused] = known.keys()
    if (known.size > maxRemembered && longestUnused !== undefined) {
      known.delete(longestUnused)
      searchedAtMs.delete(longestUnused)
    }
    return own
  }
}
