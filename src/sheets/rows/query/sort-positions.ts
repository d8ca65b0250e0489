import type { IndexedSnapshot } from '../snapshot.ts'
import { type IndexedColumn, indexedColumn } from './columns/column-index.ts'
import type { SortKey } from './query.ts'

/** More codes than fit are sorted by their lower bits first, then by the higher. */
const digitBits = 16
const digitMask = 2 ** digitBits - 1
const rowsPerStep = 32_768
/** Up to this many rows are sorted in a moment. */
const fewRows = 8_192

/**
 * Sorts positions by counting, the last key first: each pass is stable, so its order stays where the next one ties.
 * The time grows with the rows, not with their logarithm, and no step takes long. `positions` is written over.
 */
export function* sortPositions(
  snapshot: IndexedSnapshot,
  positions: Uint32Array,
  sort: readonly SortKey[],
): Generator<void, Uint32Array> {
  let sorted = positions
  let spare: Uint32Array | null = null
  for (const { column, descending } of sort.toReversed()) {
    const indexed = indexedColumn(snapshot, column)
    if (sorted.length <= fewRows && sorted.length * 8 < indexed.emptyCode) {
      sorted = sortFew(sorted, indexed, descending)
      continue
    }
    for (const shift of indexed.emptyCode > digitMask ? [0, digitBits] : [0]) {
      spare ??= new Uint32Array(sorted.length)
      yield* countingPass(sorted, spare, indexed, descending, shift)
      ;[sorted, spare] = [spare, sorted]
    }
  }
  return sorted
}

/** Few rows with many codes are sorted sooner than the codes are counted. The place in the key keeps it stable. */
function sortFew(
  positions: Uint32Array,
  { codes, emptyCode }: IndexedColumn,
  descending: boolean,
): Uint32Array {
  const rows = positions.length
  const keys = new Float64Array(rows)
  for (let at = 0; at < rows; at++)
    keys[at] = rankOf(codes[positions[at] ?? 0] ?? 0, emptyCode, descending) * rows + at
  return Uint32Array.from(keys.sort(), (key) => positions[key % rows] ?? 0)
}

function* countingPass(
  positions: Uint32Array,
  sorted: Uint32Array,
  { codes, emptyCode }: IndexedColumn,
  descending: boolean,
  shift: number,
): Generator<void, void> {
  const starts = new Uint32Array(Math.min(emptyCode, digitMask) + 2)
  for (let from = 0; from < positions.length; from += rowsPerStep) {
    const to = Math.min(from + rowsPerStep, positions.length)
    for (let at = from; at < to; at++) {
      const digit = (rankOf(codes[positions[at] ?? 0] ?? 0, emptyCode, descending) >>> shift) & digitMask
      starts[digit + 1] = (starts[digit + 1] ?? 0) + 1
    }
    yield
  }
  for (let digit = 1; digit < starts.length; digit++)
    starts[digit] = (starts[digit] ?? 0) + (starts[digit - 1] ?? 0)
  for (let from = 0; from < positions.length; from += rowsPerStep) {
    const to = Math.min(from + rowsPerStep, positions.length)
    for (let at = from; at < to; at++) {
      const position = positions[at] ?? 0
      const digit = (rankOf(codes[position] ?? 0, emptyCode, descending) >>> shift) & digitMask
      const place = starts[digit] ?? 0
      sorted[place] = position
      starts[digit] = place + 1
    }
    yield
  }
}

/** Empty cells have the highest code, and keep it when the others are turned round. */
function rankOf(code: number, emptyCode: number, descending: boolean): number {
  return descending && code !== emptyCode ? emptyCode - 1 - code : code
}
