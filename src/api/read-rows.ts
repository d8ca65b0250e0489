import type { IncomingMessage } from 'node:http'
import type { Pass } from '../admission/judge.ts'
import { cursorText } from '../changes/cursor.ts'
import { Refusal } from '../errors.ts'
import { watchCaller } from '../http/asking-inside.ts'
import type { Taker } from '../shares/taker.ts'
import type { ReadSheet } from '../sheets/reading/reading.ts'
import { findNamedRow } from '../sheets/rows/find/named-row.ts'
import { type Column, positionOfColumn } from '../sheets/rows/table.ts'
import type { Logged } from '../sheets/sheet-log.ts'
import { type Soon, then } from '../soon.ts'
import { columnNamed } from './request/column-finder.ts'
import { resolveWish, wholeListQuery } from './request/list-query.ts'
import { parseRowNumber } from './request/query.ts'
import { parseReadWish, type ReadWish, wholeList } from './request/read-wish.ts'
import type { NamedInPath } from './request/routes.ts'
import { type AdmittedCall, type ApiParts, admitRows, type RowsRequest } from './request/rows-request.ts'
import { warningOfKeys } from './response/key-warning.ts'
import { type ListReader, listReply } from './response/list-reply.ts'
import { forEveryone, type Reply } from './response/reply.ts'
import { rowReply } from './response/row-reply.ts'

/** GET and HEAD: parse → admit → sheet → respond. */
export async function readRows(asked: RowsRequest, parts: ApiParts): Promise<Reply | Refusal> {
  const pass = await admitRows(asked, parts, { intent: 'read', pageRight: 'read' })
  if (pass instanceof Refusal) return pass
  const { sheet: facts, parameters, taker, view } = pass
  const rowNumber = parseRowNumber(asked, parameters)
  if (rowNumber instanceof Refusal) return rowNumber
  const { named } = asked
  const asListed = parseReadWish(parameters, rowNumber === undefined && !named ? 'list' : 'row')
  if (asListed instanceof Refusal) return asListed
  const wish = boundReadWish(asListed, pass)
  if (facts.needsReconnect) return new Refusal('token_expired')

  // Whoever sees a page may not spend what its owner is allowed at the provider.
  const mustAskProvider = view === 'everything' && asksForNow(asked.exchange.request)
  const reading = parts.reading.read(facts, view, { values: wish.values, mustAskProvider, taker })
  const read = reading instanceof Promise ? await inTurn(reading, taker, parts) : reading
  if (read instanceof Refusal) return read
  const isList = !named && rowNumber === undefined
  const { sheet, place } =
    isList && read.logged instanceof Promise
      ? await placeInLog(read, () => parts.reading.readAgain(facts, taker))
      : { sheet: read, place: isList ? (read.logged as Logged | null) : null }
  const cursor = place && cursorText(place)
  const { columns } = sheet.snapshot
  if (columns.length === 0) return new Refusal('missing_headers')
  // A name that is none is compared with all others, and what is refused comes to no turn after this one.
  const due = named || namesColumns(wish) ? parts.turns.next(taker) : undefined
  if (due) await due
  const listQuery = wish === wholeList ? wholeListQuery : resolveWish(wish, columns)
  if (listQuery instanceof Refusal) return listQuery

  const { fields } = listQuery
  const warned = warningOfKeys(shownKeyColumn(pass, columns), sheet, wish.values, taker, parts.querying)
  const keyWarning = warned instanceof Promise ? await warned : warned
  const found = named ? rowNamed(named, sheet, taker, parts) : rowNumber
  const reply = then(
    found,
    (row): Soon<Reply | Refusal> =>
      row === undefined
        ? listReply(
            readerOf(asked, parts),
            { taker, wish, listQuery, parameters, keyWarning, cursor },
            sheet,
            parts,
          )
        : row instanceof Refusal
          ? row
          : rowReply(asked, { taker, rowNumber: row, wish, fields, keyWarning }, sheet, parts),
  )
  return pass.key === null ? then(reply, (made) => forPublicReader(made, facts)) : reply
}

function namesColumns({ filters, sort, fields, sums }: ReadWish): boolean {
  return filters.length + sort.length + fields.length > 0 || sums !== null
}

/** Looks that are overtaken by writes, one after the other. */
const mostLooksForPlace = 2

/**
 * Rows that were read in the moment of a write may have no place in the log. Who reads them could not follow them, so they are
 * read again; after some of that they are shown without one.
 */
async function placeInLog(
  first: ReadSheet,
  readAgain: () => Promise<ReadSheet | null>,
): Promise<{ sheet: ReadSheet; place: Logged | null }> {
  for (let [sheet, looks] = [first, 1]; ; looks++) {
    const place = sheet.promised ?? (await sheet.logged)
    const next = place || looks === mostLooksForPlace ? null : await readAgain()
    if (!next) return { sheet, place }
    sheet = next
  }
}

/** A publishable key has a most of rows in one answer, also where nobody asked for a limit. */
function boundReadWish(wish: ReadWish, { key }: Pass): ReadWish {
  if (!key?.policy) return wish
  const { maxRows } = key.policy
  return { ...wish, limit: Math.min(wish.limit ?? maxRows, maxRows) }
}

/** A column that is not in the view is not spoken of: also not that it is gone. */
function shownKeyColumn(
  { sheet: { keyColumn }, view }: AdmittedCall,
  columns: readonly Column[],
): string | null {
  if (view === 'everything' || keyColumn === null) return keyColumn
  return positionOfColumn(columns, keyColumn) === null ? null : keyColumn
}

/** The number of the row that has this value. */
function rowNamed(
  { column: name, value }: NamedInPath,
  { snapshot, indexed }: ReadSheet,
  taker: Taker,
  { querying }: ApiParts,
): Soon<number | Refusal> {
  const column = columnNamed(name, 'by')(snapshot.columns)
  if (column instanceof Refusal) return column
  return then(indexed, (ready) => querying.runSteps(taker, 0, () => findNamedRow(ready, column, value)))
}

/** Any number may have waited for one fetch, and each would be answered before anyone else is looked at. */
async function inTurn(
  reading: Promise<ReadSheet | Refusal>,
  taker: Taker,
  { turns }: ApiParts,
): Promise<ReadSheet | Refusal> {
  const sheet = await reading
  await turns.next(taker)
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
    watch: () => watchCaller(request),
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
