import { Refusal } from '../../../errors.ts'
import type { Change } from '../../change.ts'
import { theOnlyRow } from '../../rows/find/named-row.ts'
import { changedCells, type RowInput } from '../../rows/row-input.ts'
import { createRowWriter } from '../../rows/row-json.ts'
import { maxRowBytes } from '../../rows/snapshot.ts'
import type { Deletion, RowTarget, Update } from '../order.ts'
import type { Ground } from './ground.ts'
import type { GroupEffects } from './group-effects.ts'
import { type Judgement, type Plan, resultAs } from './plan.ts'
import { cellsAsRead } from './rows-as-read.ts'

/** A row that is changed or deleted: fields first, then the row, then `If-Match`. */
export function* judgeOneRow(
  wish: Update | Deletion,
  ground: Ground,
  effects: GroupEffects,
): Generator<void, Judgement> {
  const { columns, rows, keyRule, toCells } = ground
  if (!rows) return 'unread'
  const given = wish.kind === 'update' ? toCells(wish.row) : []
  if (given instanceof Refusal) return given
  const cells = wish.kind === 'update' ? changedCells(given) : []
  if (cells instanceof Refusal) return cells
  const rowNumber = yield* rowMeant(wish, ground, effects)
  if (typeof rowNumber !== 'number') return rowNumber
  const rowAsRead = effects.asRead(rowNumber)
  const text = rows.json(rowAsRead)
  if (text === null) {
    // Blank, or past the end, which a change before it may have moved.
    if (effects.mayMoveEnd()) return 'later'
    if (rows.lastRowNumber === null) return 'unread'
    if (rowNumber > rows.lastRowNumber) return pastTheEnd(rows.lastRowNumber)
  }
  const json = text ?? rows.blankRowJson
  if (wish.isRowAsExpected) {
    if (effects.isRowUpdated(rowAsRead)) return 'later'
    if (!wish.isRowAsExpected(rowNumber, json)) {
      // Whoever is refused reads again, and must not be shown the copy that misled them: the whole tab renews it.
      return rows.isShownOtherwise(rowAsRead) ? 'unread' : new Refusal('precondition_failed')
    }
  }
  const before = cellsAsRead(columns, json)
  const isByContent = wish.named !== undefined
  if (wish.kind === 'delete') return planOf({ kind: 'delete', rowNumber, before }, isByContent)

  if (Buffer.byteLength(json) + bytesGiven(wish.row) > maxRowBytes) return rowTooLong
  const problem = keyRule && (yield* keyRule.check([{ rowAsRead, cells: given }], effects))
  return problem ?? planOf({ kind: 'update', rowNumber, cells, before }, isByContent)
}

/** Found at the moment of writing, because what was seen before may have moved since; numbered as it is by its turn. */
function* rowMeant(
  target: RowTarget,
  { columns, finder }: Ground,
  effects: GroupEffects,
): Generator<void, number | Refusal | 'later' | 'unread'> {
  if (target.named === undefined) return target.rowNumber
  const column = target.named.columnIn(columns)
  if (column instanceof Refusal) return column
  if (effects.isValueTouched(columns[column]?.index ?? -1, target.named.value)) return 'later'
  const [rows] = (finder && (yield* finder.rowsOfEach(column, [target.named.value]))) ?? []
  if (!rows) return 'unread'
  const found = theOnlyRow(rows, columns[column]?.key ?? '')
  // It would name rows by numbers that they may not have by then.
  if (found instanceof Refusal && effects.hasDeletion()) return 'later'
  if (found instanceof Refusal) return finder?.isShownOtherwise(target.named.value) ? 'unread' : found
  return effects.byItsTurn(found) ?? 'later'
}

function pastTheEnd(lastRowNumber: number): Refusal {
  return new Refusal('row_not_found', { details: `The last row with data is ${lastRowNumber}.` })
}

export const rowTooLong = new Refusal('payload_too_large', {
  details: `A row may have ${maxRowBytes / 1024 / 1024} MiB; with this change it would have more.`,
})

export function bytesGiven(row: RowInput): number {
  return row.reduce((sum, [, value]) => sum + Buffer.byteLength(JSON.stringify(value)), 0)
}

function planOf(change: Extract<Change, { kind: 'update' | 'delete' }>, isByContent: boolean): Plan {
  const { kind, rowNumber } = change
  return {
    changes: [change],
    isByContent,
    *answer([result], columns) {
      yield
      const { row } = resultAs(kind, result)
      const rowJson = createRowWriter(columns)(row)
      return { kind: kind === 'update' ? 'updated' : 'deleted', rowNumber, rowJson }
    },
  }
}
