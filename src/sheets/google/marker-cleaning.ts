import type { Clock } from '../../clock.ts'
import type { Marker } from './marker.ts'

/**
 * Which markers can go. Each is needed until nothing of its batch can arrive any more: Google works on a request for
 * three minutes at most.
 */
export interface MarkerCleaning {
  note(spreadsheetId: string, markers: readonly { id: number; madeAtMs: number }[]): void
  noteNew(spreadsheetId: string, marker: Marker): void
  /** To be deleted along with the next batch. */
  due(spreadsheetId: string): number[]
  gone(spreadsheetId: string, ids: readonly number[]): void
  /** True once for each spreadsheet: markers of former processes have to be looked for. */
  mustSearch(spreadsheetId: string): boolean
  /** It came to nothing, or what was found there was not so: look again at the next occasion. */
  searchAgain(spreadsheetId: string): void
}

export const keepMarkersMs = 10 * 60_000
const maxTogether = 100
const maxRemembered = 10_000

export function createMarkerCleaning(clock: Clock): MarkerCleaning {
  /** By spreadsheet: when each marker was made. */
  const known = new Map<string, Map<number, number>>()
  const searched = new Set<string>()

  return {
    note(spreadsheetId, markers) {
      const own = ofSpreadsheet(spreadsheetId)
      for (const { id, madeAtMs } of markers) own.set(id, madeAtMs)
    },
    noteNew(spreadsheetId, { id }) {
      ofSpreadsheet(spreadsheetId).set(id, clock.nowMs())
    },
    due(spreadsheetId) {
      const oldestMs = clock.nowMs() - keepMarkersMs
      return [...(known.get(spreadsheetId) ?? [])]
        .filter(([, madeAtMs]) => madeAtMs < oldestMs)
        .map(([id]) => id)
        .slice(0, maxTogether)
    },
    gone(spreadsheetId, ids) {
      for (const id of ids) known.get(spreadsheetId)?.delete(id)
    },
    mustSearch(spreadsheetId) {
      if (searched.has(spreadsheetId)) return false
      searched.add(spreadsheetId)
      return true
    },
    searchAgain: (spreadsheetId) => void searched.delete(spreadsheetId),
  }

  function ofSpreadsheet(spreadsheetId: string): Map<number, number> {
    const own = known.get(spreadsheetId) ?? new Map<number, number>()
    known.delete(spreadsheetId)
    known.set(spreadsheetId, own)
    const [longestUnused] = known.keys()
    if (known.size > maxRemembered && longestUnused !== undefined) {
      known.delete(longestUnused)
      searched.delete(longestUnused)
    }
    return own
  }
}
