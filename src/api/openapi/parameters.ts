import {
  argumentKinds,
  type FilterOperator,
  filterOperators,
  operatorTable,
} from '../../sheets/rows/query/operators.ts'
import type { OrderedJson } from '../../sheets/rows/schema/ordered-json.ts'
import { folds } from '../../sheets/rows/sums/sums.ts'
import { parametersOf, type Readable } from '../request/read-wish.ts'

type Json = { [key: string]: OrderedJson }

/*
 * What each parameter shows as its example is sent by whoever presses "Execute" without a look: all of them together must give
 * rows.
 */

/** Each parameter of a read that is described; `read-wish.ts` says which belong where. */
const described: Record<string, Json> = {
  q: {
    description: 'Rows in which any column contains this text, in any case.',
    schema: { type: 'string' },
    example: '',
  },
  sort: {
    description:
      'Columns to sort by, in priority order. Prefix with `-` to sort descending. Empty cells come last.',
    schema: { type: 'array', items: { type: 'string' } },
  },
  limit: {
    description: 'Maximum number of rows. Default: all.',
    schema: { type: 'integer', minimum: 0 },
    example: 10,
  },
  offset: {
    description: 'Number of rows to skip.',
    schema: { type: 'integer', minimum: 0 },
    example: 0,
  },
  fields: {
    description: 'Only these columns, in this order: rows then have no others.',
    schema: { type: 'array', items: { type: 'string' } },
  },
  row_numbers: {
    description: 'Adds `_row`, the number of the row in the sheet, as the first key.',
    schema: { type: 'boolean' },
    example: true,
  },
  values: {
    description: 'Typed JSON values, or every cell as the spreadsheet displays it, all of them strings.',
    schema: { type: 'string', enum: ['typed', 'formatted'] },
    example: 'typed',
  },
  aggregate: {
    description: `Figures about the rows instead of the rows: ${folds.join(', ')}, as in \`count()\` and \`sum(price)\`.`,
    schema: { type: 'array', items: { type: 'string' } },
    example: [],
  },
  group_by: {
    description: 'A row of figures for each group: columns, or a part of a date, as in `month(day)`.',
    schema: { type: 'array', items: { type: 'string' } },
    example: [],
  },
  distinct: {
    description: 'Each value of these columns once, with its count.',
    schema: { type: 'array', items: { type: 'string' } },
    example: [],
  },
}

/** What answers in several media types is taken for a stream by client generators. The prose names them. */
const onlyInProse = new Set(['format', 'escape_formulas', 'bom'])
/**
 * Likewise in a sheet's own description: with `values=formatted` rows have other types than it tells, and figures about rows are no
 * rows.
 */
const ofNoRow = new Set(['values', 'aggregate', 'group_by', 'distinct'])

/** `columns`: names to show as an example, where they are known. */
export function readParameters(readable: Readable, columns: readonly string[] | null): OrderedJson[] {
  const names = parametersOf[readable].filter(
    (name) => !onlyInProse.has(name) && (columns === null || !ofNoRow.has(name)),
  )
  return names.map((name) => ({ name, in: 'query', ...described[name], ...ownExample(name, columns ?? []) }))
}

const mostShownColumns = 20

function ownExample(name: string, columns: readonly string[]): Json {
  // Postman writes a percent sign into an address as it is.
  const writable = columns.filter((column) => !column.includes('%'))
  if (name === 'sort') return { example: writable.slice(0, 1) }
  return name === 'fields' ? { example: writable.slice(0, mostShownColumns) } : {}
}

export const ifNoneMatch = {
  name: 'If-None-Match',
  in: 'header',
  description: 'An `ETag` from before: 304 without a body while it still holds.',
  schema: { type: 'string' },
}

export const cacheControl = {
  name: 'Cache-Control',
  in: 'header',
  description: '`no-cache` bypasses the cache.',
  schema: { type: 'string' },
}

export const ifMatch = {
  name: 'If-Match',
  in: 'header',
  description: 'The `ETag` of the row: nothing is done unless the row is still that one.',
  schema: { type: 'string' },
  example: '*',
}

export const ifMatchOfList = {
  ...ifMatch,
  description: 'The `ETag` of the list: nothing is done unless the whole sheet is still as it was.',
}

export const ifMatchOfUpsert = {
  ...ifMatchOfList,
  description: `With \`upsert\`. ${ifMatchOfList.description}`,
}

export const search: Json = { name: 'q', in: 'query', ...described.q }

export const idempotencyKey = {
  name: 'Idempotency-Key',
  in: 'header',
  description:
    'A unique key for this request, kept for 24 hours. Retries with it return the original response.',
  schema: { type: 'string', minLength: 1, maxLength: 255 },
}

const yes = { type: 'boolean', default: false }

export const upsert = {
  name: 'upsert',
  in: 'query',
  description: 'A column: rows whose value is there are changed instead of added.',
  schema: { type: 'string' },
}

export const onMatch = {
  name: 'on_match',
  in: 'query',
  description: 'With `upsert`: what becomes of rows that are there.',
  schema: { type: 'string', enum: ['change', 'skip'], default: 'change' },
}

export const dryRun = {
  name: 'dry_run',
  in: 'query',
  description: 'The same response, with `dry_run`; nothing is written.',
  schema: yes,
}

export const all = {
  name: 'all',
  in: 'query',
  description: 'Without a filter: all rows are meant.',
  schema: yes,
}

export const maxRows = {
  name: 'max_rows',
  in: 'query',
  description: 'If more rows match, nothing is done: 409.',
  schema: { type: 'integer', minimum: 1, maximum: 10_000, default: 100 },
}

export const columnInPath = {
  name: 'column',
  in: 'path',
  required: true,
  description: 'The name of a column, as in a filter.',
  schema: { type: 'string' },
}

export function valueInPath(example: OrderedJson | null): Json {
  return {
    name: 'value',
    in: 'path',
    required: true,
    description: 'What the row holds there, as in a filter with `eq`.',
    schema: { type: 'string' },
    ...(example !== null && { example }),
  }
}

export function rowInPath(example: number): Json {
  return {
    name: 'row',
    in: 'path',
    required: true,
    description: 'The number of the row in the sheet; the first row of data is 2.',
    schema: { type: 'integer', minimum: 2 },
    example,
  }
}

const operatorHelp =
  `Operators: ${filterOperators.join(', ')}. ` +
  `${Object.entries(argumentKinds)
    .flatMap(([kind, { description }]) => (description === null ? [] : [thoseThatTake(kind, description)]))
    .join('; ')}.`

/** Beyond so many, the filters of further columns are left to the description of one. */
const maxFilters = 200

/** `price[gte]=10`: an object of operators for each column. */
export function filterParameters(keys: readonly string[]): OrderedJson[] {
  return keys.slice(0, maxFilters).map((key) =>
    meansSomethingElse(key)
      ? { name: `${key}[eq]`, in: 'query', schema: { type: 'string' } }
      : {
          name: key,
          in: 'query',
          style: 'deepObject',
          explode: true,
          schema: { $ref: '#/components/schemas/Filter' },
          example: {},
        },
  )
}

const takenNames = new Set([...parametersOf.list, 'row', 'api_key'])

/** Here, or in tools that look a parameter up in an object of theirs and find what every object has. */
function meansSomethingElse(key: string): boolean {
  return takenNames.has(key) || key in Object.prototype
}

/** The filter by a column that is not known: any name may be one. */
export const anyFilter = {
  name: 'filters',
  in: 'query',
  description: filterHelp(),
  style: 'form',
  explode: true,
  schema: { type: 'object', additionalProperties: { type: 'string' } },
  example: {},
}

export const filterSchema = {
  type: 'object',
  description: filterHelp(),
  properties: Object.fromEntries(filterOperators.map((operator) => [operator, operandOf(operator)])),
  additionalProperties: false,
}

/** A number may be written as one: it is a text in the address anyway. */
function operandOf(operator: FilterOperator): OrderedJson {
  const { takes, compares } = operatorTable[operator]
  if (takes === 'boolean') return { type: 'boolean' }
  const isTyped = takes === 'value' && compares !== 'text'
  return isTyped
    ? { anyOf: [{ type: 'string' }, { type: 'number' }, { type: 'boolean' }] }
    : { type: 'string' }
}

function filterHelp(): string {
  return (
    '`column=value` (equal) or `column[operator]=value`; all must hold. Numbers compare as numbers, dates by time, ' +
    `text in any case. ${operatorHelp}`
  )
}

/** `in` and `nin` take …: a sentence without its end. */
function thoseThatTake(what: string, inWords: string): string {
  const names = filterOperators.filter((operator) => operatorTable[operator].takes === what)
  const listed = names.map((name) => `\`${name}\``).join(' and ')
  return `${listed} ${names.length === 1 ? 'takes' : 'take'} ${inWords}`
}
