import assert from 'node:assert/strict'
import type { TestContext } from 'node:test'
import type { sheets_v4 } from '@googleapis/sheets'
import { createSpreadsheet, type GoogleClients, startClients } from './google-clients.ts'

export type Request = sheets_v4.Schema$Request

export interface BatchBench extends GoogleClients {
  spreadsheetId: string
  batch(
    requests: Request[],
    more?: Omit<sheets_v4.Schema$BatchUpdateSpreadsheetRequest, 'requests'>,
    fields?: string,
  ): Promise<sheets_v4.Schema$BatchUpdateSpreadsheetResponse>
  /** The whole batch is refused with exactly this, and nothing of it is there afterwards. */
  refuses(requests: Request[], message: string | RegExp): Promise<void>
  values(range?: string): Promise<unknown[][]>
  dump(): Promise<Dump>
}

interface Dump {
  tabs: { rowCount: number; columnCount: number; values: unknown[][] }[]
  developerMetadata: sheets_v4.Schema$DeveloperMetadata[]
}

export async function startBatchBench(
  t: TestContext,
  rows: (string | number | boolean)[][],
): Promise<BatchBench> {
  const google = await startClients(t)
  const spreadsheetId = await createSpreadsheet(google, rows)
  const { spreadsheets } = google.sheetsApi
  const bench: BatchBench = {
    ...google,
    spreadsheetId,
    async batch(requests, more = {}, fields) {
      const parameters = { spreadsheetId, requestBody: { requests, ...more }, ...(fields ? { fields } : {}) }
      return (await spreadsheets.batchUpdate(parameters)).data
    },
    async refuses(requests, message) {
      const before = await bench.dump()
      const failure = await bench.batch(requests).then(
        () => assert.fail('accepted'),
        (error: { status?: number; response?: { data: { error: { message: string } } } }) => error,
      )
      assert.equal(failure.status, 400)
      const text = failure.response?.data.error.message ?? ''
      if (typeof message === 'string') assert.equal(text, message)
      else assert.match(text, message)
      assert.deepEqual(await bench.dump(), before)
    },
    async values(range = 'Items') {
      const parameters = { spreadsheetId, range, valueRenderOption: 'UNFORMATTED_VALUE' }
      return (await spreadsheets.values.get(parameters)).data.values ?? []
    },
    dump: () => google.control<Dump>('GET', `spreadsheets/${spreadsheetId}`),
  }
  return bench
}

export const row = (startIndex: number) => ({
  sheetId: 0,
  dimension: 'ROWS',
  startIndex,
  endIndex: startIndex + 1,
})
export const text = (stringValue: string) => ({ userEnteredValue: { stringValue } })
