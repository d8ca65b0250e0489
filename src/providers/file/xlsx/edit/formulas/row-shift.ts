import { MAX_ROWS } from '../../container/limits.ts'
import { Obstacle } from '../parts/obstacle.ts'

export interface DeletedRow {
  changeAt: number
  /** The number the client gave, which earlier changes of the list may have made another. */
  askedNumber: number
}

/** A row that comes in before one that was there, which may itself be gone. */
export interface RowComingIn extends DeletedRow {
  gap: number
}

/** Where rows are once some of them are gone and others have come in. All numbers are those of the sheet as it was, from 1. */
export class RowShift {
  readonly #deleted: readonly number[]
  readonly #changes: ReadonlyMap<number, DeletedRow>
  readonly #comingIn: readonly RowComingIn[]

  /** Those that come in are given from the top down. */
  constructor(changes: ReadonlyMap<number, DeletedRow>, comingIn: readonly RowComingIn[] = []) {
    this.#changes = changes
    this.#deleted = [...changes.keys()].sort((one, other) => one - other)
    this.#comingIn = comingIn
  }

  get isEmpty(): boolean {
    return this.#deleted.length + this.#comingIn.length === 0
  }

  /** The uppermost row that goes, or before which one comes in. */
  get firstRow(): number {
    return Math.min(
      this.#deleted[0] ?? Number.POSITIVE_INFINITY,
      this.#comingIn[0]?.gap ?? Number.POSITIVE_INFINITY,
    )
  }

  /** The rows before which others come in, from the top down. */
  get gaps(): readonly number[] {
    return this.#comingIn.map(({ gap }) => gap)
  }

  /** Those that go. */
  get rows(): readonly number[] {
    return this.#deleted
  }

  isDeleted(row: number): boolean {
    return this.#changes.has(row)
  }

  /** For a row that goes: the number of the one that takes its place. */
  newRow(row: number): number {
    return row - this.#countBefore(row) + this.#countComingIn(row)
  }

  /** What is left of rows `first` to `last`, or null. Down to the bottom of the sheet stays down to the bottom. */
  newRange(first: number, last: number): [first: number, last: number] | null {
    const left = last - this.#countBefore(last + 1)
    if (last !== MAX_ROWS && left < first - this.#countBefore(first)) return null
    const newLast = last === MAX_ROWS ? MAX_ROWS : Math.min(MAX_ROWS, left + this.#countComingIn(last))
    return [this.newRow(first), newLast]
  }

  /** The refusal to delete the first row that goes within `first` to `last`, or else the uppermost of all. */
  obstacle(why: string, first = 1, last: number = MAX_ROWS): Obstacle {
    const [coming] = this.#comingIn
    if (this.#deleted.length === 0 && coming) {
      return new Obstacle(coming.changeAt, `Row ${coming.askedNumber} cannot be put back: ${why}.`)
    }
    const row = this.#deleted.find((deleted) => deleted >= first && deleted <= last) ?? this.firstRow
    const { changeAt, askedNumber } = this.#changes.get(row) ?? { changeAt: 0, askedNumber: row }
    return new Obstacle(changeAt, `Row ${askedNumber} cannot be deleted: ${why}.`)
  }

  #countComingIn(row: number): number {
    let [low, high] = [0, this.#comingIn.length]
    while (low < high) {
      const middle = (low + high) >> 1
      if ((this.#comingIn[middle]?.gap ?? 0) <= row) low = middle + 1
      else high = middle
    }
    return low
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
