import type { TabPlace } from '../../../sheets/provider.ts'
import { boundPieces, isTooLarge } from '../../remote/bounded-body.ts'
import type { Deadline } from '../../remote/deadline.ts'
import type { GoogleCalls } from '../client/google-call.ts'
import type { GoogleEndpoints } from '../client/google-endpoints.ts'
import { unreadable } from '../client/google-errors.ts'
import { parseGoogleLocation } from '../google-location.ts'
import { createBodyHash, createInspection } from '../inspection.ts'
import { type AnswerRoom, longBytes } from './answer-room.ts'
import type { Columns } from './column-ranges.ts'
import { type GridSize, gridSizeIn } from './grid-bounds.ts'
import { joinRanges, type RowRange } from './row-ranges.ts'
import { tabCellFields, tabViewFields } from './tab-view.ts'

/** The reads of a whole tab, each of them one call. */
export interface TabReads {
  values(place: TabPlace, render: Render, under: ReadUnder, how?: ValuesWish): Promise<TabRead>
  /** With formats, as far as the bounds go; null where that is too much to be worth while. */
  grid(place: TabPlace, bounds: GridSize, under: ReadUnder): Promise<GridRead | null>
  /** Some rows and one column, with formats, all of one moment; null where that is too much. */
  rowsAndColumn(
    place: TabPlace,
    wanted: RowsAndColumnWish,
    under: ReadUnder,
  ): Promise<Buffer<ArrayBuffer> | null>
}

export interface RowsAndColumnWish {
  ranges: readonly RowRange[]
  /** By position, from 0. */
  columnIndex: number
}

export interface ValuesWish {
  texts?: BesideRead | null
  /** All unless told. */
  columns?: Columns
}

export type Render = 'serial' | 'texts' | 'formatted'

export interface TabRead {
  body: Buffer<ArrayBuffer>
  hash: string
  hasNumber: boolean
  /** Those that have numbers, as far as its beginning tells. */
  numberColumns: Columns
}

export interface GridRead extends Pick<TabRead, 'body' | 'hash'> {
  /** The size of the whole tab. */
  size: GridSize
}

export interface ReadUnder {
  deadline: Deadline
  /** For what comes from Google, in memory. */
  room: AnswerRoom
}

/** Another read that depends on what this one brings. */
export interface BesideRead {
  /** There is a number, in these columns at least. */
  begin(columns: Columns): void
  /** This one begins, perhaps anew. */
  drop(): void
}

const renderOptions: Record<Render, object> = {
  serial: { valueRenderOption: 'UNFORMATTED_VALUE', dateTimeRenderOption: 'SERIAL_NUMBER' },
  texts: { valueRenderOption: 'UNFORMATTED_VALUE', dateTimeRenderOption: 'FORMATTED_STRING' },
  formatted: { valueRenderOption: 'FORMATTED_VALUE' },
}

/** Few cells may still hold long texts, and here each is told twice. */
const mostGridBytes = 16 * 1024 * 1024

export function createTabReads(calls: GoogleCalls, endpoints: GoogleEndpoints): TabReads {
  return {
    async values(place, render, under, { texts = null, columns = 'all' } = {}) {
      const { tabId: sheetId } = parseGoogleLocation(place.location)
      const gridRanges =
        columns === 'all'
          ? [{ sheetId }]
          : columns.map(({ from, to }) => ({ sheetId, startColumnIndex: from, endColumnIndex: to }))
      const asked = {
        dataFilters: gridRanges.map((gridRange) => ({ gridRange })),
        majorDimension: 'ROWS',
        ...renderOptions[render],
      }
      let inspection = createInspection()
      const body = await read(place, '/values:batchGetByDataFilter?', asked, under, () => {
        texts?.drop()
        inspection = createInspection(texts?.begin)
        return inspection.inspectPiece
      })
      return { body, ...inspection.found() }
    },

    async grid(place, { rows, columns }, under) {
      const { tabId } = parseGoogleLocation(place.location)
      const gridRange = { sheetId: tabId, startRowIndex: 0, endRowIndex: rows, endColumnIndex: columns }
      const method = `:getByDataFilter?fields=${tabCellFields}&`
      let bodyHash = createBodyHash()
      try {
        const body = await read(place, method, { dataFilters: [{ gridRange }] }, under, () => {
          bodyHash = createBodyHash()
          return boundPieces(mostGridBytes, bodyHash.hashPiece)
        })
        const size = gridSizeIn(body)
        if (!size) throw unreadable()
        return { body, size, hash: bodyHash.hash() }
      } catch (error) {
        if (isTooLarge(error)) return null
        throw error
      }
    },

    async rowsAndColumn(place, { ranges, columnIndex }, under) {
      const { tabId: sheetId } = parseGoogleLocation(place.location)
      const column = { sheetId, startColumnIndex: columnIndex, endColumnIndex: columnIndex + 1 }
      const rows = joinRanges(ranges).map(({ from, to }) => ({
        gridRange: { sheetId, startRowIndex: from - 1, endRowIndex: to },
      }))
      const asked = { dataFilters: [{ gridRange: column }, ...rows] }
      try {
        const method = `:getByDataFilter?fields=${tabViewFields}&`
        return await read(place, method, asked, { ...under, isUrgent: true }, () =>
          boundPieces(mostGridBytes),
        )
      } catch (error) {
        if (isTooLarge(error)) return null
        throw error
      }
    },
  }

  function read(
    { location, credentialId, accountId }: TabPlace,
    method: string,
    asked: object,
    { deadline, room, isUrgent = false }: ReadUnder & { isUrgent?: boolean },
    onBody: () => (piece: Uint8Array) => void,
  ): Promise<Buffer<ArrayBuffer>> {
    const { spreadsheetId } = parseGoogleLocation(location)
    return calls.callRead({
      credentialId,
      accountId,
      service: 'sheets',
      method: 'POST',
      // By the tab's id: its title may change at any time.
      url: `${endpoints.sheets}/${encodeURIComponent(spreadsheetId)}${method}prettyPrint=false`,
      body: asked,
      // Not before: who waits for the ration holds nothing, and keeps nobody else from an answer.
      async compose() {
        // Nobody would give back what is taken for one that was dropped.
        if (!deadline.signal.aborted) await room.begin(deadline.leftMs())
        return asked
      },
      deadline,
      onBody() {
        const onPiece = onBody()
        let bytes = 0
        return (piece) => {
          onPiece(piece)
          bytes += piece.byteLength
          return bytes > longBytes ? room.beginLong(deadline.leftMs()) : undefined
        }
      },
      isUrgent,
    })
  }
}
