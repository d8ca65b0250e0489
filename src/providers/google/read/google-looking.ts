import type { TabPlace } from '../../../sheets/provider.ts'
import { fieldsOf, listOf, parseJsonBytes } from '../../remote/json-fields.ts'
import type { GoogleCalls } from '../client/google-call.ts'
import type { GoogleEndpoints } from '../client/google-endpoints.ts'
import { RefusedByGoogle, unreadable } from '../client/google-errors.ts'
import { parseGoogleLocation } from '../google-location.ts'
import { type FoundMarker, type Marker, markerKey, readFoundMarker, readMarkerAs } from '../write/marker.ts'
import { parseGridAnswer } from './grid-answer.ts'
import { joinRanges, type RowRange } from './row-ranges.ts'
import { readRowsInTurns, readTabView, type TabView, tabViewFields } from './tab-view.ts'
import { createRowCount } from './values-scan.ts'

/** The small reads around a write. */
export interface GoogleLooking {
  /** These rows, cell by cell; 'outside' when one of the ranges begins beyond the last row of the grid. */
  readTabRanges(place: TabPlace, ranges: readonly RowRange[]): Promise<TabView | 'outside'>
  /** The number of the last row with a value in it; 0 when there is none. */
  countRows(place: TabPlace): Promise<number>
  findMarker(place: TabPlace, marker: Marker): Promise<'done' | 'void' | 'foreign' | 'absent'>
  /** All that Rowport ever left in the spreadsheet and nobody has deleted. */
  allMarkers(place: TabPlace): Promise<FoundMarker[]>
}

export function createGoogleLooking(calls: GoogleCalls, endpoints: GoogleEndpoints): GoogleLooking {
  return {
    async readTabRanges(place, ranges) {
      const { tabId } = parseGoogleLocation(place.location)
      const dataFilters = joinRanges(ranges).map(({ from, to }) => ({
        // By the tab's id: its title may change at any time.
        gridRange: { sheetId: tabId, startRowIndex: from - 1, endRowIndex: to },
      }))
      try {
        const call = callOf(place, `:getByDataFilter?fields=${tabViewFields}`)
        const answer = await parseGridAnswer(await calls.callRead({ ...call, body: { dataFilters } }))
        const view = readTabView(answer, tabId)
        if (!view) throw unreadable()
        await readRowsInTurns(view, ranges)
        return view
      } catch (error) {
        if (error instanceof RefusedByGoogle && error.isAboutGrid) return 'outside'
        throw error
      }
    },

    async countRows(place) {
      const { tabId } = parseGoogleLocation(place.location)
      let count = createRowCount()
      await calls.callRead({
        ...callOf(place, '/values:batchGetByDataFilter?fields=valueRanges.valueRange.values'),
        body: {
          dataFilters: [{ gridRange: { sheetId: tabId } }],
          majorDimension: 'ROWS',
          valueRenderOption: 'UNFORMATTED_VALUE',
        },
        onBody() {
          count = createRowCount()
          return count.countPiece
        },
      })
      return count.rows()
    },

    async findMarker(place, marker) {
      const [found] = await search(place, { metadataId: marker.id }, true)
      return found === undefined ? 'absent' : readMarkerAs(found, marker)
    },

    async allMarkers(place) {
      const found = await search(place, { metadataKey: markerKey }, false)
      return found.flatMap((metadata) => readFoundMarker(metadata) ?? [])
    },
  }

  /** A search that finds nothing says so; asking for one by its id would answer like a spreadsheet that is gone. */
  async function search(
    place: TabPlace,
    developerMetadataLookup: object,
    isUrgent: boolean,
  ): Promise<unknown[]> {
    const body = { dataFilters: [{ developerMetadataLookup }] }
    const answer = await ask(place, '/developerMetadata:search?', body, isUrgent)
    return listOf(fieldsOf(answer).matchedDeveloperMetadata).map(
      (match) => fieldsOf(match).developerMetadata ?? {},
    )
  }

  async function ask(place: TabPlace, method: string, body: object, isUrgent: boolean): Promise<unknown> {
    const answer = parseJsonBytes(await calls.callRead({ ...callOf(place, method), body, isUrgent }))
    if (answer === undefined) throw unreadable()
    return answer
  }

  function callOf({ location, credentialId, accountId }: TabPlace, method: string) {
    const { spreadsheetId } = parseGoogleLocation(location)
    const url = `${endpoints.sheets}/${encodeURIComponent(spreadsheetId)}${method}&prettyPrint=false`
    return { credentialId, accountId, service: 'sheets', method: 'POST', url, isUrgent: true } as const
  }
}
