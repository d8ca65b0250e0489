import type { Observe } from '../../observe.ts'
import type { SheetRecord } from '../../store/store.ts'
import type { CellChange, Change, ChangeResult } from '../change.ts'
import type { Cell } from '../grid.ts'
import type { Prepared, Provider } from '../provider.ts'
import { OutcomeUnknown, ProviderFailure } from '../provider-failure.ts'
import { positionOf, rowJson, type Snapshot } from '../snapshot.ts'
import type { Column } from '../table.ts'
import type { Sent } from './journal.ts'
import { createAnswers } from './judging.ts'
import type { WriteAnswer } from './order.ts'
import type { Persistence } from './persistence.ts'

/** The columns that a group was judged on, and as they are since. */
export interface MovedColumns {
  judged: readonly Column[]
  now: readonly Column[]
}

export interface PuttingRightParts {
  provider: Provider
  record: SheetRecord
  persistence: Persistence
  observe: Observe
  toDiscard: Prepared[]
}

interface MisplacedRow {
  /** As it is numbered after all changes of the group. */
  rowNumber: number
  standing: readonly Cell[]
  cells: readonly CellChange[]
}

/** Google does such a thing rarely, and a second time in a row hardly ever. */
const maxTries = 3

const movedWarning =
  'The columns of the spreadsheet were changed while this was written. Compare the row as it stands now with what was sent.'
const goneWarning =
  'A column was removed from the spreadsheet while this was written, and its value was not kept.'

/**
 * A person moved columns between our last look at the header and the write, at a place without conditional writes. The
 * rows just added are known exactly, so their cells are put under their headers; what cannot be put right is told.
 * `results` has null for a change that is known to have landed as it was meant.
 */
export async function putRight(
  group: readonly { change: Change }[],
  answered: readonly Sent[],
  results: readonly (ChangeResult | null)[],
  columns: MovedColumns,
  parts: PuttingRightParts,
): Promise<readonly Sent[]> {
  const misplaced = new Map<string, MisplacedRow>()
  group.forEach(({ change }, at) => {
    const result = results[at]
    if (change.kind !== 'add' || result?.kind !== 'add') return
    result.rowNumbers.forEach((rowNumber, nth) => {
      const standing = result.rows[nth] ?? []
      const cells = cellsToPutRight(change.rows[nth] ?? [], standing, columns)
      const movedUp = group.slice(at + 1).filter((later) => later.change.kind === 'delete').length
      if (cells.length > 0) misplaced.set(`${at} ${nth}`, { rowNumber: rowNumber - movedUp, standing, cells })
    })
  })
  const righted = misplaced.size === 0 ? [] : await rewrite([...misplaced.values()], columns.now, parts)
  const rightedRows = new Map([...misplaced.keys()].map((name, at) => [name, righted?.[at]]))

  return answered.map(({ order, answer }, at) => {
    const change = group[at]?.change
    const result = results[at]
    if (!change || result === null || result === undefined) return { order, answer }
    if (change.kind !== 'add' || result.kind !== 'add') {
      return { order, answer: warned(answer, isWrittenColumnMoved(change, columns) ? movedWarning : null) }
    }
    const rows = result.rows.map((row, nth) => rightedRows.get(`${at} ${nth}`) ?? row)
    const isUnknown = result.rowNumbers.length === 0 && isWrittenColumnMoved(change, columns)
    const isWrong = righted === null && result.rows.some((_, nth) => misplaced.has(`${at} ${nth}`))
    const warning =
      isUnknown || isWrong ? movedWarning : isWrittenColumnGone(change, columns) ? goneWarning : null
    if (isUnknown) return { order, answer: warned(answer, warning) }
    const made = createAnswers(columns.now)(order.wish, { ...result, rows: rows.map((row) => [...row]) })
    return { order, answer: warned(made, warning) }
  })
}

export function areColumnsWhereTheyWere({ judged, now }: MovedColumns): boolean {
  return (
    judged.length === now.length &&
    judged.every(({ key, index }, at) => now[at]?.key === key && now[at]?.index === index)
  )
}

/**
 * After a lost answer: additions that are not found by their names may stand, cell for cell, where they were expected,
 * under other headers. null for those that are found.
 */
export function standingWhereExpected(
  group: readonly { change: Change }[],
  found: readonly Sent[],
  expected: readonly Sent[],
  snapshot: Snapshot,
  expectedLastRow: number | null,
): (ChangeResult | null)[] {
  return group.map(({ change }, at): ChangeResult | null => {
    const answer = found[at]?.answer
    if (change.kind !== 'add') return { kind: 'update', row: [] }
    if (answer?.kind !== 'added' || answer.rowNumbers.length > 0) return null
    const guess = expected[at]?.answer
    const rowNumbers = guess?.kind === 'added' ? guess.rowNumbers : []
    const rows = rowNumbers.map((rowNumber) => cellsOf(snapshot, rowNumber))
    const isThere =
      snapshot.lastRowNumber === expectedLastRow &&
      rows.length === change.rows.length &&
      change.rows.every((row, nth) =>
        row.every((cell, index) => cell === null || rows[nth]?.[index] === cell),
      )
    if (isThere) return { kind: 'add', rowNumbers, rows }
    return { kind: 'add', rowNumbers: [], rows: change.rows.map((row) => [...row]) }
  })
}

function cellsOf(snapshot: Snapshot, rowNumber: number): Cell[] {
  const position = positionOf(snapshot, rowNumber)
  const byKey = JSON.parse(position === null ? snapshot.blankRowJson : rowJson(snapshot, position)) as Record<
    string,
    Cell
  >
  const cells: Cell[] = []
  for (const { key, index } of snapshot.columns) cells[index] = byKey[key] ?? null
  return Array.from(cells, (cell) => cell ?? null)
}

/** Every value goes under its header, and out of the columns that it fell into. */
function cellsToPutRight(
  sent: readonly Cell[],
  standing: readonly Cell[],
  columns: MovedColumns,
): CellChange[] {
  if (!isAnyMoved(sent, columns)) return []
  const indexNow = new Map(columns.now.map(({ key, index }) => [key, index]))
  const wanted = new Map<number, Cell>()
  for (const [index, cell] of sent.entries()) if (cell !== null) wanted.set(index, null)
  for (const { key, index } of columns.judged) {
    const [cell, at] = [sent[index] ?? null, indexNow.get(key)]
    if (cell !== null && at !== undefined) wanted.set(at, cell)
  }
  return [...wanted].flatMap(([columnIndex, value]) =>
    (standing[columnIndex] ?? null) === value ? [] : { columnIndex, value },
  )
}

function isAnyMoved(sent: readonly Cell[], { judged, now }: MovedColumns): boolean {
  const keyNow = new Map(now.map(({ key, index }) => [index, key]))
  return judged.some(({ key, index }) => (sent[index] ?? null) !== null && keyNow.get(index) !== key)
}

function isWrittenColumnMoved(change: Change, columns: MovedColumns): boolean {
  return writtenRows(change).some((row) => isAnyMoved(row, columns))
}

function isWrittenColumnGone(change: Change, { judged, now }: MovedColumns): boolean {
  const keys = new Set(now.map(({ key }) => key))
  return writtenRows(change).some((row) =>
    judged.some(({ key, index }) => (row[index] ?? null) !== null && !keys.has(key)),
  )
}

function writtenRows(change: Change): readonly (readonly Cell[])[] {
  if (change.kind === 'add') return change.rows
  if (change.kind === 'delete') return []
  const row: Cell[] = []
  for (const { columnIndex } of change.cells) row[columnIndex] = true
  return [Array.from(row, (cell) => cell ?? null)]
}

/** The rows as they stand then, or null when they are still not right. */
async function rewrite(
  rows: readonly MisplacedRow[],
  now: readonly Column[],
  parts: PuttingRightParts,
): Promise<Cell[][] | null> {
  const { provider, record, toDiscard, observe } = parts
  const named = new Set(now.map(({ index }) => index))
  const changes = rows.map(({ rowNumber, standing, cells }): Change => {
    const before = Array.from(standing, (cell, index) => (named.has(index) ? cell : undefined))
    return { kind: 'update', rowNumber, cells, before }
  })
  const written = await attempt()
  observe({ event: 'rows_put_right', sheetId: record.id, rows: rows.length, isDone: written !== null })
  return written

  async function attempt(): Promise<Cell[][] | null> {
    try {
      for (let tries = 0; tries < maxTries; tries++) {
        const prepared = await provider.prepare(record, changes, '', now)
        if (prepared === 'conflict' || 'changeAt' in prepared) return null
        toDiscard.push(prepared)
        const outcome = await committed(prepared)
        if (outcome !== 'void') return outcome
      }
      return null
    } catch (error) {
      // The addition itself is done: whatever fails here must not look as if it were not.
      if (error instanceof ProviderFailure) return null
      throw error
    }
  }

  async function committed(prepared: Prepared): Promise<Cell[][] | 'void' | null> {
    try {
      const end = await prepared.commit()
      if (end.outcome !== 'applied' || end.columns) return null
      return end.results.map((result) => (result.kind === 'update' ? result.row : []))
    } catch (error) {
      if (!(error instanceof OutcomeUnknown)) throw error
      const fate = await parts.persistence.until(() => provider.settle(record, prepared.fence))
      if (fate === 'void') return 'void'
      return prepared.expected.map((result) => (result.kind === 'update' ? result.row : []))
    }
  }
}

function warned(answer: WriteAnswer, warning: string | null): WriteAnswer {
  return warning === null ? answer : { ...answer, warning }
}
