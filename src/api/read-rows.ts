import type { IncomingMessage } from 'node:http'
import type { Pass } from '../admission/judge.ts'
import { Refusal } from '../errors.ts'
import type { ReadSheet } from '../sheets/reading/reading.ts'
import { findNamedRow } from '../sheets/rows/find/named-row.ts'
import { type Soon, then } from '../soon.ts'
import { columnNamed } from './request/column-finder.ts'
import { resolveWish, wholeListQuery } from './request/list-query.ts'
import { parseRowNumber } from './request/query.ts'
import { parseReadWish, wholeList } from './request/read-wish.ts'
import type { NamedInPath } from './request/routes.ts'
import { type ApiParts, admitRows, type RowsRequest } from './request/rows-request.ts'
import { warningOfKeys } from './response/key-warning.ts'
import { type ListReader, listReply } from './response/list-reply.ts'
import { forEveryone, type Reply } from './response/reply.ts'
import { rowReply } from './response/row-reply.ts'

/** GET and HEAD: parse → admit → sheet → respond. */
export async function readRows(asked: RowsRequest, parts: ApiParts): Promise<Reply | Refusal> {
  const pass = await admitRows(asked, parts, 'read')
  if (pass instanceof Refusal) return pass
  const { sheet: facts, parameters, account } = pass
  const rowNumber = parseRowNumber(asked, parameters)
  if (rowNumber instanceof Refusal) return rowNumber
  const { named } = asked
  const wish = parseReadWish(parameters, rowNumber === undefined && !named ? 'list' : 'row')
  if (wish instanceof Refusal) return wish
  if (facts.needsReconnect) return new Refusal('token_expired')

  const mustAskProvider = asksForNow(asked.exchange.request)
  const reading = parts.reading.read(facts, { values: wish.values, mustAskProvider })
  const sheet = reading instanceof Promise ? await inTurn(reading, account.id, parts) : reading
  const { columns } = sheet.snapshot
  if (columns.length === 0) return new Refusal('missing_headers')
  const listQuery = wish === wholeList ? wholeListQuery : resolveWish(wish, columns)
  if (listQuery instanceof Refusal) return listQuery

  const accountId = account.id
  const { fields } = listQuery
  const warned = warningOfKeys(facts.keyColumn, sheet, wish.values, accountId, parts.querying)
  const keyWarning = warned instanceof Promise ? await warned : warned
  const found = named ? rowNamed(named, sheet, accountId, parts) : rowNumber
  const reply = then(
    found,
    (row): Soon<Reply | Refusal> =>
      row === undefined
        ? listReply(
            readerOf(asked, parts),
            { accountId, wish, listQuery, parameters, keyWarning },
            sheet,
            parts,
          )
        : row instanceof Refusal
          ? row
          : rowReply(asked, { accountId, rowNumber: row, wish, fields, keyWarning }, sheet, parts),
  )
  return pass.key === null ? then(reply, (made) => forPublicReader(made, facts)) : reply
}

/** The number of the row that has this value. */
function rowNamed(
  { column: name, value }: NamedInPath,
  { snapshot, indexed }: ReadSheet,
  accountId: string,
  { querying }: ApiParts,
): Soon<number | Refusal> {
  const column = columnNamed(name, 'by')(snapshot.columns)
  if (column instanceof Refusal) return column
  return then(indexed, (ready) => querying.runSteps(accountId, 0, () => findNamedRow(ready, column, value)))
}

/** Any number may have waited for one fetch, and each would be answered before anyone else is looked at. */
async function inTurn(
  reading: Promise<ReadSheet>,
  accountId: string,
  { turns }: ApiParts,
): Promise<ReadSheet> {
  const sheet = await reading
  await turns.next(accountId)
  return sheet
}

function readerOf({ exchange: { request }, address }: RowsRequest, { ownAddress }: ApiParts): ListReader {
  const { headers, method } = request
  return {
    address,
    baseUrl: ownAddress(request),
    isHead: method === 'HEAD',
    accept: headers.accept,
    acceptEncoding: headers['accept-encoding'],
    ifNoneMatch: headers['if-none-match'],
  }
}

export function forPublicReader(reply: Reply | Refusal, { cacheSeconds }: Pass['sheet']): Reply | Refusal {
  return reply instanceof Refusal ? reply : forEveryone(reply, cacheSeconds)
}

/** RFC 9111, 5.2.1: the client wants the spreadsheet as it is now. */
export function asksForNow({ headers }: IncomingMessage): boolean {
  const cacheControl = headers['cache-control']
  return (
    cacheControl !== undefined && /(?:^|[\s,])(?:no-cache|no-store|max-age=0)(?:$|[\s,])/i.test(cacheControl)
  )
}
