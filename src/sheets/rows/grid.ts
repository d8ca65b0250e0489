/** One cell as clients see it (docs/contract.md#values): an empty cell is `null`, never `""`. */
export type Cell = string | number | boolean | null

/**
 * The used part of one tab. `rows[0]` is the spreadsheet's row 1 (the headers), `rows[n]` its row n + 1.
 * A row may be shorter than the header or longer; what is missing is empty.
 */
export interface Grid {
  rows: Cell[][]
  /**
   * Results of formulas that were not calculated since what they rest on was changed: by index of the row, the columns. Absent
   * where there are none, or where the place calculates by itself.
   */
  stale?: ReadonlyMap<number, ReadonlySet<number>>
  /** By index, rows with a formula that has no result at all. They are no blank rows, whatever else they hold. */
  uncalculated?: ReadonlySet<number>
  /** What these cells were read from, where that is a part of a file and packed in it. */
  readFrom?: PackedParts
}

export interface PackedParts {
  packedBytes: number
  unpackedBytes: number
}
