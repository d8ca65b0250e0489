import type { ErrorForm } from '../../errors.ts'
import type { Operation } from '../../reporting/observe.ts'
import type { OrderedJson } from '../../sheets/rows/schema/ordered-json.ts'
import { added, changed, exampleTime, listAnswer, oneRow, writtenRow } from './answer-schemas.ts'
import { errorResponses } from './error-responses.ts'
import {
  cacheControl,
  idempotencyKey,
  ifMatch,
  ifNoneMatch,
  readParameters,
  rowInPath,
  rowInQuery,
} from './parameters.ts'

/** What of a sheet's operations depends on the sheet. */
export interface SheetOperations {
  form: 'a' | 'b'
  /** Those of the path, before each operation's own. */
  pathParameters: readonly OrderedJson[]
  filters: readonly OrderedJson[]
  /** A few of its rows, as they are read. */
  exampleRows: readonly OrderedJson[]
  exampleRowNumbers: readonly number[]
  /** Their names. */
  columns: OrderedJson
  totalRows: number
  /** Whether reading needs a key. */
  isPublic: boolean
}

type Json = { [key: string]: OrderedJson }

/** Headers of a read that differ with who asks. */
const ofTheCaller = [
  'Cache-Control',
  'X-RateLimit-Limit',
  'X-RateLimit-Remaining',
  'X-RateLimit-Reset',
  'X-Quota-Limit',
  'X-Quota-Remaining',
  'X-Quota-Reset',
]

export function rowsPath(sheet: SheetOperations): Json {
  const { form } = sheet
  const parameters = [...readParameters('list'), { ...rowInQuery, required: false }, ...sheet.filters]
  const list = form === 'a' ? sheet.exampleRows : listExample(sheet)
  const headers = ['X-Total-Count', 'Link', 'ETag', 'Age', 'Cache-Status', 'Content-Encoding', ...ofTheCaller]
  const read = {
    description: 'The rows, or with `row` one of them.',
    parameters: [...parameters, ifNoneMatch, cacheControl],
    ...readSecurity(sheet),
  }
  return {
    ...pathParameters(sheet),
    get: operation('listRows', 'Read rows', sheet, 'list_rows', read, {
      200: success('The rows.', headers, rowContent({ anyOf: [listAnswer(form), oneRow(form)] }, list)),
      304: notModified,
    }),
    head: operation('headRows', 'The headers of GET', sheet, 'list_rows', read, {
      200: { description: 'Like GET, without the body.', headers: headerRefs(headers) },
      304: notModified,
    }),
    post: operation('addRows', 'Add rows', sheet, 'add_rows', addition(sheet), {
      201: success('The rows as they were added.', ['Location', 'Idempotent-Replayed'], json(added(form))),
    }),
    ...changes(sheet, 'Named', [rowInQuery]),
    options,
  }
}

export function rowPath(sheet: SheetOperations): Json {
  const headers = ['ETag', 'Age', 'Cache-Status', 'Content-Encoding', ...ofTheCaller]
  const read = {
    parameters: [rowInPath, ...readParameters('row'), ifNoneMatch, cacheControl],
    ...readSecurity(sheet),
  }
  const [first = {}] = sheet.exampleRows
  const example =
    sheet.form === 'a'
      ? first
      : { data: first, meta: { row: sheet.exampleRowNumbers[0] ?? 2, as_of: exampleTime } }
  return {
    ...pathParameters(sheet),
    get: operation('readRow', 'Read one row', sheet, 'get_row', read, {
      200: success('The row.', headers, rowContent(oneRow(sheet.form), example)),
      304: notModified,
    }),
    head: operation('headRow', 'The headers of GET', sheet, 'get_row', read, {
      200: { description: 'Like GET, without the body.', headers: headerRefs(headers) },
      304: notModified,
    }),
    ...changes(sheet, '', [rowInPath]),
    options,
  }
}

/** `schema` and `openapi.json` below a sheet. */
export function descriptionPath(sheet: SheetOperations, what: 'schema' | 'openapi'): Json {
  const isSchema = what === 'schema'
  const read = {
    parameters: [...readParameters('description'), ifNoneMatch, cacheControl],
    ...readSecurity(sheet),
  }
  const content = {
    [isSchema ? 'application/schema+json' : 'application/json']: { schema: { type: 'object' } },
  }
  const name = isSchema ? 'Schema' : 'Description'
  const summary = isSchema ? 'The JSON Schema of the rows' : 'The OpenAPI description of this sheet'
  const headers = ['ETag', 'Age', 'Cache-Status', 'Content-Encoding', ...ofTheCaller]
  return {
    ...pathParameters(sheet),
    get: operation(`read${name}`, summary, sheet, 'describe', read, {
      200: success(`${summary}.`, headers, content),
      304: notModified,
    }),
    head: operation(`head${name}`, 'The headers of GET', sheet, 'describe', read, {
      200: { description: 'Like GET, without the body.', headers: headerRefs(headers) },
      304: notModified,
    }),
    options,
  }
}

export const options: Json = {
  summary: 'What a browser asks before a request (CORS)',
  security: [],
  responses: { 204: { description: 'Any origin may call.' } },
}

export const notModified: Json = { description: 'Nothing has changed: the `ETag` that was sent still holds.' }

/** PUT and PATCH do the same: the given columns change. */
function changes(sheet: SheetOperations, suffix: string, parameters: readonly OrderedJson[]): Json {
  const change = {
    parameters: [...parameters, idempotencyKey, ifMatch],
    requestBody: { required: true, content: { 'application/json': { schema: writtenRow } } },
  }
  const updated = success(
    'The whole row after the change.',
    ['ETag', 'Idempotent-Replayed'],
    json(changed(sheet.form)),
  )
  const deleted = success('What the row held.', ['Idempotent-Replayed'], json(changed(sheet.form)))
  const removal = { parameters: [...parameters, idempotencyKey, ifMatch] }
  const put = operation(`updateRow${suffix}`, 'Change a row', sheet, 'update_row', change, { 200: updated })
  return {
    put,
    patch: { ...put, ...operationId(sheet, `patchRow${suffix}`) },
    delete: operation(`deleteRow${suffix}`, 'Delete a row', sheet, 'delete_row', removal, { 200: deleted }),
  }
}

function addition({ exampleRows }: SheetOperations): Json {
  const schema = { oneOf: [writtenRow, { type: 'array', items: writtenRow, minItems: 1, maxItems: 1_000 }] }
  const example = exampleRows.length > 0 ? { example: exampleRows } : {}
  const content = { 'application/json': { schema, ...example } }
  return { parameters: [idempotencyKey], requestBody: { required: true, content } }
}

function operation(
  id: string,
  summary: string,
  sheet: SheetOperations,
  kind: Operation,
  more: Json,
  responses: Record<number, OrderedJson>,
): Json {
  return {
    ...operationId(sheet, id),
    summary,
    ...more,
    responses: { ...responses, ...errorResponses(kind, errorFormIn(sheet.form)) },
  }
}

/** Unique in a description of both forms. */
function operationId({ form }: SheetOperations, id: string): Json {
  return { operationId: form === 'a' ? id : `${id}ById` }
}

export function errorFormIn(form: 'a' | 'b'): ErrorForm {
  return form === 'a' ? 'flat' : 'nested'
}

function pathParameters({ pathParameters: parameters }: SheetOperations): Json {
  return parameters.length > 0 ? { parameters } : {}
}

function readSecurity({ isPublic }: SheetOperations): Json {
  return isPublic ? { security: [{}, { bearer: [] }, { header: [] }, { query: [] }] } : {}
}

function success(description: string, headers: readonly string[], content: OrderedJson): Json {
  return { description, headers: headerRefs(headers), content }
}

function headerRefs(names: readonly string[]): Json {
  return Object.fromEntries(names.map((name) => [name, { $ref: `#/components/headers/${name}` }]))
}

function rowContent(schema: OrderedJson, example: OrderedJson): Json {
  const text = { schema: { type: 'string' } }
  return { 'application/json': { schema, example }, 'text/csv': text, 'application/x-ndjson': text }
}

function json(schema: OrderedJson): Json {
  return { 'application/json': { schema } }
}

function listExample({ exampleRows, exampleRowNumbers, columns, totalRows }: SheetOperations): OrderedJson {
  const count = exampleRows.length
  const page = { total: totalRows, count, limit: count, offset: 0 }
  return { data: exampleRows, meta: { ...page, columns, rows: exampleRowNumbers, as_of: exampleTime } }
}
