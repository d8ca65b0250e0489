import { Refusal } from '../../errors.ts'
import type { Wish } from '../../sheets/writing/order.ts'
import type { Soon } from '../../soon.ts'
import { parseIfMatch } from '../response/etag.ts'
import { parseRows, readBody } from './body.ts'
import { parseForm } from './form-body.ts'
import { type Parameters, parseRowNumber } from './query.ts'
import type { RowsRequest } from './rows-request.ts'

/** POST · PUT and PATCH · DELETE. */
export type WriteKind = Wish['kind']

export interface AskedWish {
  wish: Wish
  /** How long the body is. */
  bytes: number
  /** Its values are texts still. */
  isForm: boolean
}

/** Row number, then body (docs/contract.md#order-of-checks); `known` is the body where it had to be read before. */
export async function parseWish(
  { exchange: { request }, rowText }: RowsRequest,
  parameters: Parameters,
  kind: WriteKind,
  known: Buffer | Refusal | null,
  turn: () => Soon<void>,
): Promise<AskedWish | Refusal> {
  const rowNumber = parseRowNumber(rowText, parameters)
  if (kind === 'add' && rowNumber !== undefined)
    return new Refusal('invalid_row_number', { details: addsAtEnd })
  if (rowNumber instanceof Refusal) return rowNumber
  if (kind !== 'add' && rowNumber === undefined) return new Refusal('invalid_row_number')

  const body = known ?? (kind === 'delete' ? noBody : await readBody(request))
  if (body instanceof Refusal) return body
  const bytes = body.byteLength
  const isRowAsExpected = parseIfMatch(request.headers['if-match'])
  if (kind === 'delete')
    return { wish: { kind, rowNumber: rowNumber ?? 0, isRowAsExpected }, bytes, isForm: false }

  await turn()
  const { 'content-type': contentType, 'content-encoding': contentEncoding } = request.headers
  const form = parseForm(body, contentType)
  if (form instanceof Refusal) return form
  const isForm = form !== null
  const rows = isForm ? [form] : await parseRows(body, contentEncoding, kind === 'add' ? 'any' : 'one', turn)
  if (rows instanceof Refusal) return rows
  if (kind === 'add') return { wish: { kind, rows }, bytes, isForm }
  const [row = []] = rows
  return { wish: { kind, rowNumber: rowNumber ?? 0, row, isRowAsExpected }, bytes, isForm }
}

const addsAtEnd = 'POST adds rows after the last one. Leave out "row"; to change a row, use PUT.'
const noBody = Buffer.alloc(0)
