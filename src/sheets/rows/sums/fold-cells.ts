import type { Codes, IndexedColumn } from '../query/columns/column-index.ts'
import { filledNumbers, sameNumbers } from './filled-numbers.ts'
import { type Groups, rowsPerStep } from './group-rows.ts'
import type { CodeNumbers } from './kept-tables.ts'

/** A figure for each group; NaN where there is none. */
export interface Folded {
  figures: Float64Array
  /** Cells that are not empty and were left out. */
  ignored: number
}

/** Cells with a code below `codesTo`; without a column, rows. */
export function* countCells(
  positions: Uint32Array,
  { ids, idsTo, rowCounts }: Groups,
  column: Pick<IndexedColumn, 'codes'> | null,
  codesTo = 0,
): Generator<void, Float64Array> {
  if (column === null && rowCounts !== null)
    return yield* filledNumbers(rowCounts.length, (id) => rowCounts[id] as number)
  const counts = new Int32Array(idsTo)
  for (let from = 0; from < positions.length; from += rowsPerStep) {
    const to = Math.min(from + rowsPerStep, positions.length)
    if (column) countBelow(counts, positions, ids, column.codes, codesTo, from, to)
    else countRows(counts, ids, from, to)
    yield
  }
  return yield* filledNumbers(idsTo, (id) => counts[id] as number)
}

/** Over all groups, cells with a code from `codesFrom` to `codesTo`. */
function* countBetween(
  positions: Uint32Array,
  { codes }: IndexedColumn,
  codesFrom: number,
  codesTo: number,
): Generator<void, number> {
  let count = 0
  for (let from = 0; from < positions.length; from += rowsPerStep) {
    const to = Math.min(from + rowsPerStep, positions.length)
    count += countStretchBetween(positions, codes, codesFrom, codesTo, from, to)
    yield
  }
  return count
}

/* Loops of their own, without a pause in them: see `group-rows.ts`. What they look up is there, so nothing is checked. */

function countRows(counts: Int32Array, ids: Int32Array, from: number, to: number): void {
  for (let at = from; at < to; at++) {
    const group = ids[at] as number
    counts[group] = (counts[group] as number) + 1
  }
}

function countBelow(
  counts: Int32Array,
  positions: Uint32Array,
  ids: Int32Array,
  codes: Codes,
  codesTo: number,
  from: number,
  to: number,
): void {
  for (let at = from; at < to; at++) {
    const group = ids[at] as number
    const isCounted = (codes[positions[at] as number] as number) < codesTo
    counts[group] = (counts[group] as number) + Number(isCounted)
  }
}

function countStretchBetween(
  positions: Uint32Array,
  codes: Codes,
  codesFrom: number,
  codesTo: number,
  from: number,
  to: number,
): number {
  let count = 0
  for (let at = from; at < to; at++) {
    const code = codes[positions[at] as number] as number
    count += Number(code >= codesFrom) & Number(code < codesTo)
  }
  return count
}

/** What is lost to rounding at each step is kept beside the sum, so that the order of rows does not matter. */
export function* addUp(
  positions: Uint32Array,
  groups: Groups,
  column: ColumnOfNumbers,
  wanted: 'sum' | 'avg',
): Generator<void, Folded> {
  const { ids, idsTo } = groups
  const { codes, numbers, byRow, textsFrom, emptyCode } = column
  const sums = new Float64Array(idsTo)
  const rests = new Float64Array(idsTo)
  for (let from = 0; from < positions.length; from += rowsPerStep) {
    const to = Math.min(from + rowsPerStep, positions.length)
    if (byRow) addUpByRow(sums, rests, positions, ids, byRow, from, to)
    else addUpByCode(sums, rests, positions, ids, codes, numbers, from, to)
    yield
  }
  const hasOthers = textsFrom < emptyCode
  const ignored = hasOthers ? yield* countBetween(positions, column, textsFrom, emptyCode) : 0
  const counts = wanted === 'avg' ? yield* countCells(positions, groups, column, textsFrom) : null
  for (let group = 0; group < idsTo; group++) {
    const sum = roundSum((sums[group] ?? 0) + (rests[group] ?? 0))
    sums[group] = counts === null ? sum : roundSum(sum / (counts[group] ?? 0))
    if (group % roundedPerStep === roundedPerStep - 1) yield
  }
  return { figures: sums, ignored }
}

interface ColumnOfNumbers extends IndexedColumn {
  /** 0 for what is no number: to ask for each row whether it is one takes longer than to add it. */
  numbers: CodeNumbers
  /** Numbers by position, where that is quicker. */
  byRow: Float64Array | null
}

/*
 * What is lost is exact, whichever of the two is greater, and takes no comparison (Knuth, Møller). The same twice, because a choice
 * between the two ways to a number would be made for every row.
 */

function addUpByRow(
  sums: Float64Array,
  rests: Float64Array,
  positions: Uint32Array,
  ids: Int32Array,
  byRow: Float64Array,
  from: number,
  to: number,
): void {
  for (let at = from; at < to; at++) {
    const number = byRow[positions[at] as number] as number
    const group = ids[at] as number
    const sum = sums[group] as number
    const total = sum + number
    const added = total - sum
    sums[group] = total
    rests[group] = (rests[group] as number) + (sum - (total - added) + (number - added))
  }
}

function addUpByCode(
  sums: Float64Array,
  rests: Float64Array,
  positions: Uint32Array,
  ids: Int32Array,
  codes: Codes,
  numbers: CodeNumbers,
  from: number,
  to: number,
): void {
  for (let at = from; at < to; at++) {
    const number = numbers[codes[positions[at] as number] as number] as number
    const group = ids[at] as number
    const sum = sums[group] as number
    const total = sum + number
    const added = total - sum
    sums[group] = total
    rests[group] = (rests[group] as number) + (sum - (total - added) + (number - added))
  }
}

/** To round takes a hundred times as long as to add. */
const roundedPerStep = 2_048

/** To as many digits as a spreadsheet shows: the sum of 0.1 and 0.2 is 0.3. Whole numbers stay as they are. */
function roundSum(sum: number): number {
  return Number.isInteger(sum) || !Number.isFinite(sum) ? sum : Number(sum.toPrecision(15))
}

/** The positions of the least or greatest cell of each group; `order` tells which it is, and is NaN for what does not fit. */
export function* findExtremes(
  positions: Uint32Array,
  { ids, idsTo }: Groups,
  column: IndexedColumn,
  order: CodeNumbers,
  wanted: 'min' | 'max',
): Generator<void, Folded> {
  const made = {
    best: yield* sameNumbers(idsTo, Number.NaN),
    bestPositions: yield* sameNumbers(idsTo, Number.NaN),
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
  ids: Int32Array,
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
