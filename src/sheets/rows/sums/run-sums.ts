import type { Soon } from '../../../soon.ts'
import type { Cell } from '../grid.ts'
import { indexedColumn } from '../query/columns/column-index.ts'
import type { Querying } from '../query/querying.ts'
import { cellReader } from '../query/row-cells.ts'
import { matchingRows } from '../query/run-query.ts'
import type { IndexedSnapshot, Snapshot } from '../snapshot.ts'
import type { Column } from '../table.ts'
import { daysOf, numbersByRow, numbersOf, orderOf } from './code-numbers.ts'
import { addUp, countCells, findExtremes } from './fold-cells.ts'
import { countDistinct, type Groups, groupRows, returnGroupIds, type Telling } from './group-rows.ts'
import { createLeftOut, type LeftOut } from './left-out.ts'
import { type GroupOrder, sortGroups } from './sort-groups.ts'
import { createSpareRows } from './spare-rows.ts'
import type { Aggregate, DatePart, GroupKey, SumsQuery } from './sums.ts'
import { sumsSnapshot } from './sums-snapshot.ts'

export interface SumsResult {
  /** Those of the page, cells in the order of the result's columns. */
  rows: Cell[][]
  /** How many there are, before limit and offset. */
  total: number
  /** By column of the sheet: cells that were left out because they do not fit. */
  ignored: ReadonlyMap<number, number>
}

/** As the rows of a sheet of their own. */
export interface SumsMade {
  made: Snapshot
  total: number
  /** By the name of the column. */
  ignored: ReadonlyMap<string, number>
}

/** Groups, tables to find them in, and the figures of each, where every row is a group. */
const bytesPerRow = 64

export function runSums(
  querying: Pick<Querying, 'runSteps'>,
  accountId: string,
  snapshot: IndexedSnapshot,
  query: SumsQuery & { sums: { columns: readonly Column[] } },
): Soon<SumsMade> {
  return querying.runSteps(accountId, snapshot.rowNumbers.length * bytesPerRow, function* () {
    const { rows, total, ignored } = yield* runSumsSteps(snapshot, query)
    const made = yield* sumsSnapshot(query.sums.columns, rows, snapshot.stale)
    const named = [...ignored].map(([column, cells]) => [snapshot.columns[column]?.key ?? '', cells] as const)
    return { made, total, ignored: new Map(named) }
  })
}

/** A column of the result, by the id of a group. */
interface ResultColumn {
  /** NaN for an empty cell. Only what groups are sorted by is asked for them: there may be as many groups as rows. */
  ranks(): Generator<void, Float64Array>
  cell(group: number): Cell
}

const groupsPerStep = 8_192
const codesPerStep = 16_384

function* ranksOf(groups: number, rankOf: (group: number) => number): Generator<void, Float64Array> {
  const ranks = new Float64Array(groups)
  for (let from = 0; from < groups; from += groupsPerStep) {
    const to = Math.min(from + groupsPerStep, groups)
    for (let group = from; group < to; group++) ranks[group] = rankOf(group)
    yield
  }
  return ranks
}

const rowsPerStep = 512
const sparePositions = createSpareRows<Uint32Array>(Uint32Array)

/** Filters and search, then groups, then a figure for each, then the order and the page. */
export function* runSumsSteps(snapshot: IndexedSnapshot, query: SumsQuery): Generator<void, SumsResult> {
  const { sums, sort, limit, offset } = query
  const positions = yield* matchingRows(snapshot, query, sparePositions.take)
  const leftOut = createLeftOut(snapshot)

  const tellings: Telling[] = []
  const labels: ((groups: Groups) => ResultColumn)[] = []
  for (const key of sums.groupBy) {
    const { telling, label } =
      key.part === null ? byCell(snapshot, key.column) : yield* byPart(snapshot, positions, key, leftOut)
    tellings.push(telling)
    labels.push(label)
  }
  const groups = yield* groupRows(positions, tellings)
  const columns = labels.map((label) => label(groups))
  for (const aggregate of sums.aggregates)
    columns.push(yield* folded(snapshot, positions, groups, aggregate, leftOut))
  returnGroupIds(groups)
  const ignored = yield* leftOut.counted(positions)
  sparePositions.returnSpare(positions)

  const orders: GroupOrder[] = []
  for (const { column, descending } of sort) {
    const sorted = columns[column]
    orders.push({ ranks: sorted ? yield* sorted.ranks() : new Float64Array(groups.idsTo), descending })
  }
  const sorted = yield* sortGroups(groups.met, orders)
  const count = sorted.length
  const page = sorted.subarray(Math.min(offset, count), Math.min(offset + (limit ?? count), count))
  const rows: Cell[][] = []
  for (const group of page) {
    rows.push(columns.map((column) => column.cell(group)))
    if (rows.length % rowsPerStep === 0) yield
  }
  return { rows, total: count, ignored }
}

interface Told {
  telling: Telling
  label(groups: Groups): ResultColumn
}

function byCell(snapshot: IndexedSnapshot, column: number): Told {
  const { codes, emptyCode } = indexedColumn(snapshot, column)
  return {
    telling: { codes, table: null, size: emptyCode + 1 },
    label: ({ firstPositions }) => ({
      ranks: () =>
        ranksOf(firstPositions.length, (group) => {
          const code = codes[firstPositions[group] ?? 0] ?? emptyCode
          return code === emptyCode ? Number.NaN : code
        }),
      cell: (group) => cellReader(snapshot).cell(firstPositions[group] ?? 0, column),
    }),
  }
}

const divisors: Record<DatePart, number> = { year: 10_000, month: 100, day: 1 }

function* byPart(
  snapshot: IndexedSnapshot,
  positions: Uint32Array,
  { column, part }: GroupKey,
  leftOut: LeftOut,
): Generator<void, Told> {
  const { codes, emptyCode } = indexedColumn(snapshot, column)
  const divisor = divisors[part ?? 'day']
  const days = yield* daysOf(snapshot, column)
  const numberOf = new Map<number, number>()
  const parts: number[] = [Number.NaN]
  const table = new Uint32Array(emptyCode + 1)
  for (let code = 0; code < emptyCode; code++) {
    const day = days[code] ?? Number.NaN
    if (Number.isNaN(day)) continue
    const value = Math.floor(day / divisor)
    let number = numberOf.get(value)
    if (number === undefined) {
      number = parts.push(value) - 1
      numberOf.set(value, number)
    }
    table[code] = number
    if (code % codesPerStep === 0) yield
  }
  let others = 0
  for (let at = 0; at < positions.length; at++) {
    const code = codes[positions[at] ?? 0] ?? emptyCode
    if (code !== emptyCode && table[code] === 0) others++
    if (at % codesPerStep === 0) yield
  }
  leftOut.note(column, 'of dates', others, (code) => table[code] === 0)
  return {
    telling: { codes, table, size: parts.length },
    label({ firstPositions }) {
      const partOf = (group: number) =>
        parts[table[codes[firstPositions[group] ?? 0] ?? emptyCode] ?? 0] ?? Number.NaN
      return {
        ranks: () => ranksOf(firstPositions.length, partOf),
        cell: (group) => partCell(partOf(group), part ?? 'day'),
      }
    },
  }
}

function partCell(value: number, part: DatePart): Cell {
  if (Number.isNaN(value)) return null
  if (part === 'year') return value
  const digits = String(value).padStart(part === 'month' ? 6 : 8, '0')
  const month = `${digits.slice(0, 4)}-${digits.slice(4, 6)}`
  return part === 'month' ? month : `${month}-${digits.slice(6)}`
}

function* folded(
  snapshot: IndexedSnapshot,
  positions: Uint32Array,
  groups: Groups,
  { fold, column }: Aggregate,
  leftOut: LeftOut,
): Generator<void, ResultColumn> {
  if (column === null) return figures(yield* countCells(positions, groups, null))
  const indexed = indexedColumn(snapshot, column)
  switch (fold) {
    case 'count':
      return figures(yield* countCells(positions, groups, indexed, indexed.emptyCode))
    case 'count_distinct': {
      const telling = { codes: indexed.codes, table: null, size: indexed.emptyCode + 1 }
      return figures(yield* countDistinct(positions, groups, telling))
    }
    case 'sum':
    case 'avg': {
      const numbers = yield* numbersOf(snapshot, column)
      const byRow = yield* numbersByRow(snapshot, column, numbers)
      const made = yield* addUp(positions, groups, { ...indexed, numbers, byRow }, fold)
      leftOut.note(column, 'of numbers', made.ignored, (code) => code >= indexed.textsFrom)
      return figures(made.figures)
    }
    case 'min':
    case 'max': {
      const order = yield* orderOf(snapshot, column)
      const made = yield* findExtremes(positions, groups, indexed, order, fold)
      leftOut.note(column, 'of an order', made.ignored, (code) => Number.isNaN(order[code]))
      return extremes(snapshot, column, made.figures)
    }
  }
}

function figures(byGroup: Float64Array): ResultColumn {
  return {
    // biome-ignore lint/correctness/useYield: they are there already.
    *ranks() {
      return byGroup
    },
    cell(group) {
      const figure = byGroup[group] ?? Number.NaN
      return Number.isFinite(figure) ? figure : null
    },
  }
}

function extremes(snapshot: IndexedSnapshot, column: number, positions: Float64Array): ResultColumn {
  const { codes } = indexedColumn(snapshot, column)
  return {
    ranks: () =>
      ranksOf(positions.length, (group) => {
        const position = positions[group] ?? Number.NaN
        return Number.isNaN(position) ? position : (codes[position] ?? 0)
      }),
    cell(group) {
      const position = positions[group] ?? Number.NaN
      return Number.isNaN(position) ? null : cellReader(snapshot).cell(position, column)
    },
  }
}
