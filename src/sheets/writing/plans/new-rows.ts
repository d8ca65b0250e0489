import { Refusal } from '../../../errors.ts'
import type { ChangeResult } from '../../change.ts'
import type { Cell } from '../../rows/grid.ts'
import { type GivenCell, type RowInput, wholeRow } from '../../rows/row-input.ts'
import { createRowWriter } from '../../rows/row-json.ts'
import type { Column } from '../../rows/table.ts'
import type { Addition, BoundedColumns, WhatWasDone } from '../order.ts'
import { maxBytesTogether } from '../weighing.ts'
import type { Ground } from './ground.ts'
import type { GroupEffects } from './group-effects.ts'
import { type Judgement, resultAs } from './plan.ts'

export function* judgeAddition(
  { rows, bounds = null }: Addition,
  ground: Ground,
  effects: GroupEffects,
): Generator<void, Judgement> {
  const tooMany = tooManyRows(rows.length, ground)
  if (tooMany) return tooMany
  const bounded = bounds?.of(ground.columns)
  if (bounded instanceof Refusal) return bounded
  const given = bounded ? yield* boundedCells(rows, bounded, ground) : yield* eachToCells(rows, ground)
  if (given instanceof Refusal) return given
  const keyed = yield* keyedRows(given, ground, effects)
  if (keyed instanceof Refusal && bounded && !bounded.mayHearOfKeys) return keysNotGiven
  if (keyed instanceof Refusal || typeof keyed === 'string') return keyed
  const cellRows = yield* wholeRows(keyed)
  if (cellRows instanceof Refusal) return cellRows
  return {
    changes: [{ kind: 'add', rows: cellRows }],
    answer: ([result], columns) => addedAnswer(resultAs('add', result), columns),
  }
}

function* addedAnswer(
  { rowNumbers, rows }: ChangeResult & { kind: 'add' },
  columns: readonly Column[],
): Generator<void, WhatWasDone> {
  const toJson = createRowWriter(columns)
  const rowsJson: string[] = []
  for (const row of rows) {
    yield
    rowsJson.push(toJson(row))
  }
  return { kind: 'added', rowNumbers, rowsJson }
}

export function* eachToCells(
  rows: readonly RowInput[],
  { toCells }: Pick<Ground, 'toCells'>,
): Generator<void, GivenCell[][] | Refusal> {
  const all: GivenCell[][] = []
  for (const row of rows) {
    yield
    const given = toCells(row)
    if (given instanceof Refusal) return given
    all.push(given)
  }
  return all
}

/** What was sent, as far as it may be, and what stands in every row. Nobody adds rows that hold nothing else. */
function* boundedCells(
  rows: readonly RowInput[],
  { writable, always }: BoundedColumns,
  ground: Ground,
): Generator<void, GivenCell[][] | Refusal> {
  const given = yield* eachToCells(rows, { toCells: ground.toCellsOf(writable) })
  if (given instanceof Refusal) return given
  if (given.some((cells) => cells.every(({ value }) => value === null))) return blankRow
  const isAlways = (cell: GivenCell) => always.some(({ column }) => column.index === cell.column.index)
  return given.map((cells) => [...cells.filter((cell) => !isAlways(cell)), ...always])
}

const blankRow = new Refusal('invalid_body', {
  details: 'A row needs at least one cell that is not empty.',
})
const keysNotGiven = new Refusal('invalid_body', {
  details: 'The sheet asks for something in new rows that cannot be given here. Its owner can mend that.',
})

/** With the keys that the sheet asks for. */
function* keyedRows(
  rows: readonly (readonly GivenCell[])[],
  { keyRule }: Ground,
  effects: GroupEffects,
): Generator<void, readonly (readonly GivenCell[])[] | Refusal | 'later' | 'unread'> {
  if (keyRule === null) return rows
  const keyed = keyRule.withKeys(rows)
  if (keyed instanceof Refusal) return keyed
  const problem = yield* keyRule.check(
    keyed.map((cells) => ({ rowAsRead: null, cells })),
    effects,
  )
  return problem ?? keyed
}

/** By position in the sheet. */
export function* wholeRows(rows: readonly (readonly GivenCell[])[]): Generator<void, Cell[][] | Refusal> {
  const cellRows: Cell[][] = []
  for (const given of rows) {
    yield
    const cells = wholeRow(given)
    if (cells instanceof Refusal) return cells
    cellRows.push(cells)
  }
  return cellRows
}

/** All columns of each are told in the answer. */
export function tooManyRows(rows: number, { emptyRowBytes }: Ground): Refusal | null {
  if (rows * emptyRowBytes <= maxBytesTogether) return null
  const allowed = Math.max(1, Math.floor(maxBytesTogether / emptyRowBytes))
  return new Refusal('payload_too_large', {
    details: `With as many columns as this sheet has, a request may add ${allowed} rows; this one has ${rows}.`,
  })
}
