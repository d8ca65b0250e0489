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
  for (let at = 0; at < positions.length; at++) {
    if (!column || column.codes[positions[at] ?? 0] !== column.emptyCode)
      counts[ids[at] ?? 0] = (counts[ids[at] ?? 0] ?? 0) + 1
    if (at % rowsPerStep === 0) yield
  }
  return counts
}

/** What is lost to rounding at each step is kept beside the sum (Neumaier), so that the order of rows does not matter. */
export function* addUp(
  positions: Uint32Array,
  { ids, count }: Groups,
  { codes, emptyCode }: IndexedColumn,
  numbers: CodeNumbers,
  wanted: 'sum' | 'avg',
): Generator<void, Folded> {
  const sums = new Float64Array(count)
  const rests = new Float64Array(count)
  const counts = new Uint32Array(count)
  let ignored = 0
  for (let from = 0; from < positions.length; from += rowsPerStep) {
    const to = Math.min(from + rowsPerStep, positions.length)
    for (let at = from; at < to; at++) {
      const code = codes[positions[at] ?? 0] ?? 0
      const number = numbers[code] ?? 0
      if (Number.isNaN(number)) {
        if (code !== emptyCode) ignored++
        continue
      }
      const group = ids[at] ?? 0
      const sum = sums[group] ?? 0
      const total = sum + number
      const lost = Math.abs(sum) >= Math.abs(number) ? sum - total + number : number - total + sum
      sums[group] = total
      rests[group] = (rests[group] ?? 0) + lost
      counts[group] = (counts[group] ?? 0) + 1
    }
    yield
  }
  for (let group = 0; group < count; group++) {
    const sum = (sums[group] ?? 0) + (rests[group] ?? 0)
    sums[group] = wanted === 'sum' ? rounded(sum) : rounded(sum / (counts[group] ?? 0))
  }
  return { figures: sums, ignored }
}

/** To as many digits as a spreadsheet shows: the sum of 0.1 and 0.2 is 0.3. Whole numbers stay as they are. */
function rounded(sum: number): number {
  return Number.isInteger(sum) || !Number.isFinite(sum) ? sum : Number(sum.toPrecision(15))
}

/** The positions of the least or greatest cell of each group; `order` tells which it is, and is NaN for what does not fit. */
export function* findExtremes(
  positions: Uint32Array,
  { ids, count }: Groups,
  { codes, emptyCode }: IndexedColumn,
  order: CodeNumbers,
  wanted: 'min' | 'max',
): Generator<void, Folded> {
  const best = new Float64Array(count).fill(Number.NaN)
  const bestPositions = new Float64Array(count).fill(Number.NaN)
  const sign = wanted === 'min' ? 1 : -1
  let ignored = 0
  for (let from = 0; from < positions.length; from += rowsPerStep) {
    const to = Math.min(from + rowsPerStep, positions.length)
    for (let at = from; at < to; at++) {
      const position = positions[at] ?? 0
      const code = codes[position] ?? 0
      const number = order[code] ?? 0
      if (Number.isNaN(number)) {
        if (code !== emptyCode) ignored++
        continue
      }
      const group = ids[at] ?? 0
      // Also where nothing was found yet: a comparison with NaN is false.
      if (sign * number >= sign * (best[group] ?? 0)) continue
      best[group] = number
      bestPositions[group] = position
    }
    yield
  }
  return { figures: bestPositions, ignored }
}
