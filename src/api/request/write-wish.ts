import { Refusal } from '../../errors.ts'
import type { RowsChoice, RowTarget, Wish } from '../../sheets/writing/order.ts'
import type { Soon } from '../../soon.ts'
import { parseIfMatch, parseSheetIfMatch } from '../response/etag.ts'
import { parseRows, readBody } from './body.ts'
import { columnNamed } from './column-finder.ts'
import { parseForm } from './form-body.ts'
import { resolveFilters } from './list-query.ts'
import { type Parameters, parseRowNumber } from './query.ts'
import type { RowsRequest } from './rows-request.ts'
import {
  parametersOfWrites,
  parseWriteParameters,
  type WriteKind,
  type WriteParameters,
} from './write-parameters.ts'

export interface AskedWish {
  wish: Wish
  /** How long the body is. */
  bytes: number
  /** Its values are texts still. */
  isForm: boolean
  isDryRun: boolean
}

/** Row and parameters, then body (docs/contract.md#order-of-checks); `known` is the body where it had to be read before. */
export async function parseWish(
  asked: RowsRequest,
  parameters: Parameters,
  kind: WriteKind,
  known: Buffer | Refusal | null,
  turn: () => Soon<void>,
): Promise<AskedWish | Refusal> {
  const { request } = asked.exchange
  if (asked.undoneId !== undefined) return undoWish(asked, asked.undoneId, parameters, known, turn)
  const rowNumber = parseRowNumber(asked, parameters)
  if (kind === 'add' && rowNumber !== undefined)
    return new Refusal('invalid_row_number', { details: addsAtEnd })
  if (rowNumber instanceof Refusal) return rowNumber
  const target = targetOf(asked, rowNumber)
  const wanted = parseWriteParameters(parameters, kind, target !== null)
  if (wanted instanceof Refusal) return wanted
  if (kind !== 'add' && target === null) {
    const problem = problemWithMany(request.method, wanted)
    if (problem) return problem
  }

  const body = known ?? (kind === 'delete' ? noBody : await readBody(request, turn))
  if (body instanceof Refusal) return body
  const sent = { bytes: body.byteLength, isDryRun: wanted.isDryRun }
  const ifMatch = request.headers['if-match']
  const isRowAsExpected = parseIfMatch(ifMatch)
  const isSheetAsExpected = parseSheetIfMatch(ifMatch)
  if (kind === 'delete') {
    const wish: Wish = target
      ? { kind, ...target, isRowAsExpected }
      : { kind: 'delete_many', choice: choiceOf(wanted), isSheetAsExpected }
    return { wish, ...sent, isForm: false }
  }

  await turn()
  const { 'content-type': contentType, 'content-encoding': contentEncoding } = request.headers
  const form = await parseForm(body, contentType, undefined, turn)
  if (form instanceof Refusal) return form
  const isForm = form !== null
  const rows = isForm ? [form] : await parseRows(body, contentEncoding, kind === 'add' ? 'any' : 'one', turn)
  if (rows instanceof Refusal) return rows
  const [row = []] = rows
  if (kind === 'update') {
    const wish: Wish = target
      ? { kind, ...target, row, isRowAsExpected }
      : { kind: 'update_many', choice: choiceOf(wanted), row, isSheetAsExpected }
    return { wish, ...sent, isForm }
  }
  const { upsert, onMatch } = wanted
  if (upsert === null) return { wish: { kind: 'add', rows }, ...sent, isForm }
  const columnIn = columnNamed(upsert, 'upsert')
  return { wish: { kind: 'upsert', columnIn, rows, onMatch, isSheetAsExpected }, ...sent, isForm }
}

/** It has no body, as some clients send with every POST an empty object. What it must find, the write that it takes back says. */
async function undoWish(
  { exchange: { request } }: RowsRequest,
  undoneId: string,
  parameters: Parameters,
  known: Buffer | Refusal | null,
  turn: () => Soon<void>,
): Promise<AskedWish | Refusal> {
  const wanted = parseWriteParameters(parameters, 'undo', true)
  if (wanted instanceof Refusal) return wanted
  const body = known ?? (await readBody(request, turn))
  if (body instanceof Refusal) return body
  if (body.byteLength > 0 && !/^\s*(?:\{\s*\})?\s*$/.test(body.toString('latin1', 0, 100)))
    return new Refusal('invalid_body', { details: 'An undo has no body: the path says what is undone.' })
  if (request.headers['if-match'] !== undefined)
    return new Refusal('bad_request', {
      details: 'An undo takes no If-Match: it is done only if every row still is what the write left.',
    })
  return { wish: { kind: 'undo', undoneId }, bytes: 0, isForm: false, isDryRun: wanted.isDryRun }
}

const addsAtEnd = 'POST adds rows after the last one. Leave out "row"; to change a row, use PUT.'
const noBody = Buffer.alloc(0)

/** null where no single row is named. */
function targetOf({ named }: RowsRequest, rowNumber: number | undefined): RowTarget | null {
  if (named) return { named: { columnIn: columnNamed(named.column, 'by'), value: named.value } }
  return rowNumber === undefined ? null : { rowNumber }
}

/** Nobody changes all rows by leaving something out. */
function problemWithMany(
  method: string | undefined,
  { filters, search, isAll }: WriteParameters,
): Refusal | null {
  const isChosen = isAll || filters.length > 0 || search !== null
  if (isChosen && method !== 'PUT') return null
  const details = isChosen ? 'PUT changes one row; PATCH changes all that filters leave.' : undefined
  return new Refusal('invalid_row_number', details === undefined ? {} : { details })
}

function choiceOf({ filters, search, maxRows }: WriteParameters): RowsChoice {
  return {
    maxRows,
    queryOn(columns) {
      const found = resolveFilters(filters, columns, parametersOfWrites.many)
      return found instanceof Refusal ? found : { filters: found, search }
    },
  }
}
