import type { SheetAddress } from '../../admission/judge.ts'
import { anyCell } from '../../sheets/rows/schema/column-schema.ts'
import { JsonText, type OrderedJson, orderedJsonText } from '../../sheets/rows/schema/ordered-json.ts'
import { rowSchema } from '../../sheets/rows/schema/row-schema.ts'
import type { IndexedSnapshot } from '../../sheets/rows/snapshot.ts'
import { pathOf } from '../request/routes.ts'
import { changesPath, refreshPath } from './changes-path.ts'
import { componentsOf, security } from './components.ts'
import { createErrorResponses, type ErrorResponses } from './error-responses.ts'
import { openAddress } from './open-address.ts'
import {
  descriptionPath,
  errorFormIn,
  namedRowPath,
  notModified,
  rowPath,
  rowsPath,
  type SheetOperations,
} from './operations.ts'
import { anyFilter, filterParameters, ifNoneMatch } from './parameters.ts'
import { createSharedComponents, type SharedComponents } from './shared-components.ts'

import { undoPath } from './undo-path.ts'

type Json = { [key: string]: OrderedJson }

const openapi = '3.1.0'

/** What the description of one sheet depends on, beside its rows. */
export interface SheetToDescribe {
  address: SheetAddress
  isPublic: boolean
  /** By whose values rows are named; null where none is. */
  keyColumn: string | null
}

/** The description of one sheet, in the form in which it was asked for; the address of this server is left open. */
export function sheetDocument(
  { address, isPublic, keyColumn }: SheetToDescribe,
  snapshot: IndexedSnapshot,
): string {
  const path = pathOf(address)
  const errors = createErrorResponses('sheet')
  const shared = createSharedComponents()
  const columns = columnsOfDescription(snapshot)
  const sheet: SheetOperations = {
    form: address.form,
    url: openAddress + path,
    errors,
    shared,
    pathParameters: [],
    filters: filterParameters(columns.keys),
    exampleRows: columns.exampleRows,
    exampleRowNumbers: [...snapshot.rowNumbers.subarray(0, columns.exampleRows.length)],
    exampleToAdd: columns.exampleRows[0] ?? columns.madeUpRow,
    exampleChange: columns.exampleChange,
    columns: columns.keys,
    totalRows: snapshot.rowNumbers.length,
    isPublic,
  }
  const paths = {
    [path]: rowsPath(sheet),
    [`${path}/{row}`]: rowPath(sheet),
    ...(keyColumn !== null && {
      [`${path}/by/${encodeURIComponent(keyColumn)}/{value}`]: namedRowPath(sheet, null),
    }),
    [`${path}/changes`]: changesPath(sheet),
  }
  const { row, ...others } = columns.schemas
  const schemas = { row: { ...row, ...(keyColumn !== null && { 'x-key': keyColumn }) }, ...others }
  return orderedJsonText({
    openapi,
    info: {
      title: `Rowport: ${address.form === 'a' ? `${address.accountSlug}/${address.sheetSlug}` : address.sheetId}`,
      description:
        'The rows of one spreadsheet. Types are those of the cells that it holds now. POST `/refresh` below it looks at the spreadsheet now.',
      ...ofEveryDescription,
    },
    servers: [{ url: openAddress }],
    tags: [rowsTag],
    security,
    paths,
    components: componentsOf(schemas, [errorFormIn(address.form)], errors, shared, true),
  })
}

/**
 * The columns as a description has them. One called `__proto__` is left out: half of the tools that read descriptions lose or
 * break what has that name. Rows have it all the same, so others than those described are then allowed. So it is in bodies with
 * `constructor` and its like, which validators find in every object that lacks them.
 */
function columnsOfDescription({ columns, description }: IndexedSnapshot) {
  const at = [...columns.keys()]
  const shown = at.filter((each) => columns[each]?.key !== '__proto__')
  const writable = at.filter((each) => !((columns[each]?.key ?? '') in Object.prototype))
  const keysJson = chooseAt(description.keysJson, shown)
  const propertiesJson = chooseAt(description.propertiesJson, shown)
  const rowOf = (cells: readonly string[]) =>
    new JsonText(`{${keysJson.map((key, n) => `${key}:${cells[n]}`).join(',')}}`)
  const examples = description.exampleRowsJson.map((cells) => chooseAt(cells, shown))
  const [first = []] = examples
  const changed = Math.max(
    0,
    first.findIndex((cell) => cell !== 'null'),
  )
  const written = (which: readonly number[]) => ({
    type: 'object',
    properties: new JsonText(`{${chooseAt(description.writtenPropertiesJson, which).join(',')}}`),
    ...openUnless(which.length === columns.length),
  })
  return {
    keys: chooseAt(columns, shown).map(({ key }) => key),
    exampleRows: examples.map(rowOf),
    /** Where there is no row to take one from. */
    madeUpRow: rowOf(keysJson.map(() => '"text"')),
    exampleChange: new JsonText(`{${keysJson[changed]}:${first[changed] ?? '"text"'}}`),
    schemas: {
      row: {
        ...rowSchema({ keysJson, propertiesJson }, 'sometimes'),
        ...openUnless(shown.length === columns.length),
      },
      rowToWrite: { ...written(writable), minProperties: 1 },
      writtenRow: { ...written(shown), required: new JsonText(`[${keysJson.join(',')}]`) },
    },
  }
}

function chooseAt<T>(all: readonly T[], which: readonly number[]): T[] {
  return which.map((at) => all[at] as T)
}

function openUnless(isWhole: boolean): Json {
  return isWhole ? {} : { additionalProperties: anyCell }
}

/** The description of all that the API can do, for any sheet; the address of this server is left open. */
export function apiDocument(): string {
  const errors = createErrorResponses('api')
  const shared = createSharedComponents()
  const schemas = {
    row: { type: 'object', additionalProperties: anyCell },
    rowToWrite: { type: 'object', additionalProperties: anyCell, minProperties: 1 },
    writtenRow: { type: 'object', additionalProperties: anyCell },
  }
  const paths = {
    ...sheetPaths('/api/sheets/{account}/{sheet}', anySheet('a', ['account', 'sheet'], errors, shared)),
    ...sheetPaths('/v1/sheets/{sheet_id}', anySheet('b', ['sheet_id'], errors, shared)),
    '/v1/sheets': sheetsPath(errors),
    '/openapi.json': apiPath(errors),
  }
  return orderedJsonText({
    openapi,
    info: {
      title: 'Rowport',
      description:
        'Spreadsheets as JSON. Each sheet has two URLs that give the same rows to the same callers; each sheet ' +
        'also describes itself, with its own columns: add `/openapi.json` or `/schema` to its URL. What supports GET ' +
        'also supports HEAD and OPTIONS.',
      ...ofEveryDescription,
    },
    servers: [{ url: openAddress }],
    tags: [
      rowsTag,
      { name: 'Sheets', description: 'Which sheets there are.' },
      { name: 'Descriptions', description: 'What can be asked for, told to programs.' },
    ],
    security,
    paths,
    components: componentsOf(schemas, ['flat', 'nested'], errors, shared, false),
  })
}

const rowsTag = { name: 'Rows', description: 'Reading and writing the rows of a sheet.' }

const ofEveryDescription: Json = {
  version: '1',
  contact: { name: 'Docs', url: `${openAddress}/docs` },
  license: { name: 'MIT', identifier: 'MIT' },
}

function sheetPaths(path: string, sheet: SheetOperations): Json {
  return {
    [path]: rowsPath(sheet),
    [`${path}/{row}`]: rowPath(sheet),
    [`${path}/by/{column}/{value}`]: namedRowPath(sheet, null),
    [`${path}/changes`]: changesPath(sheet),
    [`${path}/operations/{id}/undo`]: undoPath(sheet),
    [`${path}/refresh`]: refreshPath(sheet),
    [`${path}/schema`]: descriptionPath(sheet, 'schema'),
    [`${path}/openapi.json`]: descriptionPath(sheet, 'openapi'),
    [`${path}/types.ts`]: descriptionPath(sheet, 'types'),
  }
}

function anySheet(
  form: 'a' | 'b',
  names: readonly string[],
  errors: ErrorResponses,
  shared: SharedComponents,
): SheetOperations {
  const schema = { type: 'string' }
  const row = { name: 'Oak table', price: 420, in_stock: true }
  return {
    form,
    url: '',
    errors,
    shared,
    pathParameters: names.map((name) => ({ name, in: 'path', required: true, schema })),
    filters: [anyFilter],
    exampleRows: [row],
    exampleRowNumbers: [2],
    exampleToAdd: row,
    exampleChange: { price: 420 },
    columns: null,
    totalRows: 1,
    isPublic: false,
  }
}

function sheetsPath(errors: ErrorResponses): Json {
  const text = { type: 'string' }
  const properties = { id: text, slug: text, access: text, paused: { type: 'boolean' }, url: text }
  const data = { type: 'array', items: { type: 'object', properties, required: Object.keys(properties) } }
  const count = { type: 'integer' }
  const may = { type: 'array', items: { type: 'string', enum: ['read', 'add', 'change'] } }
  const figures = { total: count, count, may }
  const meta = { type: 'object', properties: figures, required: Object.keys(figures) }
  const schema = { type: 'object', properties: { data, meta }, required: ['data', 'meta'] }
  const listed = { description: 'The sheets.', content: { 'application/json': { schema } } }
  return {
    get: {
      operationId: 'listSheets',
      summary: 'The sheets that the key may read',
      description: 'The sheets that the key can read, with their URLs.',
      tags: ['Sheets'],
      responses: { 200: listed, ...errors.of('list_sheets', 'nested') },
    },
  }
}

function apiPath(errors: ErrorResponses): Json {
  const document = {
    description: 'OpenAPI 3.1.',
    content: { 'application/json': { schema: { type: 'object' } } },
  }
  return {
    get: {
      operationId: 'readApiDescription',
      summary: 'This description; no key is needed',
      description: 'The description of the whole API, for any sheet.',
      tags: ['Descriptions'],
      parameters: [ifNoneMatch],
      security: [],
      responses: { 200: document, 304: notModified, ...errors.of('none', 'flat') },
    },
  }
}
