import type { Codes } from '../query/columns/column-index.ts'

/** Looks at so many rows in a step, a millisecond or less. */
export const rowsPerStep = 65_536

/** Rows by the group that they are in, groups numbered in the order in which they are met. */
export interface Groups {
  /** Of each of the rows, in their order. */
  ids: Uint32Array
  count: number
  /** The position of its first row, by group. */
  firstPositions: Uint32Array
}

/** What rows are told apart by: the code of their cell, or what a table says of that code. */
export interface Telling {
  codes: Codes
  table: Uint32Array | null
  /** All codes, or all that the table says, are below this. */
  size: number
}

/** Without anything to tell them apart by, all rows are one group, also when there are none. */
export function* groupRows(positions: Uint32Array, tellings: readonly Telling[]): Generator<void, Groups> {
  const ids = new Uint32Array(positions.length)
  let count = 1
  for (const telling of tellings) count = yield* tellApart(positions, ids, count, telling, ids)
  const firstPositions = new Uint32Array(tellings.length > 0 ? count : 1)
  for (let to = positions.length; to > 0; to -= rowsPerStep) {
    noteFirst(firstPositions, positions, ids, Math.max(0, to - rowsPerStep), to)
    yield
  }
  return { ids, count: firstPositions.length, firstPositions }
}

/** Backwards, so that the first of each is what stays. */
function noteFirst(
  firstPositions: Uint32Array,
  positions: Uint32Array,
  ids: Uint32Array,
  from: number,
  to: number,
): void {
  for (let at = to - 1; at >= from; at--) firstPositions[ids[at] as number] = positions[at] as number
}

/** How many different cells each group has, of those below `size - 1`: the last code is that of empty ones. */
export function* countDistinct(
  positions: Uint32Array,
  { ids, count }: Groups,
  telling: Telling,
): Generator<void, Float64Array> {
  const pairs = new Uint32Array(positions.length)
  const pairCount = yield* tellApart(positions, ids, count, telling, pairs)
  const isCounted = new Uint8Array(pairCount)
  const counts = new Float64Array(count)
  for (let at = 0; at < positions.length; at++) {
    const pair = pairs[at] ?? 0
    const isEmpty = telling.codes[positions[at] ?? 0] === telling.size - 1
    if (isCounted[pair] === 0 && !isEmpty) {
      isCounted[pair] = 1
      counts[ids[at] ?? 0] = (counts[ids[at] ?? 0] ?? 0) + 1
    }
    if (at % rowsPerStep === 0) yield
  }
  return counts
}

/** Divides groups further; returns how many there are then. `into` may be `ids` itself. */
function* tellApart(
  positions: Uint32Array,
  ids: Uint32Array,
  count: number,
  telling: Telling,
  into: Uint32Array,
): Generator<void, number> {
  const rows = positions.length
  const keys = count * telling.size
  const isDense = keys <= 4 * rows + rowsPerStep
  const dense = { numbers: new Uint32Array(isDense ? keys : 0), count: 0 }
  const sparse = isDense ? null : new SparseNumbering(rows)
  for (let from = 0; from < rows; from += rowsPerStep) {
    const stretch = { positions, ids, into, from, to: Math.min(from + rowsPerStep, rows) }
    if (sparse) numberSparsely(stretch, telling, sparse)
    else numberDensely(stretch, telling, dense)
    yield
  }
  return sparse?.count ?? dense.count
}

interface RowStretch {
  positions: Uint32Array
  ids: Uint32Array
  into: Uint32Array
  from: number
  to: number
}

/*
 * A number for each different key, from 0, as they come. The loops are functions of their own, without a pause in them and with
 * everything at hand: within a generator they take several times as long.
 */

/** Few possible keys: a place for each. */
function numberDensely(
  { positions, ids, into, from, to }: RowStretch,
  { codes, table, size }: Telling,
  dense: { numbers: Uint32Array; count: number },
): void {
  const { numbers } = dense
  let { count } = dense
  for (let at = from; at < to; at++) {
    const code = codes[positions[at] as number] as number
    const key = (ids[at] as number) * size + (table === null ? code : (table[code] as number))
    let number = numbers[key] as number
    if (number === 0) {
      number = ++count
      numbers[key] = number
    }
    into[at] = number - 1
  }
  dense.count = count
}

function numberSparsely(
  { positions, ids, into, from, to }: RowStretch,
  { codes, table, size }: Telling,
  sparse: SparseNumbering,
): void {
  for (let at = from; at < to; at++) {
    const code = codes[positions[at] as number] as number
    into[at] = sparse.of((ids[at] as number) * size + (table === null ? code : (table[code] as number)))
  }
}

/** Many possible keys, of which no more are met than there are rows: a table of twice their number, with open addressing. */
class SparseNumbering {
  count = 0
  readonly #keys: Float64Array
  readonly #numbers: Uint32Array
  readonly #mask: number

  constructor(rows: number) {
    const places = 2 ** Math.ceil(Math.log2(Math.max(16, rows * 2)))
    this.#keys = new Float64Array(places)
    this.#numbers = new Uint32Array(places)
    this.#mask = places - 1
  }

  of(key: number): number {
    let place = (Math.imul(key | 0, 0x9e37_79b1) ^ Math.imul((key / 2 ** 32) | 0, 0x85eb_ca6b)) >>> 0
    place = (place ^ (place >>> 15)) & this.#mask
    for (;;) {
      const known = this.#numbers[place] ?? 0
      if (known === 0) break
      if (this.#keys[place] === key) return known - 1
      place = (place + 1) & this.#mask
    }
    this.#keys[place] = key
    this.#numbers[place] = ++this.count
    return this.count - 1
  }
}
