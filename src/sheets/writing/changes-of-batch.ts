import type { Change, ChangeResult, LostWithChange, RowAsRead } from '../change.ts'
import { keyTextOf, type LoggedChange, type LostOfRow, unnamedCellsOf } from '../logged-change.ts'
import type { Cell } from '../rows/grid.ts'
import { createRowWriter } from '../rows/row-json.ts'
import type { Column } from '../rows/table.ts'
import type { WriteOrder } from './order.ts'
import type { Plan } from './plans/plan.ts'

export interface BatchChanges {
  changes: LoggedChange[]
  /** Whether all row numbers are there. */
  isPlaced: boolean
}

interface Given {
  group: readonly {
    waiting: { order: Pick<WriteOrder, 'operationId' | 'by'> }
    plan: Pick<Plan, 'changes' | 'undoes'>
  }[]
  results: readonly ChangeResult[]
  columns: readonly Column[]
  keyColumn: string | null
  /** Changes that hit another row than they were judged on; their results tell which. */
  racedAt?: readonly number[]
}

const longRowCharacters = 128 * 1024

/** What the log tells of a batch. In steps, row by row. */
export function* changesOfBatch({
  group,
  results,
  columns,
  keyColumn,
  racedAt = [],
}: Given): Generator<void, BatchChanges> {
  const toJson = createRowWriter(columns)
  const blank = toJson([])
  const keyIndex = columns.find(({ key }) => key === keyColumn)?.index ?? null
  const changes: LoggedChange[] = []
  const made = createMadeRows()
  let isPlaced = true
  let at = 0
  for (const { waiting, plan } of group) {
    const { operationId, by } = waiting.order
    const { undoes } = plan
    const whose = {
      ...(operationId !== undefined && { operation: operationId }),
      ...(by != null && { by }),
      ...(undoes !== undefined && { undoes }),
    }
    for (const change of plan.changes) {
      const isRaced = racedAt.includes(at)
      const result = results[at++]
      if (isRaced && isOfRow(change) && (result?.kind === 'update' || result?.kind === 'delete')) {
        yield
        isPlaced = false
        changes.push({ ...changeAfterRace(change, result), ...whose })
      } else if (change.kind === 'add' && result?.kind === 'add') {
        if (result.rowNumbers.length !== result.rows.length) isPlaced = false
        for (const [nth, cells] of result.rows.entries()) {
          yield
          const row = result.rowNumbers[nth]
          changes.push({
            kind: 'added',
            ...(row !== undefined && { row }),
            ...identityOf(cells),
            after: toJson(cells),
            ...whose,
          })
          if (row !== undefined) made.set(row, cells)
        }
      } else if (change.kind === 'insert' && result?.kind === 'insert') {
        yield
        const { rowNumber: row, isFilling } = change
        if (!isFilling) made.insert(row)
        made.set(row, result.row)
        const told = isFilling ? yield* changeOfRow(row, [], result.row) : additionOfRow(row, result.row)
        // As it was asked: a provider may see no more of the row afterwards than what has a name.
        const asked: Cell[] = []
        for (const { columnIndex, value } of change.cells) asked[columnIndex] = value
        const unnamed = unnamedCellsOf(
          Array.from(asked, (cell) => cell ?? null),
          columns,
        )
        if (told) changes.push({ ...told, ...(unnamed && { lost: { unnamed } }), ...whose })
      } else if (isOfRow(change) && (result?.kind === 'update' || result?.kind === 'delete')) {
        yield
        const row = change.rowNumber
        const before = made.get(row) ?? asCells(change.before) ?? (result.kind === 'delete' ? result.row : [])
        const after = result.kind === 'delete' ? null : result.row
        if (after) made.set(row, after)
        else made.remove(row)
        const told = yield* changeOfRow(row, before, after)
        const unnamed = result.kind === 'delete' && unnamedCellsOf(result.row, columns, result.lost?.times)
        if (told) changes.push({ ...told, ...moreOf(told, change, result.lost, unnamed || null), ...whose })
      }
    }
  }
  return { changes, isPlaced }

  /** null where nothing is another than before. Where rows are told by key, a blank one is none. */
  function* changeOfRow(
    row: number,
    before: readonly Cell[],
    after: readonly Cell[] | null,
  ): Generator<void, LoggedChange | null> {
    const isKeyed = keyColumn !== null
    const was = toJson(before)
    // A row may have megabytes: either is a turn of its own.
    if (was.length > longRowCharacters) yield
    const is = after && toJson(after)
    const wasThere = !isKeyed || was !== blank
    const isThere = is !== null && (!isKeyed || is !== blank)
    if (!wasThere && !isThere) return null
    if (!wasThere) return { ...additionOfRow(row, after ?? []), isInPlace: true }
    const told = { row, ...identityOf(before), before: was }
    if (!isThere) return { kind: 'deleted', ...told, ...(after && { isInPlace: true }) }
    if (was === is) return null
    const changed = columns.filter(({ index }) => (before[index] ?? null) !== (after?.[index] ?? null))
    return { kind: 'updated', ...told, after: is ?? blank, changed: changed.map(({ key }) => key) }
  }

  /** Without what it was before, nor where: that was another row. */
  function changeAfterRace(change: ChangeOfRow, result: ResultOfRow): LoggedChange {
    const identity = { ...identityOf(result.row), meantRow: change.rowNumber }
    if (result.kind === 'delete') return { kind: 'deleted', ...identity, before: toJson(result.row) }
    return { kind: 'updated', ...identity, after: toJson(result.row), wrote: namesWritten(change) }
  }

  function additionOfRow(row: number, cells: readonly Cell[]): LoggedChange {
    return { kind: 'added', row, ...identityOf(cells), after: toJson(cells) }
  }

  /** What it takes to undo it. */
  function moreOf(
    { kind, changed = [] }: LoggedChange,
    change: ChangeOfRow,
    lost: LostWithChange | undefined,
    unnamed: LostOfRow['unnamed'] | null,
  ): Pick<LoggedChange, 'wrote' | 'lost'> {
    const written = namesWritten(change)
    const isAlone = kind !== 'updated' || changed.every((name) => written.includes(name))
    const formulas = namesAt(lost?.formulas)
    const formatAt = new Map(lost?.times)
    const times = columns.flatMap(({ key, index }): [string, string][] => {
      const format = formatAt.get(index)
      return format === undefined ? [] : [[key, format]]
    })
    const kept: LostOfRow = {
      ...(times.length > 0 && { times }),
      ...(formulas.length > 0 && { formulas }),
      ...(lost?.spelling !== undefined && { spelling: lost.spelling }),
      ...(unnamed && { unnamed }),
    }
    return {
      ...(!isAlone && { wrote: written }),
      ...(Object.keys(kept).length > 0 && { lost: kept }),
    }
  }

  function namesWritten(change: ChangeOfRow): string[] {
    return change.kind === 'update' ? namesAt(change.cells.map(({ columnIndex }) => columnIndex)) : []
  }

  function namesAt(positions: readonly number[] = []): string[] {
    return columns.flatMap(({ key, index }) => (positions.includes(index) ? key : []))
  }

  function identityOf(cells: readonly (Cell | undefined)[]): Pick<LoggedChange, 'key' | 'isByPosition'> {
    const key = keyTextOf(cells, keyIndex)
    return key === null ? { isByPosition: true } : { key }
  }
}

type ChangeOfRow = Extract<Change, { kind: 'update' | 'delete' }>
type ResultOfRow = Extract<ChangeResult, { kind: 'update' | 'delete' }>

function isOfRow(change: Change): change is ChangeOfRow {
  return change.kind === 'update' || change.kind === 'delete'
}

/** Rows as changes before in the same batch have left them, by the number that they have by then. */
function createMadeRows() {
  let made = new Map<number, readonly Cell[]>()
  /** None stands below it. Thousands of rows come back from the top down, and each would move all that came before. */
  let lowest = 0
  return {
    get: (row: number) => made.get(row),
    set(row: number, cells: readonly Cell[]) {
      made.set(row, cells)
      lowest = Math.max(lowest, row)
    },
    insert(row: number) {
      if (row > lowest) return
      lowest++
      made = new Map([...made].map(([number, cells]) => [number >= row ? number + 1 : number, cells]))
    },
    remove(row: number) {
      if (row > lowest) return
      lowest--
      const left = [...made].filter(([number]) => number !== row)
      made = new Map(left.map(([number, cells]) => [number > row ? number - 1 : number, cells]))
    },
  }
}

function asCells(row: RowAsRead | undefined): readonly Cell[] | null {
  return row ? Array.from(row, (cell) => cell ?? null) : null
}
