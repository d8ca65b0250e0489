import type { ErrorForm } from '../../errors.ts'
import type { Operation } from '../../reporting/observe.ts'
import type { OrderedJson } from '../../sheets/rows/schema/ordered-json.ts'
import { folds } from '../../sheets/rows/sums/sums.ts'
import {
  addedSchema,
  changedSchema,
  exampleTime,
  listAnswer,
  manyChanged,
  oneRow,
  rowToWrite,
} from './answer-schemas.ts'
import type { ErrorResponses } from './error-responses.ts'
import {
  all,
  cacheControl,
  columnInPath,
  dryRun,
  idempotencyKey,
  ifMatch,
  ifMatchOfList,
  ifMatchOfUpsert,
  ifNoneMatch,
  maxRows,
  onMatch,
  readParameters,
  rowInPath,
  search,
  upsert,
  valueInPath,
} from './parameters.ts'
import type { SharedComponents } from './shared-components.ts'

/** What of a sheet's operations depends on the sheet. */
export interface SheetOperations {
  form: 'a' | 'b'
  /** The address of the rows. */
  url: string
  errors: ErrorResponses
  shared: SharedComponents
  /** Those of the path, before each operation's own. */
  pathParameters: readonly OrderedJson[]
  filters: readonly OrderedJson[]
  /** A few of its rows, as they are read. */
  exampleRows: readonly OrderedJson[]
  exampleRowNumbers: readonly number[]
  /** A row that can be added, and a change that can be made to the first row. */
  exampleToAdd: OrderedJson
  exampleChange: OrderedJson
  /** Their names; null where they are not known. */
  columns: readonly string[] | null
  totalRows: number
  /** Whether reading needs a key. */
  isPublic: boolean
}

type Json = { [key: string]: OrderedJson }

/** Headers of an answer that differ with who asks. */
const ofTheCaller = ['X-RateLimit-Remaining', 'X-RateLimit-Reset', 'X-Quota-Remaining']
const ofARead = ['ETag', 'Age', 'Cache-Status', ...ofTheCaller]

const readHelp =
  'Further parameters: `values=formatted` gives cells as the spreadsheet displays them, `format=csv` or `format=ndjson` (or ' +
  '`Accept`) another format, for CSV also `bom=true` and `escape_formulas=true`. Further headers: `If-None-Match` with an `ETag` ' +
  'from before, and `Cache-Control: no-cache` to look at the spreadsheet now.'

const writeHelp =
  'With a header `Idempotency-Key` (a new text for each write) it can safely be sent again. ' +
  '`dry_run=true` returns the same response and writes nothing.'
const sumsHelp =
  `With \`aggregate=count(),sum(price)\` (${folds.join(', ')}) and \`group_by=category,month(day)\`, figures about the rows instead of ` +
  'the rows; `distinct=city` counts each value. Cells that do not fit are left out and counted (`X-Ignored-Cells`).'

const guardHelp = 'With `If-Match` (the `ETag` of the row) nothing is done unless the row is still that one.'

export function rowsPath(sheet: SheetOperations): Json {
  const { form } = sheet
  const list = form === 'a' ? sheet.exampleRows : listExample(sheet)
  const read = {
    description: `The rows, filtered, sorted and cut into pages as asked. ${sumsHelp} ${readHelp}`,
    parameters: [...readParameters('list', sheet.columns), ...sheet.filters, ...headersOfReads(sheet)],
    ...readSecurity(sheet),
  }
  const rowsAdded = sheet.shared.schema(nameIn(form, 'RowsAdded'), addedSchema(form))
  const addition = {
    description:
      'Adds a row after the last row with data. An array of up to 1,000 objects adds them all, or none. With `upsert=` and the name ' +
      'of a column, rows whose value is there are changed instead, or with `on_match=skip` left as they are; 200 where none was added. ' +
      'With `If-Match` (the `ETag` of the list) an upsert does nothing unless the whole sheet is still as it was. ' +
      `A form (\`application/x-www-form-urlencoded\`, \`multipart/form-data\`) is taken too. ${writeHelp}`,
    ...(sheet.columns === null && { parameters: [upsert, onMatch, dryRun, idempotencyKey, ifMatchOfUpsert] }),
    requestBody: bodyWith(sheet.exampleToAdd),
  }
  return {
    ...parameters(sheet.pathParameters),
    get: operation('listRows', 'Read rows', sheet, 'list_rows', read, {
      200: success('The rows.', ['X-Total-Count', 'Link', ...ofARead], json(listAnswer(form), list)),
      304: notModified,
    }),
    post: operation('addRows', 'Add rows', sheet, 'add_rows', addition, {
      200: success('With `upsert`, where none was added.', ofAWrite, json(rowsAdded)),
      201: success('The rows as they were added.', ['Location', 'ETag', ...ofAWrite], json(rowsAdded)),
    }),
    ...(sheet.columns === null && manyRows(sheet)),
  }
}

/** In the description of all sheets only: in a sheet's own it would be a button that deletes rows. */
function manyRows(sheet: SheetOperations): Json {
  const { form } = sheet
  const choice = [search, ...sheet.filters, all, maxRows, dryRun, idempotencyKey, ifMatchOfList]
  const help = `All together or none; \`If-Match\` takes the \`ETag\` of the list. ${writeHelp}`
  const change = {
    description: `Changes the given columns of all rows that the filters and \`q\` leave. ${help}`,
    parameters: choice,
    requestBody: bodyWith(sheet.exampleChange),
  }
  const removal = {
    description: `Deletes all rows that the filters and \`q\` leave. ${help}`,
    parameters: choice,
  }
  const told = (what: string, count: 'rows_updated' | 'rows_deleted') => ({
    200: success(what, ofAWrite, json(manyChanged(form, count))),
  })
  return {
    patch: operation(
      'changeRows',
      'Change many rows',
      sheet,
      'update_row',
      change,
      told('The rows now.', 'rows_updated'),
    ),
    delete: operation(
      'deleteRows',
      'Delete many rows',
      sheet,
      'delete_row',
      removal,
      told('What they held.', 'rows_deleted'),
    ),
  }
}

/** A row by what it holds: in any column, or in the sheet's key column, whose name the path has. */
export function namedRowPath(sheet: SheetOperations, example: OrderedJson | null): Json {
  const isAnyColumn = sheet.columns === null
  const read = {
    description: `The row that has this value. None is 404, several are 409. ${readHelp}`,
    parameters: [...readParameters('row', sheet.columns), ...headersOfReads(sheet)],
    ...readSecurity(sheet),
  }
  const named = [...(isAnyColumn ? [columnInPath] : []), valueInPath(example)]
  return {
    ...parameters([...sheet.pathParameters, ...named]),
    get: operation('readNamedRow', 'Read the row that has a value', sheet, 'get_row', read, {
      200: rowRead(sheet),
      304: notModified,
    }),
    ...changes(sheet, 'Named'),
  }
}

const ofAWrite = ['Idempotent-Replayed', ...ofTheCaller]

export function rowPath(sheet: SheetOperations): Json {
  const read = {
    description: `The row with this number. ${readHelp}`,
    parameters: [...readParameters('row', sheet.columns), ...headersOfReads(sheet)],
    ...readSecurity(sheet),
  }
  const [number = 2] = sheet.exampleRowNumbers
  return {
    ...parameters([...sheet.pathParameters, rowInPath(number)]),
    get: operation('readRow', 'Read one row', sheet, 'get_row', read, {
      200: rowRead(sheet),
      304: notModified,
    }),
    ...changes(sheet),
  }
}

function rowRead({ form, exampleRows, exampleRowNumbers, totalRows, shared }: SheetOperations): Json {
  const [first = {}] = exampleRows
  const [row = 2] = exampleRowNumbers
  const example = form === 'a' ? first : { data: first, meta: { row, as_of: exampleTime } }
  const content = json(oneRow(form), totalRows > 0 ? example : undefined)
  return shared.response(nameIn(form, 'RowRead'), success('The row.', ofARead, content))
}

/** `schema` and `openapi.json` below a sheet. */
const descriptions = {
  schema: ['Schema', 'The JSON Schema of the rows', 'application/schema+json', 'object'],
  openapi: ['Description', 'The OpenAPI description of this sheet', 'application/json', 'object'],
  types: ['Types', 'The TypeScript of the rows', 'text/plain', 'string'],
} as const

export function descriptionPath(sheet: SheetOperations, what: keyof typeof descriptions): Json {
  const [name, summary, mediaType, type] = descriptions[what]
  const takes = what === 'types' ? 'types' : 'description'
  const read = {
    description: `${summary}, as its cells are now.`,
    parameters: [...readParameters(takes, sheet.columns), ...headersOfReads(sheet)],
    ...readSecurity(sheet),
  }
  const content = { [mediaType]: { schema: { type } } }
  return {
    ...parameters(sheet.pathParameters),
    get: operation(`read${name}`, summary, sheet, 'describe', read, {
      200: success(`${summary}.`, ofARead, content),
      304: notModified,
    }),
  }
}

export const notModified: Json = { $ref: '#/components/responses/NotModified' }

/** PUT and PATCH do the same: the given columns change. */
function changes(sheet: SheetOperations, named: 'Named' | '' = ''): Json {
  const headers = sheet.columns === null ? { parameters: [dryRun, idempotencyKey, ifMatch] } : {}
  const change = (description: string) => ({
    description,
    ...headers,
    requestBody: bodyWith(sheet.exampleChange),
  })
  const { form, shared } = sheet
  const content = json(shared.schema(nameIn(form, 'RowChanged'), changedSchema(form)))
  const updated = shared.response(
    nameIn(form, 'RowUpdated'),
    success('The whole row after the change.', ['ETag', ...ofAWrite], content),
  )
  const deleted = shared.response(
    nameIn(form, 'RowDeleted'),
    success('What the row held.', ofAWrite, content),
  )
  const removal = { description: `Rows below move up. ${guardHelp} ${writeHelp}`, ...headers }
  return {
    put: operation(
      `update${named}Row`,
      'Change a row',
      sheet,
      'update_row',
      change(`The given columns change, the others stay. ${guardHelp} ${writeHelp}`),
      { 200: updated },
    ),
    patch: operation(
      `patch${named}Row`,
      'Change a row, as PUT does',
      sheet,
      'update_row',
      change('The same as PUT.'),
      { 200: updated },
    ),
    delete: operation(`delete${named}Row`, 'Delete a row', sheet, 'delete_row', removal, { 200: deleted }),
  }
}

function bodyWith(example: OrderedJson): Json {
  return { required: true, content: json(rowToWrite, example) }
}

function operation(
  id: string,
  summary: string,
  { form, errors }: SheetOperations,
  kind: Operation,
  more: Json,
  responses: Record<number, OrderedJson>,
): Json {
  return {
    operationId: nameIn(form, id),
    summary,
    tags: [kind === 'describe' ? 'Descriptions' : 'Rows'],
    ...more,
    responses: { ...responses, ...errors.of(kind, errorFormIn(form)) },
  }
}

/** Both forms may be in one description. */
function nameIn(form: 'a' | 'b', name: string): string {
  return form === 'a' ? name : `${name}ById`
}

export function errorFormIn(form: 'a' | 'b'): ErrorForm {
  return form === 'a' ? 'flat' : 'nested'
}

function parameters(given: readonly OrderedJson[]): Json {
  return given.length > 0 ? { parameters: given } : {}
}

/**
 * In the description of all sheets only. In a sheet's own they would be fields that generated clients and forms fill with anything:
 * its prose names them.
 */
function headersOfReads({ columns }: SheetOperations): OrderedJson[] {
  return columns === null ? [ifNoneMatch, cacheControl] : []
}

function readSecurity({ isPublic }: SheetOperations): Json {
  return isPublic ? { security: [{}, { bearer: [] }] } : {}
}

function success(description: string, headers: readonly string[], content: OrderedJson): Json {
  const references = headers.map((name) => [name, { $ref: `#/components/headers/${name}` }])
  return { description, headers: Object.fromEntries(references), content }
}

function json(schema: OrderedJson, example?: OrderedJson): Json {
  return { 'application/json': { schema, ...(example !== undefined && { example }) } }
}

function listExample(sheet: SheetOperations): OrderedJson {
  const { url, exampleRows, exampleRowNumbers, columns, totalRows } = sheet
  const count = exampleRows.length
  const further = count < totalRows ? { next: `${url}?limit=${count}&offset=${count}` } : {}
  const page = { total: totalRows, count, limit: count, offset: 0 }
  return {
    data: exampleRows,
    meta: {
      ...page,
      columns: columns ?? exampleColumns,
      rows: exampleRowNumbers,
      ...further,
      as_of: exampleTime,
    },
  }
}

const exampleColumns = ['name', 'price', 'in_stock']
