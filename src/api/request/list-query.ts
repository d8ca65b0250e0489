import { Refusal } from '../../errors.ts'
import { shortenName } from '../../sheets/rows/column-name.ts'
import { nearestName } from '../../sheets/rows/nearest-name.ts'
import { argumentOf, filterOperators } from '../../sheets/rows/query/operators.ts'
import type { Filter, Query, SortKey } from '../../sheets/rows/query/query.ts'
import type { Column } from '../../sheets/rows/table.ts'
import { type Find, finderOf, listNames, meant, namesIn, unknownColumn } from './column-finder.ts'
import { bracketsOf, isIgnored, listNameIn, operatorIn } from './parameter-name.ts'
import { invalid, parametersOf, type ReadWish } from './read-wish.ts'
import { type ResolvedSums, resolveSums } from './sums-wish.ts'

/** A wish beside the header: columns by their position. */
export interface ListQuery {
  query: Query
  /** null: all columns, in the order of the sheet. */
  fields: readonly number[] | null
  /** Then `query.sort` and `fields` mean the columns of the result. */
  sums?: ResolvedSums
}

export const wholeListQuery: ListQuery = {
  query: { filters: [], search: null, sort: [], limit: null, offset: 0 },
  fields: null,
}

/** More would be no question of a person or a program: each one takes a look at every row. */
const maxFilters = 50
const maxListValues = 1_000
const maxSortKeys = 10

/** Names match exactly, else in any case; what matches nothing, or several columns, is refused by name. */
export function resolveWish(wish: ReadWish, columns: readonly Column[]): ListQuery | Refusal {
  const find = finderOf(columns)
  const given = withListsJoined(wish, find)
  const filters = resolveJoinedFilters(given.filters, columns, parametersOf.list)
  if (filters instanceof Refusal) return filters
  const sums = wish.sums && resolveSums(wish.sums, columns)
  if (sums instanceof Refusal) return sums
  const shown = sums ? sums.columns : columns
  const findShown = sums ? finderOf(shown) : find
  const sort = resolveSort(given.sort, shown, findShown)
  if (sort instanceof Refusal) return sort
  const fields = resolveFields(given.fields, shown, findShown)
  if (fields instanceof Refusal) return fields
  const { search, limit, offset } = wish
  return { query: { filters, search, sort, limit, offset }, fields, ...(sums && { sums }) }
}

/** `fields[]=a` and `sku[in][0]=b` are one value of a list each, unless a column has that very name. */
function withListsJoined(
  { filters, sort, fields }: Pick<ReadWish, 'filters' | 'sort' | 'fields'>,
  find: Find,
): Pick<ReadWish, 'filters' | 'sort' | 'fields'> {
  if (!filters.some(([name]) => listNameIn(name) !== null)) return { filters, sort, fields }
  const joined = { filters: [] as (readonly [string, string])[], sort: [...sort], fields: [...fields] }
  for (const [name, value] of filters) {
    const listName = find(name) === null ? listNameIn(name) : null
    const operator = listName === null ? null : operatorIn(listName)
    if (listName === 'sort' || listName === 'fields') joined[listName].push(value)
    else if (listName !== null && operator !== null && argumentOf(operator).isList)
      joined.filters.push([listName, value])
    else joined.filters.push([name, value])
  }
  return joined
}

export function resolveFilters(
  parameters: ReadWish['filters'],
  columns: readonly Column[],
  /** What may stand beside filters, for whoever mistyped it. */
  others: readonly string[],
): Filter[] | Refusal {
  const find = finderOf(columns)
  const {
    filters: given,
    sort,
    fields,
  } = withListsJoined({ filters: parameters, sort: [], fields: [] }, find)
  if (sort.length + fields.length > 0) return invalid('"sort" and "fields" mean nothing here.')
  return resolveJoinedFilters(given, columns, others)
}

function resolveJoinedFilters(
  given: ReadWish['filters'],
  columns: readonly Column[],
  others: readonly string[],
): Filter[] | Refusal {
  const find = finderOf(columns)
  const filters: Filter[] = []
  const lists = new Map<string, { filter: Filter; given: string[] }>()
  for (const [name, value] of given) {
    const named = operatorIn(name)
    const operator = named ?? 'eq'
    const column = find(named === null ? name : (bracketsOf(name)?.before ?? ''))
    if (column instanceof Refusal) return column
    if (column === null) {
      if (named === null && isIgnored(name)) continue
      return unknownParameter(name, columns, others, find)
    }
    if (argumentOf(operator).isList) {
      const known = lists.get(`${operator} ${column}`)
      if (known) known.given.push(value)
      else {
        const list = { filter: { column, operator, values: [] }, given: [value] }
        lists.set(`${operator} ${column}`, list)
      }
    } else filters.push({ column, operator, values: [value] })
  }
  for (const { filter, given } of lists.values()) filters.push({ ...filter, values: listValues(given) })
  if (filters.length > maxFilters) {
    return invalid(`A query may have ${maxFilters} filters; this one has ${filters.length}.`)
  }
  const values = filters.reduce((sum, filter) => sum + filter.values.length, 0)
  if (values > maxListValues) {
    const allowed = maxListValues.toLocaleString('en')
    return invalid(
      `A query may name ${allowed} values to filter by; this one names ${values}. Ask several times.`,
    )
  }
  return filters
}

/** `a,b` once, or one value in each repetition, where a comma is then part of the value. */
function listValues(given: readonly string[]): readonly string[] {
  const [only = ''] = given
  return given.length > 1 ? given : only.split(',').map((value) => value.trim())
}

function resolveSort(given: readonly string[], columns: readonly Column[], find: Find): SortKey[] | Refusal {
  const keys: SortKey[] = []
  const names = given.flatMap((text) => namesIn(text, find, sortColumn))
  if (names.length > maxSortKeys) {
    return invalid(`"sort" may name ${maxSortKeys} columns; this one names ${names.length}.`)
  }
  for (const name of names) {
    const column = sortColumn(name, find)
    if (column instanceof Refusal) return column
    if (column === null) return unknownColumn(name, 'sort', columns)
    keys.push({ column, descending: isDescending(name, find) })
  }
  return keys
}

function sortColumn(name: string, find: Find): number | Refusal | null {
  return find(name) ?? (name.startsWith('-') ? find(name.slice(1)) : null)
}

/** Unless the minus belongs to the name. */
function isDescending(name: string, find: Find): boolean {
  return name.startsWith('-') && find(name) === null
}

function resolveFields(
  given: readonly string[],
  columns: readonly Column[],
  find: Find,
): number[] | null | Refusal {
  if (given.length === 0) return null
  const fields = new Set<number>()
  for (const name of given.flatMap((text) => namesIn(text, find, (each) => find(each)))) {
    const column = find(name)
    if (column instanceof Refusal) return column
    if (column === null) return unknownColumn(name, 'fields', columns)
    fields.add(column)
  }
  return [...fields]
}

function unknownParameter(
  name: string,
  columns: readonly Column[],
  others: readonly string[],
  find: Find,
): Refusal {
  const brackets = bracketsOf(name)
  const listName = listNameIn(name)
  if (listName !== null && find(listName) !== null) {
    return invalid(
      `"${shortenName(name)}" is no filter. For cells that are one of several values, write "${shortenName(listName)}[in]".`,
    )
  }
  if (brackets && operatorIn(name) === null && find(brackets.before) !== null) {
    const nearest = nearestName(brackets.word, filterOperators)
    return invalid(
      `There is no operator "${shortenName(brackets.word)}".${meant(nearest)} The operators are ${filterOperators.join(', ')}.`,
    )
  }
  const column = operatorIn(name) === null ? name : (brackets?.before ?? '')
  const keys = columns.map(({ key }) => key)
  const nearest = nearestName(column, operatorIn(name) === null ? [...keys, ...others] : keys)
  return invalid(
    `There is no column "${shortenName(column)}" to filter by.${meant(nearest)} The columns are ${listNames(keys)}. ` +
      `Other parameters are ${others.join(', ')}.`,
  )
}
