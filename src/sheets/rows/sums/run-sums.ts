import type { Taker } from '../../../shares/taker.ts'
import type { Soon } from '../../../soon.ts'
import { indexedColumn } from '../query/columns/column-index.ts'
import type { Querying, WatchAsker } from '../query/querying.ts'
import { cellReader } from '../query/row-cells.ts'
import { matchingRows } from '../query/run-query.ts'
import type { IndexedSnapshot, Snapshot } from '../snapshot.ts'
import type { Column } from '../table.ts'
import { daysOf, numbersByRow, numbersOf, orderOf } from './code-numbers.ts'
import { filledNumbers } from './filled-numbers.ts'
import { addUp, countCells, findExtremes } from './fold-cells.ts'
import { countDistinct, type Groups, groupRows, returnGroupIds, type Telling } from './group-rows.ts'
import { createLeftOut, type LeftOut } from './left-out.ts'
import { type GroupOrder, sortGroups } from './sort-groups.ts'
import { createSpareRows } from './spare-rows.ts'
import type { Aggregate, DatePart, GroupKey, SumsQuery } from './sums.ts'
import { bytesOfSums, leastRowBytes, maxSumsBytes, type TooLong } from './sums-bytes.ts'
import { sumsSnapshot, type WriteCell } from './sums-snapshot.ts'

/** As the rows of a sheet of their own: those of the page. */
export interface SumsMade {
  made: Snapshot
  /** How many there are, before limit and offset. */
  total: number
  /** The cells that were left out because they do not fit, by the name of their column. */
  ignored: ReadonlyMap<string, number>
}

export type SumsQueryWithColumns = SumsQuery & { sums: { columns: readonly Column[] } }

export function runSums(
  querying: Pick<Querying, 'runSteps'>,
  taker: Taker,
  snapshot: IndexedSnapshot,
  query: SumsQueryWithColumns,
  watch?: WatchAsker,
): Soon<SumsMade | TooLong> {
  return querying.runSteps(taker, bytesOfSums(snapshot, query), () => runSumsSteps(snapshot, query), watch)
}

/** A column of the result that tells groups apart. */
interface KeyColumn {
  telling: Telling
  /** NaN for an empty cell. Only what groups are sorted by is asked for them: there may be as many groups as rows. */
  ranks(groups: Groups): Generator<void, Float64Array>
  writer(groups: Groups): WriteCell
}

const codesPerStep = 16_384

const sparePositions = createSpareRows<Uint32Array>(Uint32Array)

/** Filters and search, then groups, then what they are sorted by, then a figure for each group of the page. */
export function* runSumsSteps(
  snapshot: IndexedSnapshot,
  query: SumsQueryWithColumns,
  maxBytes = maxSumsBytes,
): Generator<void, SumsMade | TooLong> {
  const { sums, sort, limit, offset } = query
  const { aggregates, columns } = sums
  const positions = yield* matchingRows(snapshot, query, sparePositions.take)
  const leftOut = createLeftOut(snapshot)

  const keys: KeyColumn[] = []
  for (const key of sums.groupBy)
    keys.push(
      key.part === null ? byCell(snapshot, key.column) : yield* byPart(snapshot, positions, key, leftOut),
    )
  const groups = yield* groupRows(
    positions,
    keys.map(({ telling }) => telling),
  )
  const total = groups.met.length
  const shown = Math.min(limit ?? total, Math.max(0, total - offset))
  // Told at once, and not when everything has been added up.
  if (shown * leastRowBytes(columns) > maxBytes) return letGo('too long')

  const sortedBy = new Map<Aggregate, Figures>()
  const orders: GroupOrder[] = []
  for (const { column, descending } of sort) {
    const key = keys[column]
    const aggregate = aggregates[column - keys.length]
    if (key) orders.push({ ranks: yield* key.ranks(groups), descending })
    else if (aggregate) {
      const figures =
        sortedBy.get(aggregate) ?? (yield* folded(snapshot, positions, groups, aggregate, leftOut))
      sortedBy.set(aggregate, figures)
      orders.push({ ranks: yield* ranksOfFigures(snapshot, figures), descending })
    }
  }
  const page = (yield* sortGroups(groups.met, orders)).subarray(offset, offset + shown)

  const writers = keys.map((key) => key.writer(groups))
  for (const aggregate of aggregates) {
    const figures =
      sortedBy.get(aggregate) ?? (yield* folded(snapshot, positions, groups, aggregate, leftOut))
    sortedBy.delete(aggregate)
    writers.push(writerOf(snapshot, yield* ofPage(figures, page)))
  }
  const counted = yield* leftOut.counted(positions)
  letGo(null)
  const made = yield* sumsSnapshot(snapshot, { columns, writers, page }, maxBytes)
  if (made === 'too long') return made
  const named = [...counted].map(([column, cells]) => [snapshot.columns[column]?.key ?? '', cells] as const)
  return { made, total, ignored: new Map(named) }

  function letGo<T>(outcome: T): T {
    returnGroupIds(groups)
    sparePositions.returnSpare(positions)
    return outcome
  }
}

function byCell(snapshot: IndexedSnapshot, column: number): KeyColumn {
  const { codes, emptyCode } = indexedColumn(snapshot, column)
  return {
    telling: { codes, table: null, size: emptyCode + 1 },
    ranks: ({ firstPositions }) =>
      filledNumbers(firstPositions.length, (group) => {
        const code = codes[firstPositions[group] ?? 0] ?? emptyCode
        return code === emptyCode ? Number.NaN : code
      }),
    writer: ({ firstPositions }) => {
      const reader = cellReader(snapshot)
      return (group, _, into) => reader.copyCell(firstPositions[group] ?? 0, column, into)
    },
  }
}

const divisors: Record<DatePart, number> = { year: 10_000, month: 100, day: 1 }

function* byPart(
  snapshot: IndexedSnapshot,
  positions: Uint32Array,
  { column, part }: GroupKey,
  leftOut: LeftOut,
): Generator<void, KeyColumn> {
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
  const partOf = ({ firstPositions }: Groups, group: number) =>
    parts[table[codes[firstPositions[group] ?? 0] ?? emptyCode] ?? 0] ?? Number.NaN
  return {
    telling: { codes, table, size: parts.length },
    ranks: (groups) => filledNumbers(groups.firstPositions.length, (group) => partOf(groups, group)),
    writer: (groups) => (group, _, into) => into.ascii(partJson(partOf(groups, group), part ?? 'day')),
  }
}

function partJson(value: number, part: DatePart): string {
  if (Number.isNaN(value)) return 'null'
  if (part === 'year') return String(value)
  const digits = String(value).padStart(part === 'month' ? 6 : 8, '0')
  const month = `${digits.slice(0, 4)}-${digits.slice(4, 6)}`
  return part === 'month' ? `"${month}"` : `"${month}-${digits.slice(6)}"`
}

/** One for each group; or, of the least and greatest cells, where they are. */
interface Figures {
  values: Float64Array
  /** The column in which `values` are positions. */
  cellsOf: number | null
}

function* folded(
  snapshot: IndexedSnapshot,
  positions: Uint32Array,
  groups: Groups,
  { fold, column }: Aggregate,
  leftOut: LeftOut,
): Generator<void, Figures> {
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
      return { values: made.figures, cellsOf: column }
    }
  }
}

function figures(values: Float64Array): Figures {
  return { values, cellsOf: null }
}

function* ranksOfFigures(
  snapshot: IndexedSnapshot,
  { values, cellsOf }: Figures,
): Generator<void, Float64Array> {
  if (cellsOf === null) return values
  const { codes } = indexedColumn(snapshot, cellsOf)
  return yield* filledNumbers(values.length, (group) => {
    const position = values[group] ?? Number.NaN
    return Number.isNaN(position) ? position : (codes[position] ?? 0)
  })
}

/** By their place in the page: of a hundred groups, nobody has to hold the figures of a million. */
function* ofPage({ values, cellsOf }: Figures, page: Uint32Array): Generator<void, Figures> {
  return {
    values: yield* filledNumbers(page.length, (place) => values[page[place] as number] as number),
    cellsOf,
  }
}

function writerOf(snapshot: IndexedSnapshot, { values, cellsOf }: Figures): WriteCell {
  const reader = cellReader(snapshot)
  if (cellsOf === null)
    return (_, place, into) => {
      const figure = values[place] ?? Number.NaN
      into.ascii(Number.isFinite(figure) ? String(figure) : 'null')
    }
  return (_, place, into) => {
    const position = values[place] ?? Number.NaN
    if (Number.isNaN(position)) into.ascii('null')
    else reader.copyCell(position, cellsOf, into)
  }
}
