import type { Filter, SortKey } from '../query/query.ts'
import type { Column } from '../table.ts'

/**
 * Figures about rows instead of the rows themselves (docs/contract.md#sums), with columns as indices into
 * `snapshot.columns`.
 *
 * Groups. Cells that compare as equal (`Berlin`, `BERLIN`) are one group, shown as its first row has them; empty cells are a
 * group too. `year`, `month` and `day` cut a date or a date with time down: `2026`, `2026-11`, `2026-11-15`. A cell that is
 * no date counts as an empty one, and as left out. Groups come in the order in which the sheet has the first row of each.
 *
 * Folds. `count` without a column counts rows, with one its cells that are not empty; `count_distinct` those that differ.
 * `sum` and `avg` take numbers. `min` and `max` take numbers where the column has any, else dates, else times of day, else
 * text. What does not fit is left out and counted; an empty cell is not even that. The sum of nothing is 0, the others of
 * nothing are null. Sums are rounded to the 15 digits that a spreadsheet shows: 0.1 and 0.2 are 0.3.
 */
export interface Sums {
  groupBy: readonly GroupKey[]
  aggregates: readonly Aggregate[]
}

export interface GroupKey {
  column: number
  /** null: the cell as it is. */
  part: DatePart | null
}

export const dateParts = ['year', 'month', 'day'] as const
export type DatePart = (typeof dateParts)[number]

export const folds = ['count', 'sum', 'avg', 'min', 'max', 'count_distinct'] as const
export type Fold = (typeof folds)[number]

export interface Aggregate {
  fold: Fold
  /** null only with `count`: of rows. */
  column: number | null
}

/** What is asked for: filters and search look at rows, the rest at the figures made of them. */
export interface SumsQuery {
  filters: readonly Filter[]
  search: string | null
  sums: Sums
  /** Columns of the result. */
  sort: readonly SortKey[]
  limit: number | null
  offset: number
}

/** What the columns of the result are called; a name that is there already gets a number behind it, as in a sheet. */
export function resultNames({ groupBy, aggregates }: Sums, columns: readonly Column[]): string[] {
  const keyOf = (column: number) => columns[column]?.key ?? ''
  return [
    ...groupBy.map(({ column, part }) => (part === null ? keyOf(column) : `${part}_${keyOf(column)}`)),
    ...aggregates.map(({ fold, column }) => (column === null ? fold : `${fold}_${keyOf(column)}`)),
  ]
}
