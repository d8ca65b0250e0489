import type { Cell } from '../../grid.ts'
import type { Column } from '../../table.ts'
import {
  type ColumnIndexes,
  type IndexedColumn,
  type IndexedRows,
  indexedColumn,
  seen,
} from './column-index.ts'

/** What kinds of cells a column holds. */
export interface ColumnKinds {
  /** `integer` where every number is whole, else `number`. Durations of a day and more are `string`. */
  kinds: CellKind[]
  hasEmptyCells: boolean
}

/** The kinds of a column with examples, for a description of the sheet. */
export interface ColumnSummary extends ColumnKinds {
  /** The first three different ones, from the top. */
  examples: Exclude<Cell, null>[]
  /** The exceptions of a column in which most cells are numbers, or texts that spell one (of too many digits), and some are not; else null. */
  exceptions: NumberExceptions | null
}

/** What keeps a column from being one of numbers. */
export interface NumberExceptions {
  count: number
  /** Filled cells, numbers and others. */
  cells: number
  /** The first three different ones, and where in the list each is. */
  examples: { cell: Exclude<Cell, null>; position: number }[]
}

export type CellKind = 'number' | 'integer' | 'boolean' | 'string' | 'date' | 'date-time' | 'time'

const maxExamples = 3

/** The kinds of each column; at once, however many rows there are. */
export function columnKindsOf(snapshot: IndexedRows & { columns: readonly Column[] }): ColumnKinds[] {
  return snapshot.columns.map((_, at) => kindsOf(indexedColumn(snapshot, at)))
}

/** Summaries of all columns, beside the rows that they were indexed with: for examples, all of them may have to be looked at. */
export function summariesOf(
  columns: readonly Column[],
  rows: readonly (readonly Cell[])[],
  indexes: ColumnIndexes,
): ColumnSummary[] {
  return columns.map(({ index }, at) => {
    const column = indexedColumn({ indexes, rowNumbers: rows }, at)
    const exceptions = exceptionsIn(column, rows, index)
    return { ...kindsOf(column), examples: examplesIn(column, rows, index), exceptions }
  })
}

function kindsOf({ kinds }: IndexedColumn): ColumnKinds {
  return { kinds: kindsIn(kinds), hasEmptyCells: (kinds & seen.empty) !== 0 }
}

function kindsIn(bits: number): CellKind[] {
  const kinds: CellKind[] = []
  if (bits & seen.fraction) kinds.push('number')
  else if (bits & seen.integer) kinds.push('integer')
  if (bits & (seen.false | seen.true)) kinds.push('boolean')
  if (bits & (seen.plainText | seen.duration)) kinds.push('string')
  if (bits & seen.date) kinds.push('date')
  if (bits & seen.dateTime) kinds.push('date-time')
  if (bits & seen.time) kinds.push('time')
  return kinds
}

function examplesIn(
  { codes, emptyCode }: IndexedColumn,
  rows: readonly (readonly Cell[])[],
  index: number,
): Exclude<Cell, null>[] {
  const found = new Map<number, Exclude<Cell, null>>()
  const wanted = Math.min(maxExamples, emptyCode)
  for (let position = 0; found.size < wanted; position++) {
    const code = codes[position] ?? emptyCode
    if (code === emptyCode || found.has(code)) continue
    found.set(code, rows[position]?.[index] as Exclude<Cell, null>)
  }
  return [...found.values()]
}

function exceptionsIn(
  { codes, emptyCode, textsFrom }: IndexedColumn,
  rows: readonly (readonly Cell[])[],
  index: number,
): NumberExceptions | null {
  if (textsFrom === 0 || textsFrom === emptyCode) return null
  let cells = 0
  let count = 0
  const found = new Map<number, number>()
  for (let position = 0; position < codes.length; position++) {
    const code = codes[position] ?? emptyCode
    if (code === emptyCode) continue
    cells++
    if (code < textsFrom) continue
    count++
    if (found.size < maxExamples && !found.has(code)) found.set(code, position)
  }
  const isOfNumbers =
    count * 2 < cells || (count - countSpelledNumbers(codes, textsFrom, emptyCode, rows, index)) * 2 < cells
  if (!isOfNumbers) return null
  const examples = Array.from(found.values(), (position) => ({
    cell: rows[position]?.[index] as Exclude<Cell, null>,
    position,
  }))
  return { count, cells, examples }
}

/** As `-18.430000000000007` does, which no number of JSON holds. Leading zeros are those of a code. */
const spelledNumber = /^-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][-+]?\d+)?$/

function countSpelledNumbers(
  codes: IndexedColumn['codes'],
  textsFrom: number,
  emptyCode: number,
  rows: readonly (readonly Cell[])[],
  index: number,
): number {
  let count = 0
  for (let position = 0; position < codes.length; position++) {
    const code = codes[position] ?? emptyCode
    if (code < textsFrom || code === emptyCode) continue
    const cell = rows[position]?.[index]
    if (typeof cell === 'string' && spelledNumber.test(cell)) count++
  }
  return count
}
