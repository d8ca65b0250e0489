import type { IndexedColumn } from '../query/columns/column-index.ts'
import { type Groups, rowsPerStep } from './group-rows.ts'
import type { CodeNumbers } from './kept-tables.ts'

/** A figure for each group; NaN where there is none. */
export interface Folded {
  figures: Float64Array
  /** Cells that are not empty and were left out. */
  ignored: number
}

export function* countCells(
  positions: Uint32Array,
  { ids, count }: Groups,
  column: IndexedColumn | null,
): Generator<void, Float64Array> {
  const counts = new Float64Array(count)
  for (let from = 0; from < positions.length; from += rowsPerStep) {
    const to = Math.min(from + rowsPerStep, positions.length)
    if (column) countFilled(counts, positions, ids, column, from, to)
    else countRows(counts, ids, from, to)
    yield
  }
  return counts
}

/* Loops of their own, without a pause in them: see `group-rows.ts`. What they look up is there, so nothing is checked. */

function countRows(counts: Float64Array, ids: Uint32Array, from: number, to: number): void {
  for (let at = from; at < to; at++) {
    const group = ids[at] as number
    counts[group] = (counts[group] as number) + 1
  }
}

function countFilled(
  counts: Float64Array,
  positions: Uint32Array,
  ids: Uint32Array,
  { codes, emptyCode }: IndexedColumn,
  from: number,
  to: number,
): void {
  for (let at = from; at < to; at++) {
    if (codes[positions[at] as number] === emptyCode) continue
    const group = ids[at] as number
    counts[group] = (counts[group] as number) + 1
  }
}

/** What is lost to rounding at each step is kept beside the sum (Neumaier), so that the order of rows does not matter. */
export function* addUp(
  positions: Uint32Array,
  { ids, count }: Groups,
  column: ColumnOfNumbers,
  wanted: 'sum' | 'avg',
): Generator<void, Folded> {
  const made = {
    sums: new Float64Array(count),
    rests: new Float64Array(count),
    counts: new Uint32Array(count),
    ignored: 0,
  }
  for (let from = 0; from < positions.length; from += rowsPerStep) {
    addUpStretch(made, positions, ids, column, from, Math.min(from + rowsPerStep, positions.length))
    yield
  }
  const { sums, rests, counts, ignored } = made
  for (let group = 0; group < count; group++) {
    const sum = (sums[group] ?? 0) + (rests[group] ?? 0)
    sums[group] = wanted === 'sum' ? rounded(sum) : rounded(sum / (counts[group] ?? 0))
  }
  return { figures: sums, ignored }
}

/** NaN for what is no number. */
interface ColumnOfNumbers extends Pick<IndexedColumn, 'codes' | 'emptyCode'> {
  numbers: CodeNumbers
  /** The same by position, where that is quicker. */
  byRow: Float64Array | null
}

interface SumsUnderWay {
  sums: Float64Array
  rests: Float64Array
  counts: Uint32Array
  ignored: number
}

function addUpStretch(
  made: SumsUnderWay,
  positions: Uint32Array,
  ids: Uint32Array,
  { codes, emptyCode, numbers, byRow }: ColumnOfNumbers,
  from: number,
  to: number,
): void {
  const { sums, rests, counts } = made
  let ignored = 0
  for (let at = from; at < to; at++) {
    const position = positions[at] as number
    const number = (byRow === null ? numbers[codes[position] as number] : byRow[position]) as number
    if (Number.isNaN(number)) {
      if (codes[position] !== emptyCode) ignored++
      continue
    }
    const group = ids[at] as number
    const sum = sums[group] as number
    const total = sum + number
    const lost = Math.abs(sum) >= Math.abs(number) ? sum - total + number : number - total + sum
    sums[group] = total
    rests[group] = (rests[group] as number) + lost
    counts[group] = (counts[group] as number) + 1
  }
  made.ignored += ignored
}

/** To as many digits as a spreadsheet shows: the sum of 0.1 and 0.2 is 0.3. Whole numbers stay as they are. */
function rounded(sum: number): number {
  return Number.isInteger(sum) || !Number.isFinite(sum) ? sum : Number(sum.toPrecision(15))
}

/** The positions of the least or greatest cell of each group; `order` tells which it is, and is NaN for what does not fit. */
export function* findExtremes(
  positions: Uint32Array,
  { ids, count }: Groups,
  column: IndexedColumn,
  order: CodeNumbers,
  wanted: 'min' | 'max',
): Generator<void, Folded> {
  const made = {
    best: new Float64Array(count).fill(Number.NaN),
    bestPositions: new Float64Array(count).fill(Number.NaN),
    sign: wanted === 'min' ? 1 : -1,
    ignored: 0,
  }
  for (let from = 0; from < positions.length; from += rowsPerStep) {
    extremesOfStretch(
      made,
      positions,
      ids,
      column,
      order,
      from,
      Math.min(from + rowsPerStep, positions.length),
    )
    yield
  }
  return { figures: made.bestPositions, ignored: made.ignored }
}

interface ExtremesUnderWay {
  best: Float64Array
  bestPositions: Float64Array
  sign: number
  ignored: number
}

function extremesOfStretch(
  made: ExtremesUnderWay,
  positions: Uint32Array,
  ids: Uint32Array,
  { codes, emptyCode }: IndexedColumn,
  order: CodeNumbers,
  from: number,
  to: number,
): void {
  const { best, bestPositions, sign } = made
  let ignored = 0
  for (let at = from; at < to; at++) {
    const position = positions[at] as number
    const code = codes[position] as number
    const number = order[code] as number
    if (Number.isNaN(number)) {
      if (code !== emptyCode) ignored++
      continue
    }
    const group = ids[at] as number
    // Also where nothing was found yet: a comparison with NaN is false.
    if (sign * number >= sign * (best[group] as number)) continue
    best[group] = number
    bestPositions[group] = position
  }
  made.ignored += ignored
}
