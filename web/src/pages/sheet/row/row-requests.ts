import type { SheetView } from '../../../../../src/dashboard/contract.ts'
import { Refused } from '../../../api.ts'
import { askAsClient, type ClientResponse } from '../as-client.ts'
import type { Row } from './row-values.ts'

export interface OpenRow {
  row: Row
  /** Names the row as it was read: what changed meanwhile is not overwritten. */
  etag: string | null
}

export interface RowChange {
  sheet: SheetView
  row: number
  etag: string | null
}

export async function readRow(sheet: SheetView, row: number): Promise<OpenRow> {
  const got = await askAsClient({
    slug: sheet.slug,
    method: 'GET',
    path: `${sheet.paths.formA}/${row}`,
    body: null,
  })
  if (!got.response.ok) throw refusalIn(got)
  return { row: JSON.parse(got.text) as Row, etag: got.response.headers.get('etag') }
}

export async function updateRow({ sheet, row, etag, changed }: RowChange & { changed: Row }): Promise<void> {
  await write(sheet, 'PUT', `/${row}`, changed, etag)
}

export async function deleteRow({ sheet, row, etag }: RowChange): Promise<void> {
  await write(sheet, 'DELETE', `/${row}`, null, etag)
}

export async function addRow({ sheet, row }: { sheet: SheetView; row: Row }): Promise<void> {
  await write(sheet, 'POST', '', row, null)
}

async function write(
  sheet: SheetView,
  method: string,
  below: string,
  body: Row | null,
  ifMatch: string | null,
) {
  const path = sheet.paths.formA + below
  const got = await askAsClient({
    slug: sheet.slug,
    method,
    path,
    body: body && JSON.stringify(body),
    ifMatch,
  })
  if (!got.response.ok) throw refusalIn(got)
}

/** The public API's own words. */
export function refusalIn({ response, text }: ClientResponse): Refused {
  let said: { error?: string; code?: string; details?: string } = {}
  try {
    said = JSON.parse(text) as typeof said
  } catch {
    // Something between us and the server has answered.
  }
  const message =
    response.status === 412
      ? 'The row has changed since you opened it. Nothing was saved. Reload it to see the new values.'
      : [said.error ?? `The request failed with status ${response.status}.`, said.details]
          .filter(Boolean)
          .join(' ')
  return new Refused(response.status, { error: { code: said.code ?? 'unknown', message } })
}
