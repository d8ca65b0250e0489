import { randomInt } from 'node:crypto'
import type { Clock } from '../../../clock.ts'
import type { ProvenAssumption } from '../../../sheets/proof.ts'
import { OutcomeUnknown } from '../../../sheets/provider-failure.ts'
import type { Cell } from '../../../sheets/rows/grid.ts'
import { pause, type Timers } from '../../../timers.ts'
import { fieldsOf, listOf, parseJsonBytes } from '../../remote/json-fields.ts'
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
  /** The number of the last row with something in it, where cells are read with their formats. */
  gridRows(): Promise<number>
  /** Sends a batch and hangs up so long after that, unless the answer was there sooner. */
  giveUp(requests: readonly object[], afterMs: number): Promise<'answered' | 'given_up'>
  elapsedMs(): number
  pause(ms: number): Promise<void>
  googleMs(): number | null
  /** The tab, and every marker that was left. */
  remove(): Promise<void>
}

/** What became of a trial; `holds`: null where nothing was shown. */
export type Attempted = Pick<ProvenAssumption, 'holds' | 'saw'>

export interface ScratchParts {
  calls: GoogleCalls
  endpoints: GoogleEndpoints
  time: Pick<GoogleTime, 'nowMs'>
  clock: Pick<Clock, 'elapsedMs'>
  timers: Timers
}

const highestId = 2 ** 31 - 1
/** A place in the ration is waited for as long as for any write. */
const longestMs = 25_000
const title = () => `Rowport proof ${randomInt(1e9)}`

export async function addScratchTab(
  { calls, endpoints, time, clock, timers }: ScratchParts,
  credentialId: string,
  spreadsheetId: string,
): Promise<ScratchTab> {
  const root = `${endpoints.sheets}/${encodeURIComponent(spreadsheetId)}`
  const markerIds: number[] = []
  const tabId = randomInt(1, highestId)
  const name = title()
  const batchCall = {
    credentialId,
    service: 'sheets',
    method: 'POST',
    url: `${root}:batchUpdate?prettyPrint=false`,
  } as const
  const batch = (requests: readonly object[]) => calls.callWrite({ ...batchCall, body: { requests } })
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
      return listOf(fieldsOf(parseJsonBytes(body)).values) as Cell[][]
    },
    async gridRows() {
      const wanted = new URLSearchParams({
        ranges: `'${name}'`,
        fields: 'sheets.data.rowData.values.effectiveValue',
        prettyPrint: 'false',
      })
      const url = `${root}?${wanted}`
      const body = await calls.callRead({ credentialId, service: 'sheets', method: 'GET', url })
      const [sheet] = listOf(fieldsOf(parseJsonBytes(body)).sheets)
      const [data] = listOf(fieldsOf(sheet).data)
      const isFilled = (row: unknown) =>
        listOf(fieldsOf(row).values).some((cell) => fieldsOf(cell).effectiveValue !== undefined)
      return listOf(fieldsOf(data).rowData).findLastIndex(isFilled) + 1
    },
    async giveUp(requests, afterMs) {
      const hangUp = new AbortController()
      const deadline = { signal: hangUp.signal, leftMs: () => longestMs, end() {} }
      try {
        await calls.callWrite({
          ...batchCall,
          deadline,
          // It is asked for when nothing is left to wait for: the batch leaves right after.
          async compose() {
            timers.after(afterMs, () => hangUp.abort())
            return { requests }
          },
        })
        return 'answered'
      } catch (error) {
        if (error instanceof OutcomeUnknown) return 'given_up'
        throw error
      }
    },
    elapsedMs: clock.elapsedMs,
    pause: (ms) => pause(timers, ms, new AbortController().signal),
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
