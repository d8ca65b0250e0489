import { filterOperators, operatorTable } from '../../sheets/rows/query/operators.ts'
import type { OrderedJson } from '../../sheets/rows/schema/ordered-json.ts'
import { parametersOf, type Readable } from '../request/read-wish.ts'

type Json = { [key: string]: OrderedJson }

/** Each parameter of a read, by name; `read-wish.ts` says which belong where. */
const described: Record<string, Json> = {
  q: {
    description: 'Rows in which any column contains this text, in any case.',
    schema: { type: 'string' },
  },
  sort: {
    description:
      'Columns to sort by, the first first; a minus before a name turns its order round. Empty cells come last. A ' +
      'name with a comma goes into a parameter of its own.',
    style: 'form',
    explode: false,
    schema: { type: 'array', items: { type: 'string' } },
  },
  limit: {
    description: 'At most so many rows. Without it, all.',
    schema: { type: 'integer', minimum: 0 },
  },
  offset: {
    description: 'So many rows are left out at the beginning.',
    schema: { type: 'integer', minimum: 0, default: 0 },
  },
  fields: {
    description: 'Only these columns, in this order. A name with a comma goes into a parameter of its own.',
    style: 'form',
    explode: false,
    schema: { type: 'array', items: { type: 'string' } },
  },
  row_numbers: {
    description: 'Adds `_row`, the number of the row in the sheet, as the first key.',
    schema: { type: 'boolean', default: false },
  },
  values: {
    description: 'Typed JSON values, or every cell as the spreadsheet displays it, all of them strings.',
    schema: { type: 'string', enum: ['typed', 'formatted'], default: 'typed' },
  },
  format: {
    description: 'The format of the answer; stronger than `Accept`.',
    schema: { type: 'string', enum: ['json', 'csv', 'ndjson'], default: 'json' },
  },
  escape_formulas: {
    description:
      'For CSV that people open in a spreadsheet program: a text, or a name, that could be taken for a formula there gets ' +
      "a `'` before it. Other formats stay as they are.",
    schema: { type: 'boolean', default: false },
  },
}

export function readParameters(readable: Readable): OrderedJson[] {
  return parametersOf[readable].map((name) => ({ name, in: 'query', required: false, ...described[name] }))
}

export const ifNoneMatch = {
  name: 'If-None-Match',
  in: 'header',
  required: false,
  description: 'An `ETag` from before: the answer is 304 without a body while it still holds.',
  schema: { type: 'string' },
}

export const cacheControl = {
  name: 'Cache-Control',
  in: 'header',
  required: false,
  description: '`no-cache` looks at the spreadsheet now.',
  schema: { type: 'string' },
}

export const ifMatch = {
  name: 'If-Match',
  in: 'header',
  required: false,
  description: 'The `ETag` of the row: nothing is done unless the row is still that one.',
  schema: { type: 'string' },
}

export const idempotencyKey = {
  name: 'Idempotency-Key',
  in: 'header',
  required: false,
  description:
    'A name for this request, for 24 hours: sent again with the same name, it is not done again but answered again.',
  schema: { type: 'string', minLength: 1, maxLength: 255 },
}

export const rowInPath = {
  name: 'row',
  in: 'path',
  required: true,
  description: 'The number of the row in the sheet; the first row of data is 2.',
  schema: { type: 'integer', minimum: 2 },
}

export const rowInQuery = { ...rowInPath, in: 'query' }

const operatorHelp =
  `Operators: ${filterOperators.join(', ')}. ` +
  `${thoseThatTake('list', '`a,b`, or one value in each repetition')}; ` +
  `${thoseThatTake('boolean', '`true` or `false`')}.`

const columnFilterHelp = `Filters by this column: \`=value\` (equal) or \`[operator]=value\`. ${operatorHelp}`

const reservedFilterHelp = `Filters by this column, whose bare name means something else here. ${operatorHelp}`

/** Beyond so many, the filters of further columns are left to the description of one. */
const maxFilters = 200

/** `price[gte]=10`: an object of operators for each column. */
export function filterParameters(keys: readonly string[]): OrderedJson[] {
  const reserved = new Set([...parametersOf.list, 'row', 'api_key'])
  return keys.slice(0, maxFilters).map((key) =>
    reserved.has(key)
      ? {
          name: `${key}[eq]`,
          in: 'query',
          required: false,
          description: reservedFilterHelp,
          schema: { type: 'string' },
        }
      : {
          name: key,
          in: 'query',
          required: false,
          description: columnFilterHelp,
          style: 'deepObject',
          explode: true,
          schema: { $ref: '#/components/schemas/Filter' },
        },
  )
}

/** The filter by a column that is not known: any name may be one. */
export const anyFilter = {
  name: 'filters',
  in: 'query',
  required: false,
  description: filterHelp(),
  style: 'form',
  explode: true,
  schema: { type: 'object', additionalProperties: { type: 'string' } },
}

export const filterSchema = {
  type: 'object',
  description: filterHelp(),
  properties: Object.fromEntries(
    filterOperators.map((operator) => [
      operator,
      { type: operatorTable[operator].takes === 'boolean' ? 'boolean' : 'string' },
    ]),
  ),
  additionalProperties: false,
}

function filterHelp(): string {
  return (
    '`column=value` (equal) or `column[operator]=value`; all must hold. Numbers compare as numbers, dates by time, ' +
    `text in any case. ${operatorHelp}`
  )
}

/** `in` and `nin` take …: a sentence without its end. */
function thoseThatTake(what: 'list' | 'boolean', inWords: string): string {
  const names = filterOperators.filter((operator) => operatorTable[operator].takes === what)
  const listed = names.map((name) => `\`${name}\``).join(' and ')
  return `${listed} ${names.length === 1 ? 'takes' : 'take'} ${inWords}`
}
