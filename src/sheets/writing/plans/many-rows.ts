import { Refusal } from '../../../errors.ts'
import type { Change, ChangeResult, RowAsRead } from '../../change.ts'
import { runQuerySteps } from '../../rows/query/run-query.ts'
import { changedCells, type GivenCell } from '../../rows/row-input.ts'
import { createRowWriter } from '../../rows/row-json.ts'
import { type IndexedSnapshot, maxRowBytes, rowJson } from '../../rows/snapshot.ts'
import type { ManyDeletion, ManyUpdate } from '../order.ts'
import type { Ground } from './ground.ts'
import type { GroupEffects } from './group-effects.ts'
import { bytesGiven, rowTooLong } from './one-row.ts'
import { type Judgement, type Plan, resultAs } from './plan.ts'
import { cellsAsRead } from './rows-as-read.ts'

/** Rows that are changed or deleted together may have so much: they are compared and told, every column of them. */
const maxManyBytes = 16 * 1024 * 1024

interface MatchingRow {
  rowNumber: number
  before: RowAsRead
}

/** All rows that filters leave, or none where they are more than the client expects. */
export function* judgeManyRows(
  wish: ManyUpdate | ManyDeletion,
  ground: Ground,
  effects: GroupEffects,
): Generator<void, Judgement> {
  const { columns, indexed, toCells, keyRule } = ground
  // What it finds depends on every cell.
  if (!effects.isEmpty()) return 'later'
  if (!indexed) return 'unread'
  const given = wish.kind === 'update_many' ? toCells(wish.row) : []
  if (given instanceof Refusal) return given
  const cells = wish.kind === 'update_many' ? changedCells(given) : []
  if (cells instanceof Refusal) return cells
  const query = wish.choice.queryOn(columns)
  if (query instanceof Refusal) return query
  if (wish.isSheetAsExpected?.(indexed.contentHash) === false) return new Refusal('precondition_failed')

  const everything = { sort: [], limit: null, offset: 0 }
  const { positions } = yield* runQuerySteps(indexed, { ...query, ...everything })
  if (positions.length > wish.choice.maxRows) return tooManyRows(positions.length, wish.choice.maxRows)
  const bytesMore = wish.kind === 'update_many' ? bytesGiven(wish.row) : 0
  const rows = yield* matchingRows(indexed, positions, bytesMore)
  if (rows instanceof Refusal) return rows
  if (wish.kind === 'delete_many') return deletion(rows)
  const keyed = rows.map(({ rowNumber }) => ({ rowAsRead: rowNumber, cells: given as readonly GivenCell[] }))
  const problem = keyRule && (yield* keyRule.check(keyed, effects))
  return problem ?? (yield* update(rows, cells))
}

function* matchingRows(
  snapshot: IndexedSnapshot,
  positions: Uint32Array,
  bytesMore: number,
): Generator<void, MatchingRow[] | Refusal> {
  const rows: MatchingRow[] = []
  let bytes = 0
  for (const position of positions) {
    const json = rowJson(snapshot, position)
    const length = Buffer.byteLength(json)
    bytes += length
    if (bytes > maxManyBytes) return tooLong
    if (bytesMore > 0 && length + bytesMore > maxRowBytes) return rowTooLong
    rows.push({ rowNumber: snapshot.rowNumbers[position] ?? 0, before: cellsAsRead(snapshot.columns, json) })
    yield
  }
  return rows
}

const tooLong = new Refusal('payload_too_large', {
  details: `The rows that match have more than ${maxManyBytes / 1024 / 1024} MiB together. Choose fewer at a time.`,
})

function tooManyRows(matching: number, maxRows: number): Refusal {
  const details = `${matching} rows match, and at most ${maxRows} may be changed by this request ("max_rows"). Nothing was written.`
  return new Refusal('too_many_rows', { details })
}

function* update(
  rows: readonly MatchingRow[],
  cells: (Change & { kind: 'update' })['cells'],
): Generator<void, Plan> {
  const changes: Change[] = []
  for (const { rowNumber, before } of rows) {
    changes.push({ kind: 'update', rowNumber, before, cells })
    yield
  }
  return {
    changes,
    isByContent: true,
    *answer(results, columns) {
      const toJson = createRowWriter(columns)
      return {
        kind: 'many_updated',
        rowNumbers: rows.map(({ rowNumber }) => rowNumber),
        rowsJson: yield* eachToJson(results, (result) => toJson(resultAs('update', result).row)),
      }
    },
  }
}

/** From the last to the first, so that each has its number when its turn comes. */
function deletion(rows: readonly MatchingRow[]): Plan {
  return {
    changes: rows.toReversed().map((row) => ({ kind: 'delete', ...row })),
    isByContent: true,
    *answer(results, columns) {
      const toJson = createRowWriter(columns)
      return {
        kind: 'many_deleted',
        rowNumbers: rows.map(({ rowNumber }) => rowNumber),
        rowsJson: yield* eachToJson(results.toReversed(), (result) => toJson(resultAs('delete', result).row)),
      }
    },
  }
}

function* eachToJson(
  results: readonly ChangeResult[],
  toJson: (result: ChangeResult) => string,
): Generator<void, string[]> {
  const rowsJson: string[] = []
  for (const result of results) {
    yield
    rowsJson.push(toJson(result))
  }
  return rowsJson
}
