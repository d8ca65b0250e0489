import { equalTo } from '../query/code-verdicts.ts'
import { ColumnCells } from '../query/columns/column-cells.ts'
import type { IndexedColumn } from '../query/columns/column-index.ts'
import type { IndexedSnapshot } from '../snapshot.ts'

const rowsPerStep = 65_536

/**
 * Positions of the rows whose cell equals a value, as the filter `eq` has it, ascending, and no more than `most` of them. A value
 * that is there once, as the name of a row should be, is found without looking at every row.
 */
export function* rowsEqualTo(
  snapshot: IndexedSnapshot,
  column: number,
  value: string,
  most: number,
): Generator<void, number[]> {
  const cells = new ColumnCells(snapshot, column)
  const found: number[] = []
  for (const { from, to } of yield* equalTo(cells, value)) {
    for (let code = from; code < to; code++) found.push(...positionsOf(cells.column, code, most))
  }
  return found.sort((one, other) => one - other).slice(0, most)
}

function* positionsOf(
  { codes, positionOfCode, emptyCode }: IndexedColumn,
  code: number,
  most: number,
): Generator<number> {
  const last = positionOfCode[code] ?? 0
  // As many different cells as rows: no two have the same, as it should be where rows are named by them.
  if (emptyCode === codes.length) return yield last
  let position = codes.indexOf(code)
  for (let count = 1; position !== -1; count++) {
    yield position
    if (position === last || count === most) return
    position = codes.indexOf(code, position + 1)
  }
}

/** Finds many values at once, of which no cell equals two: one look at every row for all of them. */
export function* rowsEqualToEach(
  snapshot: IndexedSnapshot,
  column: number,
  values: readonly string[],
): Generator<void, number[][]> {
  const cells = new ColumnCells(snapshot, column)
  const { codes, emptyCode } = cells.column
  const found: number[][] = values.map(() => [])
  /** By code: which value it equals, from 1. */
  const valueOfCode = new Uint32Array(emptyCode + 1)
  for (const [at, value] of values.entries()) {
    for (const { from, to } of yield* equalTo(cells, value)) valueOfCode.fill(at + 1, from, to)
    if (at % 64 === 63) yield
  }
  for (let position = 0; position < codes.length; position++) {
    const value = valueOfCode[codes[position] ?? 0] ?? 0
    if (value > 0) found[value - 1]?.push(position)
    if (position % rowsPerStep === 0) yield
  }
  return found
}
