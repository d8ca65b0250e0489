import type { FilterOperator } from './operators.ts'

/**
 * What a client may ask of a list (docs/contract.md#filters), with columns as indices into `snapshot.columns`. Values
 * are text, as they stand in a URL; what they mean is decided against each cell, because a spreadsheet's column has no
 * type.
 *
 * Kinds. A cell is a number, a text, a boolean or empty. A text of the shape `2026-11-15` or `2026-11-15T09:30:00` is
 * also a point in time, one like `09:30:00` a time of day (or a duration: hours may run past 24). A value is a number
 * when it is one in JSON (`10`, `-0.50`, `1e3`; not `007`, `+1`, `.5`), a boolean when it is `true` or `false` in any
 * case, a time when it has one of the shapes above, with or without seconds or fractions of them. A value with a zone
 * is text: the spreadsheet's clock has none.
 *
 * Text is compared folded, that is as `toLowerCase()` gives it, with a final sigma as any other: no locale, accents count,
 * composed and decomposed letters differ. Its order is by code point.
 *
 * - `eq`: a number cell equals the value as a number, a boolean cell as a boolean, a text cell as folded text or as
 *   the same time (`2026-11-15` is `2026-11-15T00:00:00`). An empty value equals nothing; that is what `empty` is for.
 * - `in`: equals one of the values. `ne`, `nin`: all other cells, also the empty ones.
 * - `gt gte lt lte`: if the value is a number and the column has a number, number cells are compared and no others;
 *   likewise for times, times of day and booleans (false before true). Otherwise text cells are compared as text.
 *   So `price[gte]=10` never finds an `n/a`, and still compares as text where all prices are text. Empty cells are
 *   never found, and nothing is before or after an empty value.
 * - `contains starts ends`: the folded text of the cell as JSON shows it, without quotes. Empty cells are never found.
 * - `empty`: `true` or `false`.
 *
 * Several values of one filter, other than `in` and `nin`, must all hold. The search is a `contains` that any column
 * may fulfil.
 *
 * Sorting puts numbers first, then text (folded, so a date stands where its text does), then false and true; with
 * `descending` the other way round. Empty cells come last both ways, and equals stay in the order of the sheet.
 */
export interface Query {
  filters: readonly Filter[]
  search: string | null
  sort: readonly SortKey[]
  limit: number | null
  offset: number
}

export interface Filter {
  column: number
  operator: FilterOperator
  values: readonly string[]
}

export interface SortKey {
  column: number
  descending: boolean
}
