import { Refusal } from '../../errors.ts'
import { shortenName } from '../../sheets/rows/column-name.ts'
import { operatorTable } from '../../sheets/rows/query/operators.ts'
import { type Format, formats } from './format.ts'
import { isBracketed, isIgnored, listNameIn, operatorIn } from './parameter-name.ts'
import { noParameters, type Parameters, wholeNumber } from './query.ts'

/** What a reader asks for, as far as it can be judged before the sheet is read. */
export interface ReadWish {
  limit: number | null
  offset: number
  rowNumbers: boolean
  values: 'typed' | 'formatted'
  /** null: the one that `Accept` likes best. */
  format: Format | null
  escapeFormulas: boolean
  /** CSV with a byte order mark, by which Excel knows UTF-8. */
  bom: boolean
  search: string | null
  /** As they came: which column is meant can be told only beside the header. */
  filters: Parameters
  sort: readonly string[]
  fields: readonly string[]
  /** null: the rows themselves. */
  sums: SumsWish | null
}

/** Figures about the rows, as they were asked for. */
export interface SumsWish {
  aggregate: readonly string[]
  groupBy: readonly string[]
  distinct: readonly string[]
}

export const wholeList: ReadWish = {
  limit: null,
  offset: 0,
  rowNumbers: false,
  values: 'typed',
  format: null,
  escapeFormulas: false,
  bom: false,
  search: null,
  filters: [],
  sort: [],
  fields: [],
  sums: null,
}

/** What is read: each takes the parameters that mean something for it, and refuses the others. */
export type Readable = 'list' | 'row' | 'description' | 'types'

const ofSums = ['aggregate', 'group_by', 'distinct'] as const

export const parametersOf: Record<Readable, readonly string[]> = {
  list: [
    ...[
      'q',
      'sort',
      'limit',
      'offset',
      'fields',
      'row_numbers',
      'values',
      'format',
      'escape_formulas',
      'bom',
    ],
    ...ofSums,
  ],
  row: ['fields', 'row_numbers', 'values', 'format', 'escape_formulas', 'bom'],
  description: ['row_numbers', 'values'],
  // Everything is text as displayed, so there would be nothing to tell.
  types: ['row_numbers'],
}
/** These may be given several times. */
const several = ['sort', 'fields', ...ofSums] as const
type Several = Record<(typeof several)[number], string[]>
/** Read elsewhere. */
const everywhere = new Set(['api_key', 'row'])

export function parseReadWish(parameters: Parameters, readable: Readable): ReadWish | Refusal {
  if (parameters === noParameters) return wholeList
  const single = new Map<string, string>()
  const lists: Several = { sort: [], fields: [], aggregate: [], group_by: [], distinct: [] }
  const filters: (readonly [string, string])[] = []
  for (const parameter of parameters) {
    const [name, value] = parameter
    if (everywhere.has(name)) continue
    if (parametersOf[readable].includes(name)) {
      const list = several.find((one) => one === name)
      if (list) lists[list].push(value)
      else if ((single.get(name) ?? value) !== value)
        return invalid(`"${name}" was given twice with different values.`)
      else single.set(name, value)
    } else if (isIgnored(name) && !isBracketed(name)) {
    } else if (readable === 'row' && listNameIn(name) === 'fields') {
      lists.fields.push(value)
    } else if (readable === 'list' && sumsListIn(name)) {
      lists[sumsListIn(name) ?? 'aggregate'].push(value)
    } else if (readable !== 'list') {
      return invalid(notForLists(name, readable))
    } else if (isBooleanFilter(name) && value !== 'true' && value !== 'false') {
      return invalid(`"${shortenName(name)}" must be "true" or "false".`)
    } else filters.push(parameter)
  }
  return wishOf(single, lists, filters)
}

/** `group_by[]`: whether sums are asked for must be known before the header is. */
function sumsListIn(name: string): (typeof ofSums)[number] | undefined {
  return ofSums.find((one) => name.startsWith(one) && listNameIn(name) === one)
}

export function isBooleanFilter(name: string): boolean {
  const operator = operatorIn(name)
  return operator !== null && operatorTable[operator].takes === 'boolean'
}

function wishOf(
  single: ReadonlyMap<string, string>,
  { sort, fields, aggregate, group_by: groupBy, distinct }: Several,
  filters: Parameters,
): ReadWish | Refusal {
  const isSums = aggregate.length + groupBy.length + distinct.length > 0
  const sums = isSums ? { aggregate, groupBy, distinct } : null
  const wish: ReadWish = { ...wholeList, sort, fields, filters, sums, search: single.get('q') || null }
  for (const name of ['limit', 'offset'] as const) {
    const given = single.get(name)
    if (given === undefined) continue
    const count = wholeNumber(given)
    if (count === null) return invalid(`"${name}" must be a whole number of 0 or more.`)
    wish[name] = count
  }
  const rowNumbers = oneOf(single, 'row_numbers', ['false', 'true'])
  if (rowNumbers instanceof Refusal) return rowNumbers
  wish.rowNumbers = rowNumbers === 'true'
  const values = oneOf(single, 'values', ['typed', 'formatted'])
  if (values instanceof Refusal) return values
  wish.values = values ?? 'typed'
  const format = oneOf(single, 'format', formats)
  if (format instanceof Refusal) return format
  wish.format = format
  const escapeFormulas = oneOf(single, 'escape_formulas', ['false', 'true'])
  if (escapeFormulas instanceof Refusal) return escapeFormulas
  wish.escapeFormulas = escapeFormulas === 'true'
  const bom = oneOf(single, 'bom', ['false', 'true'])
  if (bom instanceof Refusal) return bom
  wish.bom = bom === 'true'
  if (sums && wish.rowNumbers) return invalid('"row_numbers" cannot be used here: sums are of many rows.')
  if (sums && wish.values === 'formatted') return invalid('"values=formatted" cannot be used with sums.')
  return wish
}

function oneOf<T extends string>(
  single: ReadonlyMap<string, string>,
  name: string,
  choices: readonly T[],
): T | null | Refusal {
  const given = single.get(name)
  if (given === undefined) return null
  const chosen = choices.find((choice) => choice === given)
  const words = choices.map((choice) => `"${choice}"`)
  return chosen ?? invalid(`"${name}" must be ${words.slice(0, -1).join(', ')} or ${words.at(-1)}.`)
}

function notForLists(name: string, readable: Exclude<Readable, 'list'>): string {
  const what = readable === 'row' ? 'one row is asked for, and that' : 'the description of a sheet'
  return `"${shortenName(name)}" cannot be used here: ${what} takes ${parametersOf[readable].join(', ')}.`
}

export function invalid(details: string): Refusal {
  return new Refusal('invalid_query', { details })
}
