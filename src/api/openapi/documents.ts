import type { SheetAddress } from '../../admission/judge.ts'
import { JsonText, type OrderedJson, orderedJsonText } from '../../sheets/rows/schema/ordered-json.ts'
import { rowSchema } from '../../sheets/rows/schema/row-schema.ts'
import type { IndexedSnapshot } from '../../sheets/rows/snapshot.ts'
import { pathOf } from '../request/routes.ts'
import { cellSchema, componentsOf, security } from './components.ts'
import { errorResponses } from './error-responses.ts'
import {
  descriptionPath,
  errorFormIn,
  notModified,
  options,
  rowPath,
  rowsPath,
  type SheetOperations,
} from './operations.ts'
import { anyFilter, filterParameters, ifNoneMatch } from './parameters.ts'

type Json = { [key: string]: OrderedJson }

const openapi = '3.1.0'

const anyCell = orderedJsonText(cellSchema)

/** The description of one sheet, in the form in which it was asked for. */
export function sheetDocument(address: SheetAddress, snapshot: IndexedSnapshot, isPublic: boolean): string {
  const { columns, rowNumbers, description } = snapshot
  const path = pathOf(address)
  const keys = columns.map(({ key }) => key)
  const exampleRows = description.exampleRowsJson.map((json) => new JsonText(json))
  const sheet: SheetOperations = {
    form: address.form,
    pathParameters: [],
    filters: filterParameters(keys),
    exampleRows,
    exampleRowNumbers: [...rowNumbers.subarray(0, exampleRows.length)],
    columns: new JsonText(`[${description.keysJson}]`),
    totalRows: rowNumbers.length,
    isPublic,
  }
  // With `row_numbers=true` a row has it, and in the answer to a write.
  const row = rowSchema(description, 'sometimes')
  const rowToWrite = {
    type: 'object',
    properties: new JsonText(`{${keys.map((key) => `${JSON.stringify(key)}:${anyCell}`).join(',')}}`),
    minProperties: 1,
  }
  return orderedJsonText({
    openapi,
    info: {
      title: `Rowport: ${address.form === 'a' ? `${address.accountSlug}/${address.sheetSlug}` : address.sheetId}`,
      version: '1',
      description: 'The rows of one spreadsheet. Types are those of the cells that it holds now.',
    },
    servers,
    security,
    paths: sheetPaths(path, sheet),
    components: componentsOf({ row, rowToWrite }, [errorFormIn(address.form)]),
  })
}

let keptApiDocument: string | null = null

/** The description of all that the API can do, for any sheet. */
export function apiDocument(): string {
  keptApiDocument ??= orderedJsonText({
    openapi,
    info: {
      title: 'Rowport',
      version: '1',
      description:
        'Spreadsheets as JSON. Each sheet has two addresses that give the same rows to the same callers; each sheet ' +
        'also describes itself, with its own columns: add `/openapi.json` or `/schema` to its address.',
    },
    servers,
    security,
    paths: {
      ...sheetPaths('/api/sheets/{account}/{sheet}', anySheet('a', ['account', 'sheet'])),
      ...sheetPaths('/v1/sheets/{sheet_id}', anySheet('b', ['sheet_id'])),
      '/v1/sheets': sheetsPath(),
      '/openapi.json': apiPath(),
    },
    components: componentsOf(
      {
        row: { type: 'object', additionalProperties: cellSchema },
        rowToWrite: { type: 'object', additionalProperties: cellSchema, minProperties: 1 },
      },
      ['flat', 'nested'],
    ),
  })
  return keptApiDocument
}

/** Wherever the description came from. */
const servers = [{ url: '/' }]

function sheetPaths(path: string, sheet: SheetOperations): Json {
  return {
    [path]: rowsPath(sheet),
    [`${path}/{row}`]: rowPath(sheet),
    [`${path}/schema`]: descriptionPath(sheet, 'schema'),
    [`${path}/openapi.json`]: descriptionPath(sheet, 'openapi'),
  }
}

function anySheet(form: 'a' | 'b', names: readonly string[]): SheetOperations {
  const schema = { type: 'string' }
  return {
    form,
    pathParameters: names.map((name) => ({ name, in: 'path', required: true, schema })),
    filters: [anyFilter],
    exampleRows: [{ name: 'Oak table', price: 420, in_stock: true }],
    exampleRowNumbers: [2],
    columns: ['name', 'price', 'in_stock'],
    totalRows: 1,
    isPublic: false,
  }
}

function sheetsPath(): Json {
  const text = { type: 'string' }
  const properties = { id: text, slug: text, access: text, paused: { type: 'boolean' }, url: text }
  const data = { type: 'array', items: { type: 'object', properties, required: Object.keys(properties) } }
  const count = { type: 'integer' }
  const meta = { type: 'object', properties: { total: count, count }, required: ['total', 'count'] }
  const schema = { type: 'object', properties: { data, meta }, required: ['data', 'meta'] }
  const errors = errorResponses('list_sheets', 'nested')
  const responses = (success: OrderedJson) => ({ 200: success, ...errors })
  return {
    get: {
      operationId: 'listSheets',
      summary: 'The sheets that the key may read',
      responses: responses({ description: 'The sheets.', content: { 'application/json': { schema } } }),
    },
    head: {
      operationId: 'headSheets',
      summary: 'The headers of GET',
      responses: responses({ description: 'Like GET, without the body.' }),
    },
    options,
  }
}

function apiPath(): Json {
  const shared = { parameters: [ifNoneMatch], security: [] }
  const document = {
    description: 'OpenAPI 3.1.',
    content: { 'application/json': { schema: { type: 'object' } } },
  }
  const head = { description: 'Like GET, without the body.' }
  return {
    get: {
      operationId: 'readApiDescription',
      summary: 'This description; no key is needed',
      ...shared,
      responses: { 200: document, 304: notModified },
    },
    head: {
      operationId: 'headApiDescription',
      summary: 'The headers of GET',
      ...shared,
      responses: { 200: head, 304: notModified },
    },
    options,
  }
}
