import type { SheetAddress } from '../../admission/judge.ts'
import { GoneMeanwhile, Refusal } from '../../errors.ts'
import { acceptedCoding } from '../../http/content-coding.ts'
import { randomBase62 } from '../../secrets/random-base62.ts'
import type { Taker } from '../../shares/taker.ts'
import type { ReadSheet } from '../../sheets/reading/reading.ts'
import type { WatchAsker } from '../../sheets/rows/query/querying.ts'
import { rowBytes, type Snapshot } from '../../sheets/rows/snapshot.ts'
import { warningOfSheet } from '../../sheets/rows/stale-results.ts'
import { runSums } from '../../sheets/rows/sums/run-sums.ts'
import { maxSumsBytes, type TooLong } from '../../sheets/rows/sums/sums-bytes.ts'
import { type Soon, then } from '../../soon.ts'
import { acceptedFormat } from '../request/format.ts'
import type { ListQuery } from '../request/list-query.ts'
import type { Parameters } from '../request/query.ts'
import type { ReadWish } from '../request/read-wish.ts'
import { positionAt, type RowChoice, stretch } from '../request/row-choice.ts'
import type { ApiParts } from '../request/rows-request.ts'
import { fileName } from './csv-rows.ts'
import { etagOf, variantHeld, variantOf } from './etag.ts'
import { type ListShape, listBody, listInPlace } from './list-body.ts'
import { notModified, originHeaders } from './origin-headers.ts'
import { linkHeader, neighbourPages } from './page-links.ts'
import { type Reply, readHeaders } from './reply.ts'
import { sendableBody } from './sendable-body.ts'
import { warningHeader } from './warnings.ts'

/** Whom the answer is for, as far as it makes a difference to it. */
export interface ListReader {
  address: SheetAddress
  /** Where they reach this server. */
  baseUrl: string
  isHead: boolean
  accept: string | undefined
  acceptEncoding: string | undefined
  ifNoneMatch: string | undefined
  /** Without it nobody leaves. */
  watch?: WatchAsker
}

/** What is asked of a list, with every name in it found. */
export interface ListAsked {
  /** Whose share it takes. */
  taker: Taker
  wish: ReadWish
  listQuery: ListQuery
  parameters: Parameters
  /** Whole rows that are longer together are refused. Without it there is no limit. */
  maxRowsBytes?: number
  keyWarning: string | null
  /** The place in the log of changes that has exactly the sheet's rows; null where there is none. */
  cursor?: string | null
}

export function listReply(
  { address, baseUrl, isHead, accept, acceptEncoding, ifNoneMatch, watch }: ListReader,
  { taker, wish, listQuery, parameters, maxRowsBytes, keyWarning, cursor = null }: ListAsked,
  sheet: ReadSheet,
  parts: ApiParts,
): Soon<Reply | Refusal> {
  const { snapshot, source } = sheet
  const format = wish.format ?? acceptedFormat(accept)
  const coding = acceptedCoding(acceptEncoding)
  const etag = etagOf(snapshot.contentHash)
  const held = variantHeld(ifNoneMatch, etag, format, coding)
  // The rows of the sheet decide that, so the query need not even be run.
  if (held !== null) {
    const same = notModified(held, sheet)
    return { ...same, headers: [...same.headers, ...cursorHeader(cursor)] }
  }
  const { fields, query, sums } = listQuery
  const { rowNumbers, escapeFormulas, bom } = wish
  const shape: ListShape = { form: address.form, format, fields, rowNumbers, escapeFormulas, bom }

  return then(pageOf(sheet, listQuery, taker, watch, parts), (found) => {
    if (found === 'too long') return tooManyFigures
    const { of, rows, total, ignored } = found
    if (maxRowsBytes !== undefined && fields === null && bytesOf(of, rows) > maxRowsBytes) return tooLong
    const pages = neighbourPages(baseUrl, address, parameters, total, query)
    const { limit, offset } = query
    const page = { total, limit, offset, next: pages.next, asOfMs: sheet.asOfMs, cursor }
    const warnings = [warningOfSheet(snapshot.stale), keyWarning]
    const facts = { ...page, warnings, ...(ignored && { ignored }) }
    const isWhole = !sums && rows.positions === null && rows.count === total && fields === null
    const body = sendableBody(
      {
        name: nameOf(shape, isWhole ? null : listQuery, [pages.next, keyWarning, cursor]),
        isWhole,
        chunks: listInPlace(of, rows, shape) ?? (() => listBody(of, rows, shape, facts)),
        sources: rows.positions ? [of.listJson, rows.positions] : [of.listJson],
        coding,
        bodies: sheet.bodies,
        isHead,
        taker,
        onFailure: (error) => reportLateFailure(parts, error),
      },
      parts,
    )
    return then(body, (made) => {
      const told = originHeaders(variantOf(etag, format, made.coding), sheet)
      told.push('X-Total-Count', String(total), ...cursorHeader(cursor))
      if (ignored && ignored.size > 0) told.push('X-Ignored-Cells', ignoredCells(ignored))
      if (limit !== null) told.push(...linkHeader(pages))
      if (format === 'csv') told.push(...fileName(address))
      if (made.coding !== null) told.push('Content-Encoding', made.coding)
      told.push(...warningHeader(...warnings))
      return { status: 200, base: readHeaders[format], headers: told, body: made.body, rowsFrom: source }
    })
  })
}

function cursorHeader(cursor: string | null): string[] {
  return cursor === null ? [] : ['X-Change-Cursor', cursor]
}

/** What a list is made of: rows of the sheet, or figures about them. */
interface Page {
  of: Snapshot
  rows: RowChoice
  total: number
  /** The cells that figures left out, by the name of their column. */
  ignored?: ReadonlyMap<string, number>
}

function pageOf(
  { snapshot, indexed }: ReadSheet,
  { query, sums }: ListQuery,
  taker: Taker,
  watch: WatchAsker | undefined,
  { querying }: ApiParts,
): Soon<Page | TooLong> {
  const { filters, search, sort, limit, offset } = query
  if (sums) {
    return then(
      then(indexed, (ready) => runSums(querying, taker, ready, { ...query, sums }, watch)),
      (outcome) => {
        if (outcome === 'too long') return outcome
        const { made, total, ignored } = outcome
        return { of: made, rows: stretch(made, 0, null), total, ignored }
      },
    )
  }
  if (filters.length === 0 && search === null && sort.length === 0) {
    return {
      of: snapshot,
      rows: stretch(snapshot, offset, limit),
      total: snapshot.rowNumbers.length,
    }
  }
  const ran = then(indexed, (ready) => querying.run(taker, ready, query, watch))
  return then(ran, ({ positions, total }) => ({
    of: snapshot,
    rows: { from: 0, count: positions.length, positions },
    total,
  }))
}

/** A header has no room for every letter, so names are as in an address. */
function ignoredCells(ignored: ReadonlyMap<string, number>): string {
  return [...ignored].map(([name, cells]) => `${encodeURIComponent(name)}=${cells}`).join(', ')
}

function bytesOf(snapshot: Snapshot, rows: RowChoice): number {
  let bytes = 0
  for (let n = 0; n < rows.count; n++) bytes += rowBytes(snapshot, positionAt(rows, n))
  return bytes
}

const tooLong = new Refusal('invalid_query', {
  details: 'These rows are too long to be shown together. Ask for fewer, or read them through the API.',
})

const tooManyFigures = new Refusal('invalid_query', {
  details: `Sums may be ${maxSumsBytes / 2 ** 20} MiB of JSON; these are more. Group by less, ask for fewer figures, or in pages with "limit" and "offset".`,
})

/** Both forms are the same but in JSON. */
function nameOf(
  { form, format, rowNumbers, escapeFormulas, bom }: ListShape,
  listQuery: ListQuery | null,
  inMeta: readonly (string | null)[],
): string {
  const numbers = rowNumbers ? ' numbered' : ''
  const escaped = format === 'csv' ? `${escapeFormulas ? ' escaped' : ''}${bom ? ' bom' : ''}` : ''
  const isTold = form === 'b' && format === 'json' && inMeta.some((one) => one !== null)
  const told = isTold ? ` ${JSON.stringify(inMeta)}` : ''
  return `${format === 'json' ? form : format}${numbers}${escaped}${listQuery ? ` ${JSON.stringify(listQuery)}` : ''}${told}`
}

/** The answer has begun by then, so the door hears nothing of it. What was forgotten while it was told is found out by whoever asks again. */
export function reportLateFailure(
  { observe }: Pick<ApiParts, 'observe'>,
  error: unknown,
  operation: 'list_rows' | 'list_changes' = 'list_rows',
): void {
  if (error instanceof GoneMeanwhile) return
  observe({ event: 'malfunction', reference: randomBase62(12), operation, error })
}
