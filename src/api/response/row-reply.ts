import { Refusal } from '../../errors.ts'
import { compressedFromBytes } from '../../http/compression.ts'
import { acceptedCoding } from '../../http/content-coding.ts'
import type { Taker } from '../../shares/taker.ts'
import type { KeptBodies } from '../../sheets/reading/held-snapshots.ts'
import type { ReadSheet } from '../../sheets/reading/reading.ts'
import { listChunks } from '../../sheets/rows/query/list-chunks.ts'
import { longTextBytes } from '../../sheets/rows/query/row-cells.ts'
import { createRowWriter } from '../../sheets/rows/row-json.ts'
import { positionOf, rowBytes, rowJson, type Snapshot } from '../../sheets/rows/snapshot.ts'
import { warningOfRow } from '../../sheets/rows/stale-results.ts'
import { acceptedFormat, type Format } from '../request/format.ts'
import type { ReadWish } from '../request/read-wish.ts'
import type { ApiParts, RowsRequest } from '../request/rows-request.ts'
import { type CsvShape, csvChunks, csvOfBlankRow, fileName } from './csv-rows.ts'
import { longRowEtag, rowEtag, variantHeld, variantOf } from './etag.ts'
import { withRowNumber } from './list-body.ts'
import { reportLateFailure } from './list-reply.ts'
import { notModified, originHeaders } from './origin-headers.ts'
import { type Reply, readHeaders } from './reply.ts'
import { sendableBody } from './sendable-body.ts'
import { staleKeysOf, staleMember, warningHeader, warningMember } from './warnings.ts'

/** What is asked of one row, with every name in it found. */
export interface RowAsked {
  /** Whose sheet it is. */
  taker: Taker
  rowNumber: number
  wish: ReadWish
  fields: readonly number[] | null
  keyWarning: string | null
}

export async function rowReply(
  { exchange, address }: RowsRequest,
  asked: RowAsked,
  sheet: ReadSheet,
  parts: ApiParts,
): Promise<Reply | Refusal> {
  const { snapshot, source } = sheet
  const { taker, rowNumber, wish } = asked
  if (rowNumber > snapshot.lastRowNumber) {
    if (snapshot.leavesRowsOut) return new Refusal('row_not_found')
    return new Refusal('row_not_found', { details: `The last row with data is ${snapshot.lastRowNumber}.` })
  }
  const { headers, method } = exchange.request
  const format = wish.format ?? acceptedFormat(headers.accept)
  const coding = acceptedCoding(headers['accept-encoding'])
  const position = positionOf(snapshot, rowNumber)
  if (position === null && snapshot.leavesRowsOut) return new Refusal('row_not_found')
  if (position !== null && rowBytes(snapshot, position) > longTextBytes) {
    return longRowReply({ exchange, address, rowText: null }, asked, sheet, parts, position)
  }
  // The whole row's, whatever is shown of it: what `If-Match` will be held against.
  const etag = rowEtag(rowNumber, position === null ? snapshot.blankRowJson : rowJson(snapshot, position))
  const held = variantHeld(headers['if-none-match'], etag, format, coding)
  if (held !== null) return notModified(held, sheet)

  const text = rowBody(address.form, format, asked, sheet, position)
  const isHead = method === 'HEAD'
  const wanted = text.length < compressedFromBytes ? null : coding
  const compressed =
    wanted === null || isHead
      ? null
      : await parts.compression.whole({
          taker,
          chunks: [Buffer.from(text)],
          coding: wanted,
          isLong: false,
        })
  const used = isHead || compressed ? wanted : null
  const told = originHeaders(variantOf(etag, format, used), sheet)
  told.push(...warningHeader(warningOfRow(staleKeysOf(snapshot.stale, rowNumber)), asked.keyWarning))
  if (used !== null) told.push('Content-Encoding', used)
  if (format === 'csv') told.push(...fileName(address))
  // What HEAD would be compressed with is told; how long that would be is not known.
  const body = used === null ? text : compressed
  return { status: 200, base: readHeaders[format], headers: told, body, rowsFrom: source }
}

/** The reply with a row that may have megabytes: its text goes through in pieces, as a long list does. */
async function longRowReply(
  { exchange, address }: RowsRequest,
  { taker, rowNumber, wish, fields, keyWarning }: RowAsked,
  sheet: ReadSheet,
  parts: ApiParts,
  position: number,
): Promise<Reply> {
  const { snapshot, source } = sheet
  const { headers, method } = exchange.request
  const format = wish.format ?? acceptedFormat(headers.accept)
  const coding = acceptedCoding(headers['accept-encoding'])
  const wholeRow = rowPieces(snapshot, position, null, false, 'bare')
  const etag = await longRowEtag(rowNumber, wholeRow, () => parts.turns.next(taker))
  const held = variantHeld(headers['if-none-match'], etag, format, coding)
  if (held !== null) return notModified(held, sheet)
  const { rowNumbers, escapeFormulas, bom } = wish
  const made = await sendableBody(
    {
      name: 'row',
      isWhole: false,
      chunks,
      sources: [snapshot.listJson],
      coding,
      bodies: notKept(),
      isHead: method === 'HEAD',
      taker,
      onFailure: (error) => reportLateFailure(parts, error),
    },
    parts,
  )
  const told = originHeaders(variantOf(etag, format, made.coding), sheet)
  told.push(...warningHeader(warningOfRow(staleKeysOf(snapshot.stale, rowNumber)), keyWarning))
  if (made.coding !== null) told.push('Content-Encoding', made.coding)
  if (format === 'csv') told.push(...fileName(address))
  return { status: 200, base: readHeaders[format], headers: told, body: made.body, rowsFrom: source }

  function* chunks(): Generator<Uint8Array> {
    if (format === 'csv') {
      const shape = { fields, rowNumbers, escapeFormulas, bom }
      return yield* csvChunks(snapshot, { from: position, count: 1, positions: null }, shape)
    }
    const isWrapped = format === 'json' && address.form === 'b'
    if (isWrapped) yield Buffer.from('{"data":')
    yield* rowPieces(snapshot, position, fields, rowNumbers, format === 'ndjson' ? 'lines' : 'bare')
    if (isWrapped) yield Buffer.from(metaOf(rowNumber, sheet, keyWarning))
  }
}

function rowPieces(
  snapshot: Snapshot,
  position: number,
  fields: readonly number[] | null,
  rowNumbers: boolean,
  wrap: 'lines' | 'bare',
): Generator<Uint8Array> {
  return listChunks(snapshot, Uint32Array.of(position), { fields, rowNumbers, wrap })
}

/** One row is not worth a place in memory. */
function notKept(): KeptBodies {
  return { bytes: 0, get: () => undefined, keep() {} }
}

function metaOf(rowNumber: number, { snapshot, asOfMs }: ReadSheet, keyWarning: string | null): string {
  const keys = staleKeysOf(snapshot.stale, rowNumber)
  const stale = staleMember(keys.map((key) => ({ key, rowNumbers: [rowNumber] })))
  const more = stale + warningMember(warningOfRow(keys), keyWarning)
  return `,"meta":{"row":${rowNumber},"as_of":"${new Date(asOfMs).toISOString()}"${more}}}`
}

function rowBody(
  form: 'a' | 'b',
  format: Format,
  { rowNumber, wish, fields, keyWarning }: RowAsked,
  sheet: ReadSheet,
  position: number | null,
): string {
  const { snapshot } = sheet
  const { rowNumbers, escapeFormulas, bom } = wish
  if (format === 'csv')
    return csvRow(snapshot, position, rowNumber, { fields, rowNumbers, escapeFormulas, bom })
  const plain = fields ? chosenCells(snapshot, position, fields, wish.values) : wholeRow(snapshot, position)
  const row = rowNumbers ? withRowNumber(plain, rowNumber) : plain
  if (format === 'ndjson') return `${row}\n`
  if (form === 'a') return row
  return `{"data":${row}${metaOf(rowNumber, sheet, keyWarning)}`
}

function csvRow(snapshot: Snapshot, position: number | null, rowNumber: number, shape: CsvShape): string {
  if (position === null) return csvOfBlankRow(snapshot, rowNumber, shape)
  return Buffer.concat([
    ...csvChunks(snapshot, { from: position, count: 1, positions: null }, shape),
  ]).toString()
}

function wholeRow(snapshot: Snapshot, position: number | null): string {
  return position === null ? snapshot.blankRowJson : rowJson(snapshot, position)
}

function chosenCells(
  snapshot: Snapshot,
  position: number | null,
  fields: readonly number[],
  values: ReadWish['values'],
): string {
  if (position === null) {
    const columns = fields.flatMap((at) => snapshot.columns[at] ?? [])
    return createRowWriter(columns, values === 'formatted' ? '' : null)([])
  }
  return Buffer.concat([...rowPieces(snapshot, position, fields, false, 'bare')]).toString()
}
