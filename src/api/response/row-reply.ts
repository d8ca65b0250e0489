import { Refusal } from '../../errors.ts'
import { compressedFromBytes } from '../../http/compression.ts'
import { acceptedCoding } from '../../http/content-coding.ts'
import type { ReadSheet } from '../../sheets/reading/reading.ts'
import { listChunks } from '../../sheets/rows/query/list-chunks.ts'
import { createRowWriter } from '../../sheets/rows/row-json.ts'
import { positionOf, rowBytes, rowJson, type Snapshot } from '../../sheets/rows/snapshot.ts'
import { acceptedFormat, type Format } from '../request/format.ts'
import type { ReadWish } from '../request/read-wish.ts'
import type { ApiParts, RowsRequest } from '../request/rows-request.ts'
import { type CsvShape, csvChunks, csvOfBlankRow } from './csv-rows.ts'
import { rowEtag, variantHeld, variantOf } from './etag.ts'
import { withRowNumber } from './list-body.ts'
import { notModified, originHeaders } from './origin-headers.ts'
import { type Reply, readHeaders } from './reply.ts'

/** What is asked of one row, with every name in it found. */
export interface RowAsked {
  /** Whose sheet it is. */
  accountId: string
  rowNumber: number
  wish: ReadWish
  fields: readonly number[] | null
}

const longRowBytes = 64 * 1024

export async function rowReply(
  { exchange, address }: RowsRequest,
  asked: RowAsked,
  sheet: ReadSheet,
  { compression, turns }: ApiParts,
): Promise<Reply | Refusal> {
  const { snapshot, source } = sheet
  const { accountId, rowNumber, wish } = asked
  if (rowNumber > snapshot.lastRowNumber) {
    return new Refusal('row_not_found', { details: `The last row with data is ${snapshot.lastRowNumber}.` })
  }
  const { headers, method } = exchange.request
  const format = wish.format ?? acceptedFormat(headers.accept)
  const coding = acceptedCoding(headers['accept-encoding'])
  const position = positionOf(snapshot, rowNumber)
  // A long one is made into text, hashed and made into bytes again: some milliseconds for each megabyte.
  if (position !== null && rowBytes(snapshot, position) > longRowBytes) await turns.next(accountId)
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
      : await compression.whole({
          accountId,
          chunks: [Buffer.from(text)],
          coding: wanted,
          isLong: false,
        })
  const used = isHead || compressed ? wanted : null
  const told = originHeaders(variantOf(etag, format, used), sheet)
  if (used !== null) told.push('Content-Encoding', used)
  // What HEAD would be compressed with is told; how long that would be is not known.
  const body = used === null ? text : compressed
  return { status: 200, base: readHeaders[format], headers: told, body, rowsFrom: source }
}

function rowBody(
  form: 'a' | 'b',
  format: Format,
  { rowNumber, wish, fields }: RowAsked,
  { snapshot, asOfMs }: ReadSheet,
  position: number | null,
): string {
  const { rowNumbers, escapeFormulas } = wish
  if (format === 'csv') return csvRow(snapshot, position, rowNumber, { fields, rowNumbers, escapeFormulas })
  const plain = fields ? chosenCells(snapshot, position, fields, wish.values) : wholeRow(snapshot, position)
  const row = rowNumbers ? withRowNumber(plain, rowNumber) : plain
  if (format === 'ndjson') return `${row}\n`
  if (form === 'a') return row
  return `{"data":${row},"meta":{"row":${rowNumber},"as_of":"${new Date(asOfMs).toISOString()}"}}`
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
  const chunks = listChunks(snapshot, Uint32Array.of(position), { fields, rowNumbers: false, wrap: 'lines' })
  return Buffer.concat([...chunks])
    .toString()
    .trimEnd()
}
