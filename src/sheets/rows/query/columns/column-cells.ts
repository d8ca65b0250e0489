import type { IndexedSnapshot } from '../../snapshot.ts'
import { cellReader, type RowCellReader } from '../row-cells.ts'
import { compareTexts, foldText } from '../text-order.ts'
import { type IndexedColumn, indexedColumn, seen } from './column-index.ts'

/** The cells that codes stand for. What looks at many of them is done in steps: each may stand behind megabytes of its row. */
export class ColumnCells {
  readonly column: IndexedColumn
  readonly #reader: RowCellReader
  readonly #index: number

  constructor(snapshot: IndexedSnapshot, index: number) {
    this.#reader = cellReader(snapshot)
    this.#index = index
    this.column = indexedColumn(snapshot, index)
  }

  number(code: number): number {
    return this.#reader.cell(this.column.positionOfCode[code] ?? 0, this.#index) as number
  }

  /** As JSON shows the cell, folded; of a long one at least so many UTF-16 units from its beginning. */
  beginning(code: number, units: number): string {
    return foldText(this.#reader.beginning(this.column.positionOfCode[code] ?? 0, this.#index, units))
  }

  /** The code of a boolean; past all codes when the column has none such. */
  boolean(value: boolean): number {
    const { booleansFrom, kinds } = this.column
    if (!(kinds & (value ? seen.true : seen.false))) return Number.MAX_SAFE_INTEGER
    return value && kinds & seen.false ? booleansFrom + 1 : booleansFrom
  }

  numbersAround(value: number): Generator<void, Bounds> {
    return this.bounds(0, this.column.textsFrom, (code) => this.number(code) - value)
  }

  textsAround(value: string): Generator<void, Bounds> {
    const { textsFrom, booleansFrom } = this.column
    // One unit more than the value has, and a text that goes on is told from one that ends.
    const units = value.length + 1
    return this.bounds(textsFrom, booleansFrom, (code) => compareTexts(this.beginning(code, units), value))
  }

  *bounds(from: number, to: number, compare: (code: number) => number): Generator<void, Bounds> {
    const below = yield* this.firstWhere(from, to, (code) => compare(code) >= 0)
    // Mostly none equals it, or one: cells that are equal share a code.
    const isGreater = (code: number) => code >= to || compare(code) > 0
    const near = isGreater(below) ? below : below + 1
    const above = isGreater(near) ? near : yield* this.firstWhere(near, to, isGreater)
    return { from, below, above, to }
  }

  *firstWhere(from: number, to: number, holds: (code: number) => boolean): Generator<void, number> {
    let low = from
    let high = to
    while (low < high) {
      const middle = (low + high) >>> 1
      if (holds(middle)) high = middle
      else low = middle + 1
      if (this.#reader.isTimeToPause()) yield
    }
    return low
  }
}

/** Codes before `below` are less than a value, those from `above` on are more, and those between equal it. */
export interface Bounds {
  from: number
  below: number
  above: number
  to: number
}
