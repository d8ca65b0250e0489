import type { Clock } from '../../../clock.ts'
import type { IndexedSnapshot } from '../snapshot.ts'
import {
  type CodeVerdicts,
  codeVerdicts,
  fails,
  isDecidedByReading,
  passes,
  rowTestsOf,
  type Stretch,
  undecided,
  type VerdictTable,
} from './code-verdicts.ts'
import type { Codes } from './columns/column-index.ts'
import type { Filter, Query } from './query.ts'
import { cellReader, type RowCellReader } from './row-cells.ts'
import { createRowSearch, type RowTest } from './search-rows.ts'
import { sortPositions } from './sort-positions.ts'

export interface QueryResult {
  /** Positions in the list of the rows of the page, in order. */
  positions: Uint32Array
  /** How many rows match, before limit and offset. */
  total: number
}

/** A step should be done in a millisecond or two: so many looks at a code, or as much text as the reader of cells allows. */
const rowsPerStep = 65_536

/** Runs a query in one go: for tests, and where nobody waits. */
export function runQuery(snapshot: IndexedSnapshot, query: Query): QueryResult {
  const steps = runQuerySteps(snapshot, query)
  for (;;) {
    const step = steps.next()
    if (step.done) return step.value
  }
}

/** No longer than a round of `loop-turns.ts`. */
const usualSliceMs = 2

/** Steps, as many together as take `sliceMs`: a search through 1,000,000 rows must hold up nobody else. */
export function* inSlices<T>(
  steps: Generator<void, T>,
  clock: Pick<Clock, 'elapsedMs'>,
  sliceMs = usualSliceMs,
): Generator<void, T> {
  for (;;) {
    const begunMs = clock.elapsedMs()
    do {
      const step = steps.next()
      if (step.done) return step.value
    } while (clock.elapsedMs() - begunMs < sliceMs)
    yield
  }
}

/** Filters and search, then the sort, then the page. */
export function* runQuerySteps(snapshot: IndexedSnapshot, query: Query): Generator<void, QueryResult> {
  const rows = snapshot.rowNumbers.length
  const { filters, sort, offset } = query
  const limit = query.limit ?? Number.POSITIVE_INFINITY
  const isEveryRow = filters.length === 0 && !isSearched(query)
  if (isEveryRow && sort.length === 0) {
    const from = Math.min(offset, rows)
    const to = Math.min(from + limit, rows)
    return { positions: fillRange(new Uint32Array(to - from), from), total: rows }
  }
  const matching = yield* matchingRows(snapshot, query, (count) => new Uint32Array(count))
  const sorted = yield* sortPositions(snapshot, matching, sort)
  const page = sorted.subarray(offset, Math.min(offset + limit, sorted.length))
  // A copy where it is short: whoever has it would hold a number for every row with it.
  return { positions: page.length * 2 < rows ? page.slice() : page, total: sorted.length }
}

/**
 * Positions of all rows that match, in their order, in the room that is given for as many as there are in the sheet. Filters come
 * first, the cheapest before the others, then the search: each sees only what the former left.
 */
export function* matchingRows(
  snapshot: IndexedSnapshot,
  query: Pick<Query, 'filters' | 'search'>,
  roomFor: (rows: number) => Uint32Array,
): Generator<void, Uint32Array> {
  const room = roomFor(snapshot.rowNumbers.length)
  let matching: Uint32Array | null = null
  // One after the other, so that what each takes in memory is gone before the next.
  for (const filter of query.filters.toSorted(readingLast)) {
    const tests = rowTestsOf(snapshot, filter)
    for (const test of tests ?? []) matching = yield* keepFound(snapshot, matching, test, room)
    if (!tests) matching = yield* keepPassing(snapshot, matching, yield* codeVerdicts(snapshot, filter), room)
  }
  if (isSearched(query))
    matching = yield* keepFound(snapshot, matching, createRowSearch(snapshot, query.search), room)
  return matching ?? fillRange(room, 0)
}

function isSearched<Q extends Pick<Query, 'search'>>(query: Q): query is Q & { search: string } {
  return query.search !== null && query.search !== ''
}

function readingLast(one: Filter, other: Filter): number {
  return Number(isDecidedByReading(one)) - Number(isDecidedByReading(other))
}

/** Keeps what passes. Without positions, every row is looked at; with them, what is kept is written over them: they lie in `kept`. */
function* keepPassing(
  snapshot: IndexedSnapshot,
  positions: Uint32Array | null,
  test: CodeVerdicts,
  kept: Uint32Array,
): Generator<void, Uint32Array> {
  const isTable = 'verdicts' in test
  if (isTable && test.tests.length > 0) yield* decideCodes(snapshot, positions, test)
  const { codes } = test.column
  const count = positions ? positions.length : codes.length
  const stretch = isTable ? onlyStretch(test.verdicts) : test.passing
  let keptCount = 0
  for (let from = 0; from < count; from += rowsPerStep) {
    const to = Math.min(from + rowsPerStep, count)
    if (stretch && positions) keptCount = keepBetween(kept, keptCount, positions, from, to, codes, stretch)
    else if (stretch) keptCount = keepRowsBetween(kept, keptCount, from, to, codes, stretch)
    else if (isTable) {
      keptCount = keepByVerdict(kept, keptCount, { positions, from, to }, codes, test.verdicts)
    }
    yield
  }
  return kept.subarray(0, keptCount)
}

/** The codes that pass, where they are one stretch: two comparisons take less time than a look into a long table. */
function onlyStretch(verdicts: Uint8Array): Stretch | null {
  const from = verdicts.indexOf(passes)
  const to = verdicts.lastIndexOf(passes) + 1
  const between = verdicts.subarray(Math.max(from, 0), to)
  return between.includes(fails) || between.includes(undecided) ? null : { from, to }
}

interface LookedAt {
  /** null: every row. */
  positions: Uint32Array | null
  from: number
  to: number
}

/*
 * Loops of their own, because within a generator they take several times as long, and without a branch: which rows pass cannot be
 * foreseen, so each is written, and the next goes over those that do not.
 */

/** A code from `lowest` on and below `above` makes both differences negative, and only then is the highest bit of both set. */
function keepRowsBetween(
  kept: Uint32Array,
  keptBefore: number,
  from: number,
  to: number,
  codes: Codes,
  { from: lowest, to: above }: Stretch,
): number {
  const belowLowest = lowest - 1
  let keptCount = keptBefore
  for (let at = from; at < to; at++) {
    const code = codes[at] as number
    kept[keptCount] = at
    keptCount += ((belowLowest - code) & (code - above)) >>> 31
  }
  return keptCount
}

function keepBetween(
  kept: Uint32Array,
  keptBefore: number,
  positions: Uint32Array,
  from: number,
  to: number,
  codes: Codes,
  { from: lowest, to: above }: Stretch,
): number {
  const belowLowest = lowest - 1
  let keptCount = keptBefore
  for (let at = from; at < to; at++) {
    const position = positions[at] as number
    const code = codes[position] as number
    kept[keptCount] = position
    keptCount += ((belowLowest - code) & (code - above)) >>> 31
  }
  return keptCount
}

function keepByVerdict(
  kept: Uint32Array,
  keptBefore: number,
  { positions, from, to }: LookedAt,
  codes: Codes,
  verdicts: Uint8Array,
): number {
  let keptCount = keptBefore
  for (let at = from; at < to; at++) {
    const position = positions === null ? at : (positions[at] as number)
    kept[keptCount] = position
    keptCount += Number(verdicts[codes[position] as number] === passes)
  }
  return keptCount
}

/** Reads no cell that no row left has, and none twice. */
function* decideCodes(
  snapshot: IndexedSnapshot,
  positions: Uint32Array | null,
  table: VerdictTable,
): Generator<void, void> {
  const reader = cellReader(snapshot)
  const count = positions ? positions.length : table.column.codes.length
  for (let at = 0; at < count; ) {
    at = decideUntilPause(table, { positions, from: at, to: Math.min(at + rowsPerStep, count) }, reader)
    yield
    if (at < count) yield* decideCode(table, codeAt(table, positions, at))
  }
}

/** Goes as far as nobody waits too long and no cell is too long to be read in one go; answers with where to go on. */
function decideUntilPause(
  table: VerdictTable,
  { positions, from, to }: LookedAt,
  reader: RowCellReader,
): number {
  const { verdicts, tests } = table
  for (let at = from; at < to; at++) {
    const code = codeAt(table, positions, at)
    if (verdicts[code] !== undecided) continue
    let verdict = passes
    for (const test of tests) {
      const isPassing = test(code)
      if (typeof isPassing !== 'boolean') return at
      if (isPassing) continue
      verdict = fails
      break
    }
    verdicts[code] = verdict
    if (reader.isTimeToPause()) return at + 1
  }
  return to
}

function* decideCode({ verdicts, tests }: VerdictTable, code: number): Generator<void, void> {
  if (verdicts[code] !== undecided) return
  for (const test of tests) {
    const isPassing = test(code)
    if (typeof isPassing === 'boolean' ? isPassing : yield* isPassing) continue
    verdicts[code] = fails
    return
  }
  verdicts[code] = passes
}

function codeAt({ column: { codes } }: VerdictTable, positions: Uint32Array | null, at: number): number {
  return codes[positions ? (positions[at] ?? 0) : at] ?? 0
}

function* keepFound(
  snapshot: IndexedSnapshot,
  positions: Uint32Array | null,
  test: RowTest,
  kept: Uint32Array,
): Generator<void, Uint32Array> {
  const found: Found = { kept, count: 0, test, reader: cellReader(snapshot) }
  const count = positions ? positions.length : snapshot.rowNumbers.length
  for (let at = 0; at < count; ) {
    at = findUntilPause(found, { positions, from: at, to: Math.min(at + rowsPerStep, count) })
    yield
    if (at === count) break
    const position = positions ? (positions[at] ?? 0) : at
    const isFound = test.holds(position)
    if (typeof isFound === 'boolean' ? isFound : yield* isFound) kept[found.count++] = position
    at++
  }
  return kept.subarray(0, found.count)
}

interface Found {
  kept: Uint32Array
  count: number
  test: RowTest
  reader: RowCellReader
}

/** As `decideUntilPause`. */
function findUntilPause(found: Found, { positions, from, to }: LookedAt): number {
  const { kept, test, reader } = found
  for (let at = from; at < to; at++) {
    if (positions === null) at = test.firstOpen(at)
    if (at >= to) return to
    if (reader.isTimeToPause()) return at
    const position = positions ? (positions[at] ?? 0) : at
    const isFound = test.holds(position)
    if (typeof isFound !== 'boolean') return at
    if (isFound) kept[found.count++] = position
  }
  return to
}

function fillRange(positions: Uint32Array, from: number): Uint32Array {
  for (let at = 0; at < positions.length; at++) positions[at] = from + at
  return positions
}
