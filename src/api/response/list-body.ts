import { listChunks } from '../../sheets/rows/query/list-chunks.ts'
import type { Snapshot } from '../../sheets/rows/snapshot.ts'
import { isStaleIn, type StaleColumn } from '../../sheets/rows/stale-results.ts'
import { rowNumberKey } from '../../sheets/rows/table.ts'
import type { Format } from '../request/format.ts'
import { positionAt, positionsOf, type RowChoice } from '../request/row-choice.ts'
import { csvChunks } from './csv-rows.ts'
import { warningMember } from './warnings.ts'

/** How a list is written. */
export interface ListShape {
  form: 'a' | 'b'
  format: Format
  /** null: all columns, in the order of the sheet. */
  fields: readonly number[] | null
  rowNumbers: boolean
  /** For CSV only. */
  escapeFormulas: boolean
  bom: boolean
}

/** What Form B tells beside the rows. */
export interface ListFacts {
  total: number
  limit: number | null
  offset: number
  /** The address of the next page; null on the last. */
  next: string | null
  asOfMs: number
  /** The place in the log of changes that has exactly these rows; null where there is none. */
  cursor?: string | null
  /** The cells that figures left out, by the name of their column. Rows of figures have no numbers. */
  ignored?: ReadonlyMap<string, number>
  /** null for one that there is no reason for. */
  warnings?: readonly (string | null)[]
}

/**
 * The body of a list, bit by bit: Form A the bare array, Form B the same inside `data` with `meta`
 * (docs/contract.md#two-forms). Other formats have no room for `meta`, and are the same in both forms.
 */
export function* listBody(
  snapshot: Snapshot,
  rows: RowChoice,
  shape: ListShape,
  facts: ListFacts,
): Generator<Uint8Array> {
  if (shape.format === 'csv') yield* csvChunks(snapshot, rows, shape)
  else if (shape.format === 'ndjson') yield* rowChunks(snapshot, rows, shape, 'lines')
  else if (shape.form === 'a') yield* rowChunks(snapshot, rows, shape, 'array')
  else {
    yield Buffer.from('{"data":')
    yield* rowChunks(snapshot, rows, shape, 'array')
    yield* metaChunks(snapshot, rows, shape, facts)
  }
}

const listStart = Buffer.from('[')
const listEnd = Buffer.from(']')

/** The list without a copy, where rows are sent as they lie side by side in the sheet's own text; null where they are not. */
export function listInPlace(
  snapshot: Snapshot,
  rows: RowChoice,
  shape: ListShape,
): readonly Uint8Array[] | null {
  return shape.form === 'a' && shape.format === 'json' ? rowsInPlace(snapshot, rows, shape) : null
}

function rowsInPlace(
  { listJson, rowStarts, rowNumbers }: Snapshot,
  { from, count, positions }: RowChoice,
  { fields, rowNumbers: isNumbered }: ListShape,
): readonly Uint8Array[] | null {
  if (fields !== null || isNumbered || positions !== null) return null
  if (count === rowNumbers.length) return [listJson]
  if (count === 0) return [listStart, listEnd]
  return [listStart, listJson.subarray(rowStarts[from], (rowStarts[from + count] ?? 0) - 1), listEnd]
}

function* rowChunks(
  snapshot: Snapshot,
  rows: RowChoice,
  shape: ListShape,
  wrap: 'array' | 'lines',
): Generator<Uint8Array> {
  const inPlace = wrap === 'array' ? rowsInPlace(snapshot, rows, shape) : null
  if (inPlace) yield* inPlace
  else {
    const isAll = rows.positions === null && rows.count === snapshot.rowNumbers.length
    yield* listChunks(snapshot, isAll ? 'all' : positionsOf(rows), { ...shape, wrap })
  }
}

const numbersInAChunk = 8_192

/** The row numbers of a long list are as long as a list: they too go out bit by bit. */
function* metaChunks(
  snapshot: Snapshot,
  rows: RowChoice,
  { fields }: ListShape,
  { total, limit, offset, next, asOfMs, cursor = null, ignored, warnings = [] }: ListFacts,
): Generator<Uint8Array> {
  const keys = snapshot.columns.map(({ key }) => key)
  const columns = JSON.stringify(fields ? fields.map((at) => keys[at]) : keys)
  const further = next === null ? '' : `"next":${JSON.stringify(next)},`
  const asOf = `${further}"as_of":"${new Date(asOfMs).toISOString()}"${cursor === null ? '' : `,"cursor":"${cursor}"`}`
  const end = `${warningMember(...warnings)}}}`
  const head = `,"meta":{"total":${total},"count":${rows.count},"limit":${limit},"offset":${offset},"columns":${columns}`
  if (ignored) {
    const members = [...ignored].map(([name, cells]) => `${JSON.stringify(name)}:${cells}`)
    return yield Buffer.from(`${head},"ignored":{${members.join(',')}},${asOf}${end}`)
  }
  let text = `${head},"rows":[`
  for (let n = 0; n < rows.count; n++) {
    if (n > 0) text += ','
    text += snapshot.rowNumbers[positionAt(rows, n)]
    if (n % numbersInAChunk !== numbersInAChunk - 1) continue
    yield Buffer.from(text)
    text = ''
  }
  yield Buffer.from(`${text}],${asOf}`)
  const shown = fields
    ? snapshot.stale.filter(({ key }) => fields.some((at) => keys[at] === key))
    : snapshot.stale
  yield* staleChunks(shown, snapshot, rows)
  yield Buffer.from(end)
}

/** `"stale":{"total":[2,5]}`: the rows of this list that have outdated results there. */
function* staleChunks(
  stale: readonly StaleColumn[],
  snapshot: Snapshot,
  rows: RowChoice,
): Generator<Uint8Array> {
  let isFirst = true
  for (const column of stale) {
    let text = ''
    let count = 0
    for (let n = 0; n < rows.count; n++) {
      const number = snapshot.rowNumbers[positionAt(rows, n)] ?? 0
      if (isStaleIn(column, number)) {
        const opening = isFirst ? ',"stale":{' : ','
        text += count++ > 0 ? `,${number}` : `${opening}${JSON.stringify(column.key)}:[${number}`
        isFirst = false
      }
      if (n % numbersInAChunk !== numbersInAChunk - 1) continue
      yield Buffer.from(text)
      text = ''
    }
    if (count > 0) yield Buffer.from(`${text}]`)
  }
  if (!isFirst) yield Buffer.from('}')
}

/** `{"_row":5,…}`: the number as the first key of a row's JSON text. */
export function withRowNumber(json: string, rowNumber: number): string {
  return `{"${rowNumberKey}":${rowNumber}${json === '{}' ? '' : ','}${json.slice(1)}`
}
