import { z } from 'zod'
import { markCells, maxCellsCharacters, maxReadBytes, oneLine, shortCell } from '../cells.ts'
import { Failure, type SheetsApi, type Told, type WriteAsked } from '../sheets-api.ts'
import {
  dryRun,
  filterParameters,
  optional,
  requestId,
  row,
  sheet,
  type Tool,
  tool,
  WrongArgument,
  where,
} from './tool.ts'

const rowsUnlessAsked = 10
const mostRows = 1_000

const maxRows = z
  .int()
  .min(1)
  .max(mostRows)
  .optional()
  .describe(`If more match, nothing is done; ${rowsUnlessAsked} unless given`)
const rowNumber = z.int().min(2).optional().describe('One row by _row, instead of where')
const chosen = { sheet, where: where.optional(), row: rowNumber, max_rows: maxRows }

export const writingTools: readonly Tool[] = [
  tool({
    name: 'add_rows',
    description:
      'Add rows at the end, all or none. With upsert, rows whose value in that column is there are changed instead.',
    needs: 'add',
    hints: { destructiveHint: false },
    input: z.strictObject({
      sheet,
      rows: z.array(row).min(1).max(mostRows).describe('[{column: value}]'),
      upsert: z.string().optional().describe('Column'),
      dry_run: dryRun,
      request_id: requestId,
    }),
    run: (api, { sheet: name, rows, upsert, dry_run, request_id }) =>
      write(api, name, request_id, {
        method: 'POST',
        below: '',
        parameters: [...optional('upsert', upsert), ...optional('dry_run', dry_run)],
        body: rows,
      }),
  }),
  tool({
    name: 'update_rows',
    description: 'Change the given columns of one or all chosen rows, all or none. Try dry_run first.',
    needs: 'change',
    hints: { destructiveHint: true, idempotentHint: true },
    input: z.strictObject({
      ...chosen,
      set: row.describe('{column: value}; null empties'),
      dry_run: dryRun,
      request_id: requestId,
    }),
    run: (api, { set, ...asked }) =>
      write(api, asked.sheet, asked.request_id, { method: 'PATCH', ...choice(asked), body: set }),
  }),
  tool({
    name: 'delete_rows',
    description: 'Delete one or all chosen rows, all or none. Rows below move up. Try dry_run first.',
    needs: 'change',
    hints: { destructiveHint: true },
    input: z.strictObject({ ...chosen, dry_run: dryRun, request_id: requestId }),
    run: (api, asked) => write(api, asked.sheet, asked.request_id, { method: 'DELETE', ...choice(asked) }),
  }),
  tool({
    name: 'undo',
    description: 'Take a write back as a whole, if its rows are still as it left them',
    needs: 'change',
    hints: { destructiveHint: true },
    input: z.strictObject({ sheet, operation: z.string().describe('op_…'), dry_run: dryRun }),
    run: (api, { sheet: name, operation, dry_run }) =>
      write(api, name, undefined, {
        method: 'POST',
        below: `/operations/${encodeURIComponent(operation)}/undo`,
        parameters: optional('dry_run', dry_run),
      }),
  }),
]

interface Chosen {
  where?: Record<string, unknown> | undefined
  row?: number | undefined
  max_rows?: number | undefined
  dry_run?: boolean | undefined
}

/** Without a filter nothing is chosen: an agent that forgot it must not have changed everything. */
function choice({ where: filters = {}, row: number, max_rows = rowsUnlessAsked, dry_run }: Chosen) {
  const parameters = filterParameters(filters)
  const dry = optional('dry_run', dry_run)
  if (number !== undefined && parameters.length > 0)
    throw new WrongArgument('Choose rows either by row or by where, not by both.')
  if (number !== undefined) return { below: `/${number}`, parameters: dry }
  if (parameters.length === 0) throw new WrongArgument('Say which rows: give where, or row.')
  return { below: '', parameters: [...parameters, ['max_rows', String(max_rows)] as const, ...dry] }
}

async function write(
  api: SheetsApi,
  name: string,
  requestIdGiven: string | undefined,
  { below, ...asked }: Omit<WriteAsked, 'path' | 'maxBytes' | 'requestId'> & { below: string },
): Promise<string | Failure> {
  const id = await api.idOf(name)
  if (id instanceof Failure) return id
  const told = await api.write({
    ...asked,
    path: `/v1/sheets/${id}${below}`,
    requestId: requestIdGiven,
    maxBytes: maxReadBytes,
  })
  if (told instanceof Failure) return told
  const isTrial = asked.parameters.some(([parameter]) => parameter === 'dry_run')
  return outcomeText(id, told, isTrial)
}

interface Outcome {
  /** null where it is too long. */
  data: Record<string, unknown> | Record<string, unknown>[] | null
  meta: Record<string, unknown> & { rows?: number[]; warnings?: string[] }
}

const metaBegins = ',"meta":{'

/** The figures alone where the rows are too long. No cell can hold their beginning: its quotes would be escaped. */
function outcomeIn({ text, isWhole, end }: Told): Outcome {
  if (isWhole) return JSON.parse(text) as Outcome
  const at = end.lastIndexOf(metaBegins)
  // Outdated results of formulas are told by column and row there, which may be longer than what was kept.
  if (at === -1) return { data: null, meta: {} }
  return JSON.parse(`{"data":null${end.slice(at)}`) as Outcome
}

/** What was done, how to take it back, and the rows. */
function outcomeText(id: string, told: Told, isTrial: boolean): string {
  const operation = told.headers.get('operation-id')
  const undo =
    operation === undefined ? [] : [`To take it back: undo {"sheet":"${id}","operation":"${operation}"}`]
  const { data, meta } = outcomeIn(told)
  const { rows: numbers = [], warnings = [], dry_run: _, stale: __, ...facts } = meta
  const figures = Object.entries(facts).map(([name, value]) => `${name.replaceAll('_', ' ')}: ${value}`)
  const done = isTrial ? 'Nothing was written (dry_run). It would be' : 'Done'
  const counted = figures.length === 0 ? 'rows not counted' : figures.join(', ')
  const tooLong = data === null ? ' The rows are too long to show.' : ''
  // Warnings name columns.
  const cells = [
    ...warnings.map(oneLine),
    ...(data === null ? [] : [fittingLines(numberRows([data].flat(), numbers))]),
  ]
  return [
    `${done}: ${counted}.${tooLong}`,
    ...undo,
    ...(cells.length === 0 ? [] : [markCells(cells.join('\n'))]),
  ].join('\n')
}

function numberRows(rows: readonly Record<string, unknown>[], numbers: readonly number[]) {
  return rows.map((cells, at) => {
    const short = Object.fromEntries(Object.entries(cells).map(([key, cell]) => [key, shortCell(cell)]))
    return JSON.stringify(numbers[at] === undefined ? short : { _row: numbers[at], ...short })
  })
}

function fittingLines(lines: readonly string[]): string {
  let text = ''
  for (const [at, line] of lines.entries()) {
    if (text.length + line.length > maxCellsCharacters) return `${text}… and ${lines.length - at} more`
    text += `${line}\n`
  }
  return text
}
