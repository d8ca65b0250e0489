import { z } from 'zod'
import { cutCsv, markCells, maxCellsCharacters, maxReadBytes, oneLine, shortCell } from '../cells.ts'
import { Failure, type Parameters, type SheetsApi, type Told } from '../sheets-api.ts'
import { filterParameters, optional, sheet, type Tool, tool, where } from './tool.ts'

const rowsUnlessAsked = 50
const mostRows = 500

export const readingTools: readonly Tool[] = [
  tool({
    name: 'list_sheets',
    description: 'The sheets of this key',
    needs: 'read',
    hints: { readOnlyHint: true },
    input: z.strictObject({}),
    async run(api) {
      const listed = await api.listSheets()
      if (listed instanceof Failure) return listed
      const { sheets, may } = listed
      const lines = sheets.map(({ id, slug, paused }) => `${id} ${slug}${paused ? ' (paused)' : ''}`)
      const shown = fitting(lines, maxCellsCharacters)
      const rest = lines.length - shown.length
      const more = rest === 0 ? [] : [`… and ${rest} more`]
      return [`${sheets.length} sheet(s); this key may ${may.join(', ')}.`, ...shown, ...more].join('\n')
    },
  }),
  tool({
    name: 'describe_sheet',
    description: 'Columns with types and examples, key column, number of rows, first rows',
    needs: 'read',
    hints: { readOnlyHint: true },
    input: z.strictObject({ sheet, offset: z.int().min(0).optional().describe('Columns to skip') }),
    run: (api, { sheet: name, offset }) => describe(api, name, offset ?? 0),
  }),
  tool({
    name: 'query_rows',
    description:
      'Rows as CSV, or sums: aggregate "count(),sum(price)" with group_by "city,month(day)". Long results come in pages.',
    needs: 'read',
    hints: { readOnlyHint: true },
    input: z.strictObject({
      sheet,
      where: where.optional(),
      q: z.string().optional().describe('Text in any column'),
      sort: z.string().optional().describe('"price,-name"'),
      fields: z.array(z.string()).optional().describe('Only these columns'),
      aggregate: z.string().optional(),
      group_by: z.string().optional(),
      limit: z.int().min(1).max(mostRows).optional().describe(`${rowsUnlessAsked} unless given`),
      offset: z.int().min(0).optional(),
    }),
    async run(api, { sheet: name, where: filters, ...asked }) {
      const id = await api.idOf(name)
      if (id instanceof Failure) return id
      const isSums = asked.aggregate !== undefined || asked.group_by !== undefined
      return rowsText(api, id, asked.limit ?? rowsUnlessAsked, asked.offset ?? 0, [
        ...filterParameters(filters),
        ...optional('q', asked.q),
        ...optional('sort', asked.sort),
        ...(asked.fields ?? []).map((field): [string, string] => ['fields', field]),
        ...optional('aggregate', asked.aggregate ?? (isSums ? 'count()' : undefined)),
        ...optional('group_by', asked.group_by),
        ...optional('row_numbers', !isSums),
      ])
    },
  }),
]

/** A page of rows with what there is in all, and how to go on. */
export async function rowsText(
  api: SheetsApi,
  id: string,
  limit: number,
  offset: number,
  parameters: Parameters,
): Promise<string | Failure> {
  const told = await readRows(api, id, limit, offset, parameters)
  if (told instanceof Failure) return told
  const { text, rows } = cutCsv(told.text, told.isWhole)
  const total = Number(told.headers.get('x-total-count') ?? rows)
  const end = offset + rows
  const isStuck = rows === 0 && offset < total
  const head = [
    rows === 0 ? `${total} in all, none here.` : `${offset + 1} to ${end} of ${total}.`,
    isStuck && 'A row is too long to show: ask for fewer fields.',
    end < total && !isStuck && `For more: offset ${end}.`,
    told.headers.get('x-rowport-warning'),
  ]
  return [
    head.filter(Boolean).join(' '),
    markCells(text),
    ...ignoredCellsOf(told.headers.get('x-ignored-cells')),
  ].join('\n')
}

function readRows(
  api: SheetsApi,
  id: string,
  limit: number,
  offset: number,
  parameters: Parameters,
): Promise<Told | Failure> {
  const page: Parameters = [
    ['limit', String(limit)],
    ['offset', String(offset)],
    ['format', 'csv'],
  ]
  return api.read(`/v1/sheets/${id}`, [...parameters, ...page], maxReadBytes)
}

function ignoredCellsOf(header: string | undefined): string[] {
  return header === undefined ? [] : ['Cells that did not fit a function, by column:', markCells(header)]
}

interface ColumnSchema {
  type?: string | string[]
  format?: string
  pattern?: string
  anyOf?: { type: string }[]
  examples?: unknown[]
  description?: string
}

interface SheetSchema {
  properties: Record<string, ColumnSchema>
  required: string[]
  'x-key'?: string
}

/** A turn of its own: of 2,000 columns it is up to two megabytes. */
async function parseSchema(api: SheetsApi, text: string): Promise<SheetSchema> {
  await api.nextTurn()
  return JSON.parse(text) as SheetSchema
}

async function describe(api: SheetsApi, name: string, offset: number): Promise<string | Failure> {
  const id = await api.idOf(name)
  if (id instanceof Failure) return id
  // Names may be long and many: what does not fit is not described, and then not even read.
  const schema = await api.read(`/v1/sheets/${id}/schema`, [], maxSchemaBytes)
  if (schema instanceof Failure) return schema
  const described = schema.isWhole ? await parseSchema(api, schema.text) : null
  const rows = await readRows(api, id, 3, 0, [['row_numbers', 'true']])
  if (rows instanceof Failure) return rows
  const total = rows.headers.get('x-total-count')
  const sheetLine = `Sheet ${id}${total === undefined ? '' : `, ${total} rows`}`
  if (described === null)
    return `${sheetLine}. Its column names are too long to describe: ask the user for some, and use query_rows with fields.`
  const { required: names, properties, 'x-key': keyName } = described
  await api.nextTurn()
  const lines = Iterator.from(names)
    .drop(offset)
    .map((column) => columnLine(column, properties[column] ?? {}))
  const shown = fitting(lines, columnsCharacters)
  const end = offset + shown.length
  const head = [
    `${sheetLine}, ${names.length} columns.`,
    keyName === undefined && 'No key column.',
    `"_row" is the row's number, not a column: update_rows and delete_rows take it as "row".`,
    shown.length === 0 && `Offset ${offset} is past the last column.`,
    end < names.length && `Columns ${offset + 1} to ${end} are here. For more columns: offset ${end}.`,
  ]
  const columns = shown.join('\n')
  const key = keyName === undefined ? [] : ['Key column:', markCells(columnName(keyName))]
  const text = [head.filter(Boolean).join(' '), ...(shown.length === 0 ? [] : [markCells(columns)]), ...key]
  // Who reads on in the columns has seen the rows.
  return [...text, ...(offset > 0 ? [] : firstRows(rows, describedCharacters - columns.length))].join('\n')
}

function firstRows({ text, isWhole }: Told, room: number): string[] {
  const cut = cutCsv(text, isWhole, room)
  const areTooLong = cut.rows === 0 && (!isWhole || text.length > room)
  return areTooLong
    ? ['The first rows are too long to show here: see them by query_rows with fields.']
    : ['First rows:', markCells(cut.text)]
}

/** Together with what is said about them, below the cap of an answer. */
const describedCharacters = maxCellsCharacters - 1_500
/** Columns may take so much of it; the first rows have what they leave. */
const columnsCharacters = 15_000
const maxSchemaBytes = 2 * 1024 * 1024
const exampleCharacters = 40

function columnLine(column: string, { type, anyOf, format, pattern, examples, description }: ColumnSchema) {
  const types = anyOf?.map((one) => one.type) ?? [type ?? 'any'].flat()
  const kind = format ?? (pattern === undefined ? null : pattern.includes('[Tt]') ? 'date-time' : 'time')
  const words = types.map((one) => (one === 'null' ? 'empty' : one === 'string' && kind ? kind : one))
  const shown = (examples ?? []).map((example) => JSON.stringify(shortExample(example))).join(', ')
  const note = description === undefined ? '' : ` ${description}`
  return `${columnName(column)}: ${words.join(' or ')}${shown === '' ? '' : `; such as ${shown}`}${note}`
}

function columnName(name: string): string {
  return oneLine(String(shortCell(name)))
}

function shortExample(example: unknown): unknown {
  return typeof example === 'string' && example.length > exampleCharacters
    ? `${example.slice(0, exampleCharacters)}…`
    : shortCell(example)
}

/** As many of the first lines as there is room for; those behind them are not even made. */
function fitting(lines: Iterable<string>, maxCharacters: number): string[] {
  const shown: string[] = []
  let characters = 0
  for (const line of lines) {
    characters += line.length + 1
    if (characters > maxCharacters) break
    shown.push(line)
  }
  return shown
}
