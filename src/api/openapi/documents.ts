import type { SheetAddress } from '../../admission/judge.ts'
import type { Cell } from '../../sheets/grid.ts'
import { cellsAt } from '../../sheets/query/row-cells.ts'
import { type OrderedJson, orderedJsonText } from '../../sheets/schema/ordered-json.ts'
import { rowNumberSchema, rowSchema } from '../../sheets/schema/row-schema.ts'
import type { IndexedSnapshot } from '../../sheets/snapshot.ts'
import { rowNumberKey } from '../../sheets/table.ts'
import { pathOf } from '../routes.ts'
import { cellSchema, componentsOf, security } from './components.ts'
import { codesOf, errorResponses } from './error-responses.ts'
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
const exampleRows = 2
const exampleCharacters = 100

/** The description of one sheet, in the form in which it was asked for. */
export function sheetDocument(
  address: SheetAddress,
  snapshot: IndexedSnapshot,
  facts: { isPublic: boolean; values: 'typed' | 'formatted' },
): string {
  const { columns, rowNumbers } = snapshot
  const path = pathOf(address)
  const keys = columns.map(({ key }) => key)
  const shown = Math.min(exampleRows, rowNumbers.length)
  const sheet: SheetOperations = {
    form: address.form,
    pathParameters: [],
    filters: filterParameters(keys),
    exampleRows: Array.from({ length: shown }, (_, position) =>
      exampleRow(keys, cellsAt(snapshot, position)),
    ),
    exampleRowNumbers: [...rowNumbers.subarray(0, shown)],
    columns: keys,
    totalRows: rowNumbers.length,
    isPublic: facts.isPublic,
  }
  const row = withOptionalRowNumber(rowSchema(snapshot, { values: facts.values, rowNumbers: false }))
  const rowToWrite = {
    type: 'object',
    properties: new Map<string, OrderedJson>(keys.map((key) => [key, cellSchema])),
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
  const errors = errorResponses(codesOf.listSheets, 'nested')
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

function exampleRow(keys: readonly string[], cells: readonly Cell[]): OrderedJson {
  return new Map(keys.map((key, at) => [key, shortened(cells[at] ?? null)]))
}

function shortened(cell: Cell): Cell {
  const isLong = typeof cell === 'string' && cell.length > exampleCharacters
  return isLong ? `${cell.slice(0, exampleCharacters)}…` : cell
}

/** With `row_numbers=true` a row has it, and in the answer to a write. */
function withOptionalRowNumber(schema: { [key: string]: OrderedJson }): OrderedJson {
  const properties = new Map<string, OrderedJson>([[rowNumberKey, rowNumberSchema]])
  if (schema.properties instanceof Map)
    for (const [key, value] of schema.properties) properties.set(key, value)
  // With `fields`, a row has only some of its columns.
  const { required: _, ...rest } = schema
  return { ...rest, properties }
}
