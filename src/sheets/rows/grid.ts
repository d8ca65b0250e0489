/** One cell as clients see it (docs/contract.md#values): an empty cell is `null`, never `""`. */
export type Cell = string | number | boolean | null

/**
 * The used part of one tab. `rows[0]` is the spreadsheet's row 1 (the headers), `rows[n]` its row n + 1.
 * A row may be shorter than the header or longer; what is missing is empty.
 */
export interface Grid {
  rows: Cell[][]
}
