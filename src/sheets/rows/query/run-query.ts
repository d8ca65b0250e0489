import type { Clock } from '../../../clock.ts'
import type { IndexedSnapshot } from '../snapshot.ts'
import {
  type CodeVerdicts,
  codeVerdicts,
  fails,
  isDecidedByReading,
  passes,
  type Stretch,
  undecided,
} from './code-verdicts.ts'
import type { Codes } from './columns/column-index.ts'
import type { Filter, Query } from './query.ts'
import { cellReader } from './row-cells.ts'
import { createRowSearch } from './search-rows.ts'
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

/** Filters, the cheapest first, then the search, then the sort: each sees only what the former left. */
export function* runQuerySteps(snapshot: IndexedSnapshot, query: Query): Generator<void, QueryResult> {
  const rows = snapshot.rowNumbers.length
  const { filters, search, sort, offset } = query
  const limit = query.limit ?? Number.POSITIVE_INFINITY
  const isSearched = search !== null && search !== ''
  const isEveryRow = filters.length === 0 && !isSearched
  if (isEveryRow && sort.length === 0) {
    const from = Math.min(offset, rows)
    return { positions: range(from, Math.min(from + limit, rows)), total: rows }
  }
  let matching: Uint32Array | null = null
  // One after the other, so that what each takes in memory is gone before the next.
  for (const filter of filters.toSorted(readingLast))
    matching = yield* keepPassing(snapshot, matching, yield* codeVerdicts(snapshot, filter))
  if (isSearched) matching = yield* keepFound(snapshot, matching, search)
  const sorted = yield* sortPositions(snapshot, matching ?? range(0, rows), sort)
  const page = sorted.subarray(offset, Math.min(offset + limit, sorted.length))
  // A copy where it is short: whoever has it would hold a number for every row with it.
  return { positions: page.length * 2 < rows ? page.slice() : page, total: sorted.length }
}

function readingLast(one: Filter, other: Filter): number {
  return Number(isDecidedByReading(one)) - Number(isDecidedByReading(other))
}

/** Keeps what passes. Without positions, every row is looked at; with them, what is kept is written over them. */
function* keepPassing(
  snapshot: IndexedSnapshot,
  positions: Uint32Array | null,
  test: CodeVerdicts,
): Generator<void, Uint32Array> {
  if (test.tests.length > 0) yield* decideCodes(snapshot, positions, test)
  const { codes } = test.column
  const kept = positions ?? new Uint32Array(codes.length)
  const count = kept.length
  const stretch = onlyStretch(test.verdicts)
  let keptCount = 0
  for (let from = 0; from < count; from += rowsPerStep) {
    const rows = { positions, from, to: Math.min(from + rowsPerStep, count) }
    keptCount = stretch
      ? keepBetween(kept, keptCount, rows, codes, stretch)
      : keepByVerdict(kept, keptCount, rows, codes, test.verdicts)
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

function keepBetween(
  kept: Uint32Array,
  keptBefore: number,
  { positions, from, to }: LookedAt,
  codes: Codes,
  stretch: Stretch,
): number {
  const { from: lowest, to: above } = stretch
  let keptCount = keptBefore
  for (let at = from; at < to; at++) {
    const position = positions === null ? at : (positions[at] as number)
    const code = codes[position] as number
    kept[keptCount] = position
    keptCount += Number(code >= lowest) & Number(code < above)
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
  { column, verdicts, tests }: CodeVerdicts,
): Generator<void, void> {
  const reader = cellReader(snapshot)
  const count = positions ? positions.length : column.codes.length
  for (let at = 0; at < count; at++) {
    if (at % rowsPerStep === 0) yield
    const code = column.codes[positions ? (positions[at] ?? 0) : at] ?? 0
    if (verdicts[code] !== undecided) continue
    let verdict = passes
    for (const test of tests) {
      const isPassing = test(code)
      if (typeof isPassing === 'boolean' ? isPassing : yield* isPassing) continue
      verdict = fails
      break
    }
    verdicts[code] = verdict
    if (reader.isTimeToPause()) yield
  }
}

function* keepFound(
  snapshot: IndexedSnapshot,
  positions: Uint32Array | null,
  search: string,
): Generator<void, Uint32Array> {
  const reader = cellReader(snapshot)
  const isFoundAt = createRowSearch(snapshot, search)
  const kept = positions ?? new Uint32Array(snapshot.rowNumbers.length)
  const count = kept.length
  let keptCount = 0
  for (let at = 0; at < count; at++) {
    if (at % rowsPerStep === 0 || reader.isTimeToPause()) yield
    const position = positions ? (positions[at] ?? 0) : at
    const isFound = isFoundAt(position)
    if (typeof isFound === 'boolean' ? isFound : yield* isFound) kept[keptCount++] = position
  }
  return kept.subarray(0, keptCount)
}

function range(from: number, to: number): Uint32Array {
  const positions = new Uint32Array(to - from)
  for (let at = 0; at < positions.length; at++) positions[at] = from + at
  return positions
}
