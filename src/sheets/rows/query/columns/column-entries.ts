import type { Cell } from '../../grid.ts'

/** What a row has instead of the number of an entry; below these, texts have even numbers and numbers odd ones. */
export const falseEntry = 0xffff_fffd
export const trueEntry = 0xffff_fffe
export const emptyEntry = 0xffff_ffff

/** A look-up for each cell is worth it where cells repeat; checked when so many different ones were met. */
const firstCheckAtEntries = 4_096

/**
 * A column's different texts and numbers, and the entry that each row has. Where hardly any cell repeats, each gets an
 * entry of its own without a look-up: ranking brings equals together anyway.
 */
export class ColumnEntries {
  texts: string[] = []
  numbers: number[] = []
  entryOfRow: Uint32Array
  readonly #index: number
  #known = new Map<string | number, number>()
  #isLookedUp = true
  #nextCheck = firstCheckAtEntries

  constructor(index: number, rows: number) {
    this.#index = index
    this.entryOfRow = new Uint32Array(rows)
  }

  add(rows: readonly (readonly Cell[])[], from: number, to: number): void {
    const { entryOfRow } = this
    const index = this.#index
    for (let row = from; row < to; row++) {
      const cell = rows[row]?.[index] ?? null
      if (typeof cell === 'string') entryOfRow[row] = this.#entryOf(cell)
      // JSON has no NaN: such a cell is shown as null.
      else if (typeof cell === 'number')
        entryOfRow[row] = Number.isFinite(cell) ? this.#entryOf(cell) : emptyEntry
      else entryOfRow[row] = cell === null ? emptyEntry : cell ? trueEntry : falseEntry
    }
    const entries = this.texts.length + this.numbers.length
    if (this.#isLookedUp && entries >= this.#nextCheck) this.#check(entries, to)
  }

  #entryOf(cell: string | number): number {
    const known = this.#isLookedUp ? this.#known.get(cell) : undefined
    if (known !== undefined) return known
    const entry = typeof cell === 'string' ? this.texts.push(cell) * 2 - 2 : this.numbers.push(cell) * 2 - 1
    if (this.#isLookedUp) this.#known.set(cell, entry)
    return entry
  }

  #check(entries: number, rows: number): void {
    this.#nextCheck *= 2
    if (entries * 2 < rows) return
    this.#isLookedUp = false
    this.#known.clear()
  }

  /** All columns are collected at once and ranked one by one; what is done with need not wait for the others. */
  letGo(): void {
    this.texts = []
    this.numbers = []
    this.entryOfRow = new Uint32Array()
    this.#known.clear()
  }
}
