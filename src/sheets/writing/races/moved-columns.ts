import type { Observe } from '../../../reporting/observe.ts'
import type { SheetRecord } from '../../../store/sheets/sheets.ts'
import type { CellChange, Change, ChangeResult } from '../../change.ts'
import type { Prepared, Provider } from '../../provider.ts'
import { OutcomeUnknown, ProviderFailure } from '../../provider-failure.ts'
import type { Cell } from '../../rows/grid.ts'
import { positionOf, rowJson, type Snapshot } from '../../rows/snapshot.ts'
import type { Column } from '../../rows/table.ts'
import type { SentOrder } from '../journal.ts'
import { movedWarning, type WriteAnswer, withOperationId } from '../order.ts'
import type { Persistence } from '../persistence.ts'
import { answerOf } from '../plans/answer-of.ts'
import type { Plan } from '../plans/plan.ts'
import { stretchOf } from '../plans/stretches.ts'
import type { TakerTurns } from '../taker-turns.ts'
import {
  canBePutRight,
  cellsToPutRight,
  isWrittenColumnGone,
  isWrittenColumnMoved,
  type MovedColumns,
} from './column-moves.ts'

export interface PuttingRightParts {
  provider: Provider
  record: SheetRecord
  persistence: Persistence
  observe: Observe
  inTurns: TakerTurns
  toDiscard: Prepared[]
}

interface MisplacedRow {
  /** As it is numbered after all changes of the group. */
  rowNumber: number
  standing: readonly Cell[]
  cells: readonly CellChange[]
}

/** What became of rows that were written once more. */
interface Rewritten {
  /** As they stand now; null for one that was perhaps another row by then. */
  rows: readonly (readonly Cell[] | null)[]
  columns: readonly Column[]
  isRight: boolean
}

/** Google does such a thing rarely, and a second time in a row hardly ever. */
const maxTries = 3

const goneWarning =
  'A column was removed from the spreadsheet while this was written, and its value was not kept.'

/**
 * A person moved columns between our last look at the header and the write, at a place without conditional writes. The
 * rows just added are known exactly, so their cells are put under their headers; what cannot be put right is told.
 * `results` has null for a change that is known to have landed as it was meant.
 */
export async function afterMovedColumns(
  group: readonly { plan: Plan }[],
  answered: readonly SentOrder[],
  results: readonly (ChangeResult | null)[],
  columns: MovedColumns,
  parts: PuttingRightParts,
): Promise<readonly SentOrder[]> {
  const changes = group.flatMap(({ plan }) => plan.changes)
  const misplaced = new Map<string, MisplacedRow>()
  changes.forEach((change, at) => {
    const result = results[at]
    if (change.kind !== 'add' || result?.kind !== 'add') return
    if (!isWrittenColumnMoved(change, columns) || !canBePutRight(change, columns)) return
    result.rowNumbers.forEach((rowNumber, nth) => {
      const standing = result.rows[nth] ?? []
      const cells = cellsToPutRight(change.rows[nth] ?? [], standing, columns)
      const movedUp = changes.slice(at + 1).filter(({ kind }) => kind === 'delete').length
      if (cells.length > 0) misplaced.set(`${at} ${nth}`, { rowNumber: rowNumber - movedUp, standing, cells })
    })
  })
  const rewritten = misplaced.size === 0 ? null : await rewrite([...misplaced.values()], columns.now, parts)
  const rowsNow = new Map([...misplaced.keys()].map((name, at) => [name, rewritten?.rows[at] ?? null]))

  return Promise.all(answered.map(answerAnew))

  async function answerAnew({ order, answer }: SentOrder, at: number): Promise<SentOrder> {
    const plan = group[at]?.plan
    if (!plan) return { order, answer }
    const { from } = stretchOf(group, at)
    const standing = plan.changes.map((change, nth) => standingNow(change, from + nth))
    const warning = standing.find((one) => one.warning !== null)?.warning ?? null
    const told = standing.flatMap(({ result }) => result ?? [])
    const isRewritten = standing.some((one) => one.isRewritten)
    // What is not known as it stands is told as it was found; nothing was written once more of that.
    if (!isRewritten || told.length < standing.length) return { order, answer: addWarning(answer, warning) }
    const anew = await parts.inTurns(answerOf(plan, told, rewritten?.columns ?? columns.now))
    return { order, answer: withOperationId(addWarning(anew, warning), order) }
  }

  function standingNow(change: Change, at: number): StandingNow {
    const result = results[at] ?? null
    const isMoved = isWrittenColumnMoved(change, columns)
    const asItIs = { result, isRewritten: false }
    if (result === null) {
      // Alone it was found as it was meant; together with others nobody looked.
      const isAlone = group.some(({ plan }) => plan.changes.length === 1 && plan.changes[0] === change)
      return { ...asItIs, warning: isMoved && !isAlone ? movedWarning : null }
    }
    if (change.kind !== 'add' || result.kind !== 'add' || result.rowNumbers.length === 0)
      return { ...asItIs, warning: isMoved ? movedWarning : null }
    const names = result.rows.map((_, nth) => `${at} ${nth}`)
    const isRewritten = names.some((name) => misplaced.has(name))
    // A row that was perhaps another by then has no number that we could tell.
    const isElsewhere = isRewritten && names.some((name) => misplaced.has(name) && !rowsNow.get(name))
    const rows = result.rows.map((row, nth) => [...(rowsNow.get(names[nth] ?? '') ?? row)])
    const rowNumbers = isElsewhere ? [] : result.rowNumbers
    const isRight = isRewritten ? rewritten?.isRight === true : !isMoved
    const warning = !isRight ? movedWarning : isWrittenColumnGone(change, columns) ? goneWarning : null
    return { result: { ...result, rowNumbers, rows }, warning, isRewritten: true }
  }
}

/** What a change has led to by now. */
interface StandingNow {
  result: ChangeResult | null
  warning: string | null
  isRewritten: boolean
}

/**
 * After a lost answer: additions that are not found by their names may stand, cell for cell, where they were expected,
 * under other headers. null for those that are found.
 */
export function standingWhereExpected(
  group: readonly { plan: Plan }[],
  found: readonly SentOrder[],
  expected: readonly SentOrder[],
  snapshot: Snapshot,
  expectedLastRow: number | null,
): (ChangeResult | null)[] {
  return group.flatMap(({ plan: { changes } }, at): (ChangeResult | null)[] => {
    const [change] = changes
    const answer = found[at]?.answer
    if (changes.length !== 1 || change?.kind !== 'add') return changes.map(() => null)
    if (answer?.kind !== 'added' || answer.rowNumbers.length > 0) return [null]
    const guess = expected[at]?.answer
    const rowNumbers = guess?.kind === 'added' ? guess.rowNumbers : []
    const rows = rowNumbers.map((rowNumber) => cellsOf(snapshot, rowNumber))
    const isThere =
      snapshot.lastRowNumber === expectedLastRow &&
      rows.length === change.rows.length &&
      change.rows.every((row, nth) =>
        row.every((cell, index) => cell === null || rows[nth]?.[index] === cell),
      )
    if (isThere) return [{ kind: 'add', rowNumbers, rows }]
    return [{ kind: 'add', rowNumbers: [], rows: change.rows.map((row) => [...row]) }]
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

async function rewrite(
  rows: readonly MisplacedRow[],
  now: readonly Column[],
  parts: PuttingRightParts,
): Promise<Rewritten> {
  const { provider, record, toDiscard, observe } = parts
  const named = new Set(now.map(({ index }) => index))
  const changes = rows.map(({ rowNumber, standing, cells }): Change => {
    const before = Array.from(standing, (cell, index) => (named.has(index) ? cell : undefined))
    return { kind: 'update', rowNumber, cells, before }
  })
  const unchanged: Rewritten = { rows: rows.map(({ standing }) => standing), columns: now, isRight: false }
  const written = await attempt()
  observe({ event: 'rows_put_right', sheetId: record.id, rows: rows.length, isDone: written.isRight })
  return written

  async function attempt(): Promise<Rewritten> {
    try {
      for (let tries = 0; tries < maxTries; tries++) {
        const prepared = await provider.prepare(record, changes, '', now)
        if (prepared === 'conflict' || 'changeAt' in prepared) return unchanged
        toDiscard.push(prepared)
        const outcome = await commitRewritten(prepared)
        if (outcome !== 'void') return outcome
      }
      return unchanged
    } catch (error) {
      // The addition itself is done: whatever fails here must not look as if it were not.
      if (error instanceof ProviderFailure) return unchanged
      throw error
    }
  }

  async function commitRewritten(prepared: Prepared): Promise<Rewritten | 'void'> {
    try {
      const end = await prepared.commit()
      if (end.outcome !== 'applied') return unchanged
      const { results, columns, racedAt = [] } = end
      // Where columns have moved again every row looks like another, and what stands there now is told.
      const isAnother = (at: number) => !columns && racedAt.includes(at)
      return {
        rows: results.map((result, at) => (result.kind === 'update' && !isAnother(at) ? result.row : null)),
        columns: columns ?? now,
        isRight: !columns && racedAt.length === 0,
      }
    } catch (error) {
      if (!(error instanceof OutcomeUnknown)) throw error
      const fate = await parts.persistence.until(() => provider.settle(record, prepared.fence))
      if (fate === 'void') return 'void'
      const expected = prepared.expected.map((result) => (result.kind === 'update' ? result.row : null))
      return { rows: expected, columns: now, isRight: true }
    }
  }
}

function addWarning(answer: WriteAnswer, warning: string | null): WriteAnswer {
  return warning === null ? answer : { ...answer, warning }
}
