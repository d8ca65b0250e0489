import type { Cell } from '../grid.ts'
import type { IndexedSnapshot } from '../snapshot.ts'
import { indexedColumn, seen } from './column-index.ts'
import { cellReader } from './row-cells.ts'

/** What a column holds, for a description of the sheet. */
export interface ColumnSummary {
  key: string
  /** `integer` where every number is whole, else `number`. Durations of a day and more are `string`. */
  kinds: CellKind[]
  hasEmptyCells: boolean
  /** The first three different ones, from the top. */
  examples: Exclude<Cell, null>[]
}

export type CellKind = 'number' | 'integer' | 'boolean' | 'string' | 'date' | 'date-time' | 'time'

const maxExamples = 3

export function schemaOf(snapshot: IndexedSnapshot): ColumnSummary[] {
  return snapshot.columns.map(({ key }, at) => {
    const { kinds } = indexedColumn(snapshot, at)
    return {
      key,
      kinds: kindsIn(kinds),
      hasEmptyCells: (kinds & seen.empty) !== 0,
      examples: examplesIn(snapshot, at),
    }
  })
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

function examplesIn(snapshot: IndexedSnapshot, column: number): Exclude<Cell, null>[] {
  const { codes, emptyCode } = indexedColumn(snapshot, column)
  const reader = cellReader(snapshot)
  const found = new Map<number, Exclude<Cell, null>>()
  const wanted = Math.min(maxExamples, emptyCode)
  for (let position = 0; found.size < wanted; position++) {
    const code = codes[position] ?? emptyCode
    if (code === emptyCode || found.has(code)) continue
    found.set(code, reader.cell(position, column) as Exclude<Cell, null>)
  }
  return [...found.values()]
}
