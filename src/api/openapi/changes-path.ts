import type { OrderedJson } from '../../sheets/rows/schema/ordered-json.ts'
import type { SheetOperations } from './operations.ts'

type Json = { [key: string]: OrderedJson }

const parameter = (name: string, description: string, schema: Json, example?: OrderedJson): Json => ({
  name,
  in: 'query',
  description,
  schema,
  ...(example !== undefined && { example }),
})

const place = [
  parameter(
    'since',
    'A cursor, or `earliest`. Without it: the present cursor and nothing else.',
    { type: 'string' },
    'earliest',
  ),
  parameter('limit', 'At most N.', { type: 'integer', minimum: 1, maximum: 1_000, default: 100 }, 100),
  parameter(
    'wait',
    'Seconds to wait where there is nothing yet.',
    { type: 'integer', minimum: 0, maximum: 60, default: 0 },
    0,
  ),
]

const filters = [
  parameter('kind', 'Only these, separated by commas.', { type: 'string' }),
  parameter('source', 'Only what was written here, or only what people did.', {
    type: 'string',
    enum: ['api', 'outside'],
  }),
  parameter('key', 'Only of the row with this key.', { type: 'string' }),
  parameter('row', 'Only of this row.', { type: 'integer' }),
]
const filtersInWords =
  '`kind=added,updated`, `source=outside`, `key=` and `row=` leave out all others. `before` and `after` are rows, or names of columns ' +
  'where `kind` is `columns_changed`.'

const orNull = (type: string): Json => ({ type: [type, 'null'] })

const change: Json = {
  type: 'object',
  properties: {
    cursor: { type: 'string' },
    at: { type: 'string' },
    kind: { type: 'string', enum: ['added', 'updated', 'deleted', 'columns_changed', 'reset'] },
    row: orNull('integer'),
    key: {},
    before: {},
    after: {},
    changed: { type: 'array', items: { type: 'string' } },
    renamed: { type: 'array', items: { type: 'object' } },
    identity: { type: 'string', enum: ['position'] },
    source: { type: 'string', enum: ['api', 'outside'] },
    operation: orNull('string'),
    by: orNull('string'),
  },
  required: ['cursor', 'at', 'kind', 'row', 'key', 'before', 'after', 'source', 'operation', 'by'],
}

/** A sheet's own description has filters in its words only: forms and generated clients would fill them, and nothing would be left. */
export function changesPath({
  form,
  errors,
  shared,
  columns,
  pathParameters,
  isPublic,
}: SheetOperations): Json {
  const list = { type: 'array', items: shared.schema('Change', change) }
  const meta = {
    type: 'object',
    properties: { count: { type: 'integer' }, cursor: { type: 'string' }, more: { type: 'boolean' } },
    required: ['count', 'cursor', 'more'],
  }
  const nested = { type: 'object', properties: { data: list, meta }, required: ['data', 'meta'] }
  const schema = form === 'a' ? list : nested
  const isOfOneSheet = columns !== null
  return {
    ...(pathParameters.length > 0 && { parameters: [...pathParameters] }),
    get: {
      operationId: form === 'a' ? 'listChanges' : 'listChangesById',
      summary: 'What became of the rows',
      description:
        'Changes after a cursor, in order and without gaps. Lists of rows carry the cursor to begin with (`X-Change-Cursor`), and so does ' +
        'each response. With `Accept: text/event-stream` they are told as they come, as server-sent events, whose `id` is the cursor.' +
        (isOfOneSheet ? ` ${filtersInWords}` : ''),
      tags: ['Rows'],
      parameters: isOfOneSheet ? place : [...place, ...filters],
      ...(isPublic && { security: [{}, { bearer: [] }] }),
      responses: {
        200: { description: 'The changes.', content: { 'application/json': { schema } } },
        ...errors.of('list_changes', form === 'a' ? 'flat' : 'nested'),
      },
    },
  }
}

/** In the description of all sheets: in a sheet's own it would be a button that takes from the owner's ration. */
export function refreshPath({ form, errors, pathParameters }: SheetOperations): Json {
  const looked = { type: 'boolean' }
  const cursor = orNull('string')
  const flat = {
    type: 'object',
    properties: { success: { type: 'boolean' }, message: { type: 'string' }, looked, cursor },
    required: ['success', 'message', 'looked', 'cursor'],
  }
  const nested = {
    type: 'object',
    properties: {
      data: { type: 'object', properties: { looked }, required: ['looked'] },
      meta: { type: 'object', properties: { cursor }, required: ['cursor'] },
    },
    required: ['data', 'meta'],
  }
  const content = { 'application/json': { schema: form === 'a' ? flat : nested } }
  return {
    ...(pathParameters.length > 0 && { parameters: [...pathParameters] }),
    post: {
      operationId: form === 'a' ? 'refreshSheet' : 'refreshSheetById',
      summary: 'Look at the spreadsheet now',
      description:
        'What people did in the spreadsheet is in the log of changes when Rowport has looked. Any key will do, and one is needed. What is asked for ' +
        'within a second is one look.',
      tags: ['Rows'],
      responses: {
        200: { description: 'It was looked at; where the log stands.', content },
        202: { description: 'Reads at the provider are scarce: it is looked at in its turn.', content },
        ...errors.of('refresh', form === 'a' ? 'flat' : 'nested'),
      },
    },
  }
}
