import type { IncomingMessage } from 'node:http'
import type { Admission } from '../admission/admit.ts'
import type { SheetAddress } from '../admission/judge.ts'
import { Refusal } from '../errors.ts'
import type { Reading, ReadSheet } from '../sheets/reading.ts'
import { positionOf, rowJson } from '../sheets/snapshot.ts'
import type { AddedRows, Writing } from '../sheets/writing.ts'
import { parseRows, readBody } from './body.ts'
import { etagOf, isNoneMatch, rowEtag } from './etag.ts'
import { type Exchange, noted } from './exchange.ts'
import { listBody, withRowNumber } from './list-body.ts'
import { pageLinks } from './page-links.ts'
import { presentedKey } from './presented-key.ts'
import { type ListWish, parseListWish, parseParameters, parseRowNumber, readableParameters } from './query.ts'
import { notModifiedHeaders, type Reply, readHeaders, writeHeaders } from './reply.ts'
import { pathOf, readMethods } from './routes.ts'

export interface ApiParts {
  admission: Admission
  reading: Reading
  writing: Writing
}

/** A request that found the rows of some sheet, or one of them, with nothing of it judged yet. */
export interface RowsRequest {
  exchange: Exchange
  address: SheetAddress
  rowText: string | null
}

/** GET and HEAD: parse → admit → sheet → respond. */
export async function readRows(asked: RowsRequest, parts: ApiParts): Promise<Reply | Refusal> {
  const admitted = await admit(asked, parts, 'read')
  if (admitted instanceof Refusal) return admitted
  const { sheet: facts, parameters } = admitted
  const rowNumber = parseRowNumber(asked.rowText, parameters)
  if (rowNumber instanceof Refusal) return rowNumber
  const wish = parseListWish(parameters)
  if (wish instanceof Refusal) return wish

  const reading = parts.reading.read(facts, { mustAskProvider: asksForNow(asked.exchange.request) })
  const sheet = reading instanceof Promise ? await reading : reading
  if (sheet.snapshot.columns.length === 0) return new Refusal('missing_headers')

  if (rowNumber !== undefined) return rowReply(asked, sheet, rowNumber, wish)
  return listReply(
    asked,
    sheet,
    wish,
    pageLinks(asked.address, parameters, sheet.snapshot.rowNumbers.length, wish),
  )
}

/** POST: parse → admit → sheet → respond. The body is read only for those who may write. */
export async function addRows(asked: RowsRequest, parts: ApiParts): Promise<Reply | Refusal> {
  const admitted = await admit(asked, parts, 'write')
  if (admitted instanceof Refusal) return admitted
  const { request } = asked.exchange
  const body = await readBody(request)
  if (body instanceof Refusal) return body
  const rows = parseRows(body, request.headers['content-encoding'])
  if (rows instanceof Refusal) return rows

  const added = await parts.writing.addRows(admitted.sheet, rows)
  if (added instanceof Refusal) return added
  return addedReply(asked, added)
}

/** PUT, PATCH and DELETE: admitted and checked like every write; the change itself is still to come. */
export async function changeRow(
  asked: RowsRequest,
  parts: ApiParts,
  change: 'update' | 'delete',
): Promise<Refusal> {
  const admitted = await admit(asked, parts, 'write')
  if (admitted instanceof Refusal) return admitted
  const rowNumber = parseRowNumber(asked.rowText, admitted.parameters)
  if (rowNumber instanceof Refusal) return rowNumber
  if (rowNumber === undefined) return new Refusal('invalid_row_number')
  if (change === 'delete') return notYet()
  const { request } = asked.exchange
  const body = await readBody(request)
  if (body instanceof Refusal) return body
  const rows = parseRows(body, request.headers['content-encoding'], 'one')
  return rows instanceof Refusal ? rows : notYet()
}

function notYet(): Refusal {
  const details = 'Rows can be added, but not changed or deleted yet.'
  return new Refusal('method_not_allowed', { allowedMethods: readMethods, details })
}

/** The query may carry the key, so it is taken apart first; what is wrong with it is told only to those admitted. */
async function admit({ exchange, address }: RowsRequest, { admission }: ApiParts, intent: 'read' | 'write') {
  const { request, query } = exchange
  const parameters = parseParameters(query)
  const apiKey = presentedKey(
    request.headers,
    parameters instanceof Refusal ? readableParameters(query) : parameters,
  )
  const pass = noted(exchange, await admission.admit({ address, apiKey, intent }))
  if (pass instanceof Refusal) return pass
  return parameters instanceof Refusal ? parameters : { sheet: pass.sheet, parameters }
}

function listReply(asked: RowsRequest, sheet: ReadSheet, wish: ListWish, links: readonly string[]): Reply {
  const { snapshot, asOfMs, source } = sheet
  const etag = etagOf(snapshot.contentHash)
  const total = String(snapshot.rowNumbers.length)
  const headers = [
    'ETag',
    etag,
    'Age',
    String(sheet.ageSeconds),
    'Cache-Status',
    cacheStatus[source],
    'X-Total-Count',
    total,
  ]
  if (links.length > 0) headers.push(...links)
  if (!isNoneMatch(asked.exchange.request.headers['if-none-match'], etag)) return notModified(headers, source)
  const body = listBody(asked.address.form, snapshot, asOfMs, wish)
  return { status: 200, base: readHeaders, headers, body, rowsFrom: source }
}

function rowReply(asked: RowsRequest, sheet: ReadSheet, rowNumber: number, wish: ListWish): Reply | Refusal {
  const { snapshot, asOfMs, source } = sheet
  if (rowNumber > snapshot.lastRowNumber) {
    return new Refusal('row_not_found', { details: `The last row with data is ${snapshot.lastRowNumber}.` })
  }
  const position = positionOf(snapshot, rowNumber)
  const plain = position === null ? snapshot.blankRowJson : rowJson(snapshot, position)
  const etag = rowEtag(rowNumber, plain)
  const headers = ['ETag', etag, 'Age', String(sheet.ageSeconds), 'Cache-Status', cacheStatus[source]]
  if (!isNoneMatch(asked.exchange.request.headers['if-none-match'], etag)) return notModified(headers, source)
  const row = wish.rowNumbers ? withRowNumber(plain, rowNumber) : plain
  const meta = `{"row":${rowNumber},"as_of":"${new Date(asOfMs).toISOString()}"}`
  const body = asked.address.form === 'a' ? row : `{"data":${row},"meta":${meta}}`
  return { status: 200, base: readHeaders, headers, body, rowsFrom: source }
}

function addedReply({ address }: RowsRequest, { rowNumbers, rowsJson }: AddedRows): Reply {
  const rows = `[${rowsJson.map((json, at) => withRowNumber(json, rowNumbers[at] ?? 0)).join(',')}]`
  const count = rowNumbers.length
  const body =
    address.form === 'a'
      ? `{"success":true,"message":"${count} row(s) added","rows_added":${count},"rows":${rows}}`
      : `{"data":${rows},"meta":{"rows_added":${count},"rows":${JSON.stringify(rowNumbers)}}}`
  const location = count === 1 ? ['Location', `${pathOf(address)}/${rowNumbers[0]}`] : []
  return { status: 201, base: writeHeaders, headers: location, body }
}

function notModified(headers: readonly string[], rowsFrom: ReadSheet['source']): Reply {
  return { status: 304, base: notModifiedHeaders, headers, body: null, rowsFrom }
}

/** RFC 9211: where the answer came from; `Age` beside it says how long ago that was. */
const cacheStatus = { hit: 'rowport; hit', miss: 'rowport; fwd=miss', stale: 'rowport; fwd=stale' }

function asksForNow({ headers }: IncomingMessage): boolean {
  const cacheControl = headers['cache-control']
  return (
    cacheControl !== undefined && /(?:^|[\s,])(?:no-cache|no-store|max-age=0)(?:$|[\s,])/i.test(cacheControl)
  )
}
