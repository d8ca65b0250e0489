import { type FilterOperator, filterOperators } from '../../../../src/sheets/rows/query/operators.ts'

export interface RowFilter {
  column: string
  /** As in the public API: `price[gte]=10`. */
  operator: FilterOperator
  value: string
}

/** What stands in the URL of the rows. */
export interface RowsSearch {
  q?: string | undefined
  sort?: string | undefined
  where?: readonly RowFilter[] | undefined
  /** From 1. */
  page?: number | undefined
  /** The one that is open. */
  row?: number | undefined
}

export const pageRows = 50

export function rowsSearchIn(search: Record<string, unknown>): RowsSearch {
  const { q, sort, where, page, row } = search
  const filters = Array.isArray(where) ? where.filter(isFilter) : []
  return {
    ...(q !== undefined && q !== '' && { q: String(q) }),
    ...(typeof sort === 'string' && sort !== '' && { sort }),
    ...(filters.length > 0 && { where: filters }),
    ...(isCount(page) && page > 1 && { page }),
    ...(isCount(row) && { row }),
  }
}

/** As the public API takes them. */
export function parametersOf({ q, sort, where = [], page = 1 }: RowsSearch): URLSearchParams {
  const parameters = new URLSearchParams({ limit: String(pageRows), offset: String((page - 1) * pageRows) })
  if (q) parameters.set('q', q)
  if (sort) parameters.set('sort', sort)
  for (const { column, operator, value } of where) parameters.append(`${column}[${operator}]`, value)
  return parameters
}

function isFilter(given: unknown): given is RowFilter {
  if (typeof given !== 'object' || given === null) return false
  const { column, operator, value } = given as Record<string, unknown>
  return (
    typeof column === 'string' &&
    typeof value === 'string' &&
    filterOperators.some((known) => known === operator)
  )
}

function isCount(given: unknown): given is number {
  return typeof given === 'number' && Number.isSafeInteger(given) && given > 0
}
