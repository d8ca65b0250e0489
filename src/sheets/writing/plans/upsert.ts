import { Refusal } from '../../../errors.ts'
import type { CellChange, Change, ChangeResult, RowAsRead } from '../../change.ts'
import { shortenName } from '../../rows/column-name.ts'
import { ambiguousRow } from '../../rows/find/named-row.ts'
import { equalityKeys } from '../../rows/query/equal-values.ts'
import type { GivenCell, RowInput } from '../../rows/row-input.ts'
import { createRowWriter } from '../../rows/row-json.ts'
import { maxRowBytes } from '../../rows/snapshot.ts'
import { isStaleIn, type StaleColumn } from '../../rows/stale-results.ts'
import type { Column } from '../../rows/table.ts'
import type { StaleRows, Upsert, UpsertedRow } from '../order.ts'
import { maxBytesTogether } from '../weighing.ts'
import type { Ground } from './ground.ts'
import type { GroupEffects } from './group-effects.ts'
import { eachToCells, tooManyRows, wholeRows } from './new-rows.ts'
import { bytesGiven, rowTooLong } from './one-row.ts'
import { type Judgement, type Plan, resultAs } from './plan.ts'
import { cellsAsRead } from './rows-as-read.ts'

/** What becomes of one row of the request. */
type Fate =
  | { was: 'added' }
  | { was: 'updated'; rowNumber: number; cells: CellChange[]; before: RowAsRead }
  | { was: 'unchanged'; rowNumber: number; rowAsRead: number; json: string }

/**
 * Rows whose value is in the sheet are changed, the others added; what would not change is not written. The value itself only names
 * the row: a sheet that has `Berlin` keeps it where `berlin` was sent.
 */
export function* judgeUpsert(
  wish: Upsert,
  ground: Ground,
  effects: GroupEffects,
): Generator<void, Judgement> {
  const { columns, rows, finder, indexed } = ground
  const tooMany = tooManyRows(wish.rows.length, ground)
  if (tooMany) return tooMany
  const position = wish.columnIn(columns)
  if (position instanceof Refusal) return position
  const column = columns[position]
  const given = yield* eachToCells(wish.rows, ground)
  if (given instanceof Refusal) return given
  const values = yield* valuesOf(given, column)
  if (values instanceof Refusal) return values
  if (wish.isSheetAsExpected) {
    if (!effects.isEmpty()) return 'later'
    if (!indexed) return 'unread'
    if (!wish.isSheetAsExpected(indexed.contentHash)) return new Refusal('precondition_failed')
  }
  if (values.some((value) => effects.isValueTouched(column?.index ?? -1, value))) return 'later'

  const found = finder && (yield* finder.rowsOfEach(position, values))
  if (!found) return 'unread'
  const fates: Fate[] = []
  let bytes = 0
  for (const [at, numbers] of found.entries()) {
    const fate = fateOf(given[at] ?? [], wish.rows[at] ?? [], numbers)
    if (fate instanceof Refusal && finder.isShownOtherwise(values[at] ?? '')) return 'unread'
    if (fate instanceof Refusal || typeof fate === 'string') return fate
    fates.push(fate)
    if (bytes > maxBytesTogether) return tooLong
    yield
  }
  const added = given.filter((_, at) => fates[at]?.was === 'added')
  const keyed = keysOf(added)
  if (keyed instanceof Refusal) return keyed
  const problem = yield* checkKeys(keyed, given, fates)
  if (problem) return problem
  const newRows = yield* wholeRows(keyed)
  if (newRows instanceof Refusal) return newRows
  return planOf(fates, newRows.length === 0 ? null : { kind: 'add', rows: newRows }, indexed?.stale ?? [])

  function fateOf(
    cells: readonly GivenCell[],
    input: RowInput,
    numbers: readonly number[],
  ): Fate | Refusal | 'later' | 'unread' {
    const [rowAsRead, another] = numbers
    if (rowAsRead === undefined) return { was: 'added' }
    const rowNumber = effects.byItsTurn(rowAsRead)
    if (rowNumber === null || effects.isRowUpdated(rowAsRead)) return 'later'
    // It would name rows by numbers that they may not have by then.
    if (another !== undefined) return effects.hasDeletion() ? 'later' : ambiguousRow(numbers)
    const json = rows?.json(rowAsRead) ?? null
    if (json === null) return 'unread'
    const before = cellsAsRead(columns, json)
    bytes += json.length
    const changed = cells.flatMap(({ column: { index }, value }) =>
      index === column?.index || (before[index] ?? null) === value ? [] : { columnIndex: index, value },
    )
    if (changed.length === 0 || wish.onMatch === 'skip')
      return { was: 'unchanged', rowNumber, rowAsRead, json }
    if (Buffer.byteLength(json) + bytesGiven(input) > maxRowBytes) return rowTooLong
    return { was: 'updated', rowNumber, cells: changed, before }
  }

  function keysOf(rows: readonly (readonly GivenCell[])[]): readonly (readonly GivenCell[])[] | Refusal {
    const { keyRule } = ground
    return rows.length === 0 || keyRule === null ? rows : keyRule.withKeys(rows)
  }

  function* checkKeys(
    newRows: readonly (readonly GivenCell[])[],
    rows: readonly (readonly GivenCell[])[],
    all: readonly Fate[],
  ): Generator<void, Refusal | 'later' | 'unread' | null> {
    const { keyRule } = ground
    if (keyRule === null) return null
    const changed = all.flatMap((fate, at) =>
      fate.was === 'updated'
        ? {
            rowAsRead: effects.asRead(fate.rowNumber),
            cells: (rows[at] ?? []).filter((cell) => cell.column.index !== column?.index),
          }
        : [],
    )
    const fresh = newRows.map((cells) => ({ rowAsRead: null, cells }))
    return yield* keyRule.check([...changed, ...fresh], effects)
  }
}

const tooLong = new Refusal('payload_too_large', {
  details: 'The rows that this would change are too long together. Send fewer at a time.',
})

/** By which each is found; missing in one, or one twice, it would be anybody's guess what is meant. */
function* valuesOf(
  given: readonly GivenCell[][],
  column: Column | undefined,
): Generator<void, string[] | Refusal> {
  const values: string[] = []
  const met = new Set<string>()
  for (const [at, cells] of given.entries()) {
    yield
    const value = cells.find((cell) => cell.column.index === column?.index)?.value ?? null
    const which = given.length > 1 ? `Row ${at + 1} of the array` : 'The row'
    if (value === null)
      return invalidUpsert(`${which} lacks a value for "${shortenName(column?.key ?? '')}".`)
    const keys = equalityKeys(String(value))
    if (keys.some((key) => met.has(key))) {
      return invalidUpsert(
        `${which} has a value for "${shortenName(column?.key ?? '')}" that is in the request already.`,
      )
    }
    for (const key of keys) met.add(key)
    values.push(String(value))
  }
  return values
}

function planOf(fates: readonly Fate[], addition: Change | null, stale: readonly StaleColumn[]): Plan {
  const updates = fates.flatMap((fate): Change[] =>
    fate.was === 'updated'
      ? [{ kind: 'update', rowNumber: fate.rowNumber, cells: fate.cells, before: fate.before }]
      : [],
  )
  return {
    changes: addition ? [...updates, addition] : updates,
    isByContent: true,
    staleBefore: staleUnchanged(fates, stale),
    *answer(results, columns) {
      return { kind: 'upserted', rows: yield* rowsOf(fates, updates.length, results, columns) }
    },
  }
}

function staleUnchanged(fates: readonly Fate[], stale: readonly StaleColumn[]): StaleRows[] {
  return stale.flatMap((column) => {
    const rowNumbers = fates.flatMap((fate) =>
      fate.was === 'unchanged' && isStaleIn(column, fate.rowAsRead) ? fate.rowNumber : [],
    )
    return rowNumbers.length === 0 ? [] : { key: column.key, rowNumbers }
  })
}

function* rowsOf(
  fates: readonly Fate[],
  updateCount: number,
  results: readonly ChangeResult[],
  columns: readonly Column[],
): Generator<void, UpsertedRow[]> {
  const toJson = createRowWriter(columns)
  const last = results[updateCount]
  const added = last ? resultAs('add', last) : null
  let nextUpdate = 0
  let nextAdded = 0
  const rows: UpsertedRow[] = []
  for (const fate of fates) {
    yield
    rows.push(rowOf(fate))
  }
  return rows

  function rowOf(fate: Fate): UpsertedRow {
    if (fate.was === 'unchanged') return { was: fate.was, rowNumber: fate.rowNumber, rowJson: fate.json }
    if (fate.was === 'updated') {
      const { row } = resultAs('update', results[nextUpdate++])
      return { was: fate.was, rowNumber: fate.rowNumber, rowJson: toJson(row) }
    }
    const rowNumber = added?.rowNumbers[nextAdded] ?? null
    return { was: 'added', rowNumber, rowJson: toJson(added?.rows[nextAdded++] ?? []) }
  }
}

function invalidUpsert(details: string): Refusal {
  return new Refusal('invalid_body', { details })
}
