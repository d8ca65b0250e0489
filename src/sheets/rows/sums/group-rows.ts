import type { Codes } from '../query/columns/column-index.ts'
import { createSpareRows } from './spare-rows.ts'

/** Looks at so many rows in a step: a fraction of a millisecond, and a few where what is looked up for each is in no cache. */
export const rowsPerStep = 16_384
/** More keys than rows are as quick while they fit into the processor's cache. */
const mostSpareKeys = 65_536
/** Each may be the first to touch two pages of the table, which is new: with eight times as many, the first steps took 20 ms. */
const sparseRowsPerStep = 1_024

/** Rows by the group that they are in. */
export interface Groups {
  /** The group of each row, in their order. Signed, as all that is counted here: the processor adds such numbers as integers. */
  ids: Int32Array
  /** All ids are below this; there may be some that no row has. */
  idsTo: number
  /** The ids that rows have, in the order in which they are met. */
  met: Uint32Array
  /** The position of its first row, by id. */
  firstPositions: Uint32Array
  /** By id, where it is known. */
  rowCounts: Int32Array | null
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
  const ids = spareIds.take(positions.length)
  const [only, ...others] = tellings
  if (!only) {
    const rowCounts = Int32Array.of(positions.length)
    return {
      ids: ids.fill(0),
      idsTo: 1,
      met: Uint32Array.of(0),
      firstPositions: positions.slice(0, 1),
      rowCounts,
    }
  }
  if (others.length === 0 && only.table === null && only.size <= Math.min(mostCodesAsIds, positions.length))
    return yield* groupByCode(positions, only, ids)
  let firsts: readonly number[] = [0]
  for (const [at, telling] of tellings.entries())
    firsts = yield* tellApart(positions, at === 0 ? null : ids, firsts.length, telling, ids)
  const { met, firstPositions } = yield* firstsInOrder(positions, firsts)
  return { ids, idsTo: firsts.length, met, firstPositions, rowCounts: null }
}

/** Not `Uint32Array.from` with a function: for as many groups as rows that takes ten times as long. */
function* firstsInOrder(
  positions: Uint32Array,
  firsts: readonly number[],
): Generator<void, Pick<Groups, 'met' | 'firstPositions'>> {
  const met = new Uint32Array(firsts.length)
  const firstPositions = new Uint32Array(firsts.length)
  for (let id = 0; id < firsts.length; id++) {
    met[id] = id
    firstPositions[id] = positions[firsts[id] as number] as number
    if (id % rowsPerStep === 0) yield
  }
  return { met, firstPositions }
}

const spareIds = createSpareRows<Int32Array>(Int32Array)

/** When nothing is looked up in their `ids` any more. */
export function returnGroupIds({ ids }: Groups): void {
  spareIds.returnSpare(ids)
}

/** Each fold has a figure for every id, so there should not be many that no row has. */
const mostCodesAsIds = 1_024

/** The code is the id: nothing has to be looked up for a row, and its group is counted on the way. */
function* groupByCode(
  positions: Uint32Array,
  { codes, size }: Telling,
  ids: Int32Array,
): Generator<void, Groups> {
  const rowCounts = new Int32Array(size)
  const firsts = new Int32Array(size)
  for (let from = 0; from < positions.length; from += rowsPerStep) {
    takeCodes(positions, codes, ids, rowCounts, firsts, from, Math.min(from + rowsPerStep, positions.length))
    yield
  }
  const met = Uint32Array.from(rowCounts.keys().filter((id) => rowCounts[id] !== 0))
  met.sort((one, other) => (firsts[one] ?? 0) - (firsts[other] ?? 0))
  const firstPositions = Uint32Array.from(firsts, (first) => positions[first] ?? 0)
  return { ids, idsTo: size, met, firstPositions, rowCounts }
}

/** How many different cells each group has, of those below `size - 1`: the last code is that of empty ones. */
export function* countDistinct(
  positions: Uint32Array,
  { ids, idsTo }: Groups,
  telling: Telling,
): Generator<void, Float64Array> {
  const pairs = new Int32Array(positions.length)
  const firsts = yield* tellApart(positions, ids, idsTo, telling, pairs)
  const counts = new Float64Array(idsTo)
  for (const [at, first] of firsts.entries()) {
    const group = ids[first] ?? 0
    const isEmpty = telling.codes[positions[first] ?? 0] === telling.size - 1
    if (!isEmpty) counts[group] = (counts[group] ?? 0) + 1
    if (at % rowsPerStep === 0) yield
  }
  return counts
}

/**
 * Divides groups further, and returns where in the list the first row of each is, by its number. Without `ids`, all rows are one
 * group; `into` may be `ids` itself.
 */
function* tellApart(
  positions: Uint32Array,
  ids: Int32Array | null,
  idsTo: number,
  telling: Telling,
  into: Int32Array,
): Generator<void, number[]> {
  const rows = positions.length
  const keys = idsTo * telling.size
  const isDense = keys <= 4 * rows + mostSpareKeys
  const numbering = isDense ? new Int32Array(keys) : new SparseNumbering(rows)
  const firsts: number[] = []
  const perStep = isDense ? rowsPerStep : sparseRowsPerStep
  for (let from = 0; from < rows; from += perStep) {
    const stretch = { positions, ids, into, from, to: Math.min(from + perStep, rows) }
    if (numbering instanceof SparseNumbering) numberSparsely(stretch, telling, numbering, firsts)
    else numberDensely(stretch, telling, numbering, firsts)
    yield
  }
  return firsts
}

interface RowStretch {
  positions: Uint32Array
  ids: Int32Array | null
  into: Int32Array
  from: number
  to: number
}

/*
 * A number for each different key, from 0, as they come. The loops are functions of their own, without a pause in them and with
 * everything at hand: within a generator they take several times as long.
 */

function takeCodes(
  positions: Uint32Array,
  codes: Codes,
  into: Int32Array,
  counts: Int32Array,
  firsts: Int32Array,
  from: number,
  to: number,
): void {
  for (let at = from; at < to; at++) {
    const code = codes[positions[at] as number] as number
    const countBefore = counts[code] as number
    if (countBefore === 0) firsts[code] = at
    counts[code] = countBefore + 1
    into[at] = code
  }
}

/** Few possible keys: a place for each. */
function numberDensely(
  { positions, ids, into, from, to }: RowStretch,
  { codes, table, size }: Telling,
  numbers: Int32Array,
  firsts: number[],
): void {
  for (let at = from; at < to; at++) {
    const code = codes[positions[at] as number] as number
    const told = table === null ? code : (table[code] as number)
    const key = ids === null ? told : (ids[at] as number) * size + told
    let number = numbers[key] as number
    if (number === 0) {
      number = firsts.push(at)
      numbers[key] = number
    }
    into[at] = number - 1
  }
}

function numberSparsely(
  { positions, ids, into, from, to }: RowStretch,
  { codes, table, size }: Telling,
  numbering: SparseNumbering,
  firsts: number[],
): void {
  for (let at = from; at < to; at++) {
    const code = codes[positions[at] as number] as number
    const told = table === null ? code : (table[code] as number)
    const number = numbering.of((ids === null ? 0 : (ids[at] as number)) * size + told)
    if (number === firsts.length) firsts.push(at)
    into[at] = number
  }
}

/** Many possible keys, of which no more are met than there are rows: a table of twice their number, with open addressing. */
class SparseNumbering {
  #count = 0
  readonly #keys: Float64Array
  readonly #numbers: Int32Array
  readonly #mask: number

  constructor(rows: number) {
    const places = 2 ** Math.ceil(Math.log2(Math.max(16, rows * 2)))
    this.#keys = new Float64Array(places)
    this.#numbers = new Int32Array(places)
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
    this.#numbers[place] = ++this.#count
    return this.#count - 1
  }
}
