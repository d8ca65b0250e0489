import { randomInt } from 'node:crypto'
import type { Cell } from '../../../sheets/rows/grid.ts'
import { fieldsOf, listOf, parsedJson } from '../../remote/json-fields.ts'
import type { GoogleCalls } from '../client/google-call.ts'
import type { GoogleEndpoints } from '../client/google-endpoints.ts'
import type { GoogleTime } from '../client/google-time.ts'
import { createMarkerRequest, deleteMarkerRequest } from '../write/marker.ts'

/** A tab that is there for a trial, and the requests that are tried on it. */
export interface ScratchTab {
  missingTabId: number
  newMarkerId(): number
  marker(id: number): object
  cells(rowIndex: number, rows: readonly (readonly Cell[])[], tabId?: number): object
  append(rows: readonly (readonly Cell[])[]): object
  batch(requests: readonly object[]): Promise<unknown>
  /** Empties the tab before. */
  write(rows: readonly (readonly Cell[])[]): Promise<void>
  values(): Promise<Cell[][]>
  googleMs(): number | null
  /** The tab, and every marker that was left. */
  remove(): Promise<void>
}

export interface ScratchParts {
  calls: GoogleCalls
  endpoints: GoogleEndpoints
  time: Pick<GoogleTime, 'nowMs'>
}

const highestId = 2 ** 31 - 1
const title = () => `Rowport proof ${randomInt(1e9)}`

export async function addScratchTab(
  { calls, endpoints, time }: ScratchParts,
  credentialId: string,
  spreadsheetId: string,
): Promise<ScratchTab> {
  const root = `${endpoints.sheets}/${encodeURIComponent(spreadsheetId)}`
  const markerIds: number[] = []
  const tabId = randomInt(1, highestId)
  const name = title()
  const batch = (requests: readonly object[]) =>
    calls.callWrite({
      credentialId,
      service: 'sheets',
      method: 'POST',
      url: `${root}:batchUpdate?prettyPrint=false`,
      body: { requests },
    })
  await batch([
    {
      addSheet: {
        properties: { sheetId: tabId, title: name, gridProperties: { rowCount: 50, columnCount: 8 } },
      },
    },
  ])
  const cells: ScratchTab['cells'] = (rowIndex, rows, sheetId = tabId) => ({
    updateCells: {
      start: { sheetId, rowIndex, columnIndex: 0 },
      rows: rows.map(rowData),
      fields: 'userEnteredValue',
    },
  })
  return {
    missingTabId: randomInt(1, highestId),
    newMarkerId() {
      const id = randomInt(1, highestId)
      markerIds.push(id)
      return id
    },
    marker: (id) => createMarkerRequest({ id, text: `proof.${id}` }, 'done'),
    cells,
    append: (rows) => ({
      appendCells: { sheetId: tabId, rows: rows.map(rowData), fields: 'userEnteredValue' },
    }),
    batch,
    async write(rows) {
      await batch([
        { updateCells: { range: { sheetId: tabId }, fields: 'userEnteredValue' } },
        cells(0, rows),
      ])
    },
    async values() {
      const wanted = new URLSearchParams({ valueRenderOption: 'UNFORMATTED_VALUE', prettyPrint: 'false' })
      const url = `${root}/values/${encodeURIComponent(`'${name}'`)}?${wanted}`
      const body = await calls.callRead({ credentialId, service: 'sheets', method: 'GET', url })
      return listOf(fieldsOf(parsedJson(body)).values) as Cell[][]
    },
    googleMs: time.nowMs,
    async remove() {
      await batch([{ deleteSheet: { sheetId: tabId } }])
      // One that was never taken cannot be deleted, and keeps no other.
      for (const id of markerIds) await batch([deleteMarkerRequest(id)]).catch(() => {})
    },
  }
}

function rowData(row: readonly Cell[]): object {
  return {
    values: row.map((cell) => (cell === '' || cell === null ? {} : { userEnteredValue: enteredValue(cell) })),
  }
}

function enteredValue(cell: Exclude<Cell, null>): object {
  if (typeof cell === 'number') return { numberValue: cell }
  return typeof cell === 'boolean' ? { boolValue: cell } : { stringValue: String(cell) }
}
