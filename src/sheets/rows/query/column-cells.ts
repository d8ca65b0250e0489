import type { IndexedSnapshot } from '../snapshot.ts'
import { type IndexedColumn, indexedColumn, seen } from './column-index.ts'
import { type CellReader, cellReader } from './row-cells.ts'
import { compareTexts, folded } from './text-order.ts'

/** The cells that codes stand for. */
export class ColumnCells {
  readonly column: IndexedColumn
  readonly #reader: CellReader
  readonly #index: number

  constructor(snapshot: IndexedSnapshot, index: number) {
    this.#reader = cellReader(snapshot)
    this.#index = index
    this.column = indexedColumn(snapshot, index)
  }

  number(code: number): number {
    return this.#reader.cell(this.column.positionOfCode[code] ?? 0, this.#index) as number
  }

  /** As JSON shows the cell, folded. */
  text(code: number): string {
    return folded(String(this.#reader.cell(this.column.positionOfCode[code] ?? 0, this.#index)))
  }

  /** The code of a boolean; past all codes when the column has none such. */
  boolean(value: boolean): number {
    const { booleansFrom, kinds } = this.column
    if (!(kinds & (value ? seen.true : seen.false))) return Number.MAX_SAFE_INTEGER
    return value && kinds & seen.false ? booleansFrom + 1 : booleansFrom
  }

  numbersAround(value: number): Bounds {
    return bounds(0, this.column.textsFrom, (code) => this.number(code) - value)
  }

  textsAround(value: string): Bounds {
    const { textsFrom, booleansFrom } = this.column
    return bounds(textsFrom, booleansFrom, (code) => compareTexts(this.text(code), value))
  }
}

/** Codes before `below` are less than a value, those from `above` on are more, and those between equal it. */
export interface Bounds {
  from: number
  below: number
  above: number
  to: number
}

export function bounds(from: number, to: number, compare: (code: number) => number): Bounds {
  const below = firstWhere(from, to, (code) => compare(code) >= 0)
  const above = firstWhere(below, to, (code) => compare(code) > 0)
  return { from, below, above, to }
}

export function firstWhere(from: number, to: number, holds: (code: number) => boolean): number {
  let low = from
  let high = to
  while (low < high) {
    const middle = (low + high) >>> 1
    if (holds(middle)) high = middle
    else low = middle + 1
  }
  return low
}
