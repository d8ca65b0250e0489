import { MAX_ROWS } from '../../container/limits.ts'
import { Obstacle } from '../parts/obstacle.ts'

export interface DeletedRow {
  changeAt: number
  /** The number the client gave, which earlier changes of the list may have made another. */
  askedNumber: number
}

/** Where rows are once some of them are gone. All numbers are those of the sheet as it was, from 1. */
export class RowShift {
  readonly #deleted: readonly number[]
  readonly #changes: ReadonlyMap<number, DeletedRow>

  constructor(changes: ReadonlyMap<number, DeletedRow>) {
    this.#changes = changes
    this.#deleted = [...changes.keys()].sort((one, other) => one - other)
  }

  get isEmpty(): boolean {
    return this.#deleted.length === 0
  }

  /** The uppermost row that goes. */
  get firstRow(): number {
    return this.#deleted[0] ?? Number.POSITIVE_INFINITY
  }

  get rows(): readonly number[] {
    return this.#deleted
  }

  isDeleted(row: number): boolean {
    return this.#changes.has(row)
  }

  /** For a row that goes: the number of the one that takes its place. */
  newRow(row: number): number {
    return row - this.#countBefore(row)
  }

  /** What is left of rows `first` to `last`, or null. Down to the bottom of the sheet stays down to the bottom. */
  newRange(first: number, last: number): [first: number, last: number] | null {
    const newLast = last === MAX_ROWS ? MAX_ROWS : last - this.#countBefore(last + 1)
    const newFirst = this.newRow(first)
    return newLast < newFirst ? null : [newFirst, newLast]
  }

  /** The refusal to delete the first row that goes within `first` to `last`, or else the uppermost of all. */
  obstacle(why: string, first = 1, last: number = MAX_ROWS): Obstacle {
    const row = this.#deleted.find((deleted) => deleted >= first && deleted <= last) ?? this.firstRow
    const { changeAt, askedNumber } = this.#changes.get(row) ?? { changeAt: 0, askedNumber: row }
    return new Obstacle(changeAt, `Row ${askedNumber} cannot be deleted: ${why}.`)
  }

  #countBefore(row: number): number {
    let low = 0
    let high = this.#deleted.length
    while (low < high) {
      const middle = (low + high) >> 1
      if ((this.#deleted[middle] ?? 0) < row) low = middle + 1
      else high = middle
    }
    return low
  }
}
