import type { OrderedJson } from '../../sheets/rows/schema/ordered-json.ts'

/* The bodies of successes, in both forms (docs/contract.md#two-forms, docs/contract.md#writing). */

type Json = { [key: string]: OrderedJson }

const row = { $ref: '#/components/schemas/Row' }
/** With its number: the one thing that is needed to change it next. */
const addedRow = { $ref: '#/components/schemas/AddedRow' }
/** Also as it is answered: what was written need not be there in every column. */
const writtenRow = { $ref: '#/components/schemas/WrittenRow' }
export const rowToWrite = { $ref: '#/components/schemas/RowToWrite' }
const asOf = {
  type: 'string',
  format: 'date-time',
  description: 'When the rows were first seen as they are.',
}
const anyNumber = { type: 'integer', minimum: 0 }
const rowNumbers = { type: 'array', items: { type: 'integer', minimum: 2 } }
export const exampleTime = '2026-11-15T09:30:00.000Z'

const warnings = { $ref: '#/components/schemas/Warnings' }
const stale = { $ref: '#/components/schemas/StaleResults' }

/** What answers of many kinds have in them, now and then. */
export const partsOfAnswers = {
  Warnings: {
    type: 'array',
    items: { type: 'string' },
    description: 'Only where something is not quite what it seems, or was asked for.',
  },
  StaleResults: {
    type: 'object',
    additionalProperties: rowNumbers,
    description:
      'Only where formulas were not calculated since a write: by column, the rows without a result, or with an earlier one.',
  },
}

function object(properties: Json, sometimes: Json = {}): Json {
  return {
    type: 'object',
    properties: { ...properties, ...sometimes },
    required: Object.keys(properties),
  }
}

export function oneRow(form: 'a' | 'b'): Json {
  const meta = object({ row: anyNumber, as_of: asOf }, { stale, warnings })
  return form === 'a' ? row : object({ data: row, meta })
}

export function listAnswer(form: 'a' | 'b'): Json {
  return form === 'a' ? { type: 'array', items: row } : listEnvelope
}

const listEnvelope = object({
  data: { type: 'array', items: row },
  meta: object(
    {
      total: anyNumber,
      count: anyNumber,
      limit: { type: ['integer', 'null'] },
      offset: anyNumber,
      columns: { type: 'array', items: { type: 'string' } },
      rows: rowNumbers,
      as_of: asOf,
    },
    {
      next: { type: 'string', description: 'The URL of the next page, if there is one.' },
      stale,
      warnings,
    },
  ),
})

const success = { type: 'boolean', const: true }
const dryRun = { type: 'boolean', const: true, description: 'Only of what was not done.' }

export function addedSchema(form: 'a' | 'b'): Json {
  const rows = { type: 'array', items: addedRow }
  const more = { rows_updated: anyNumber, rows_unchanged: anyNumber, stale, warnings, dry_run: dryRun }
  if (form === 'b') {
    const numbers = { type: 'array', items: { type: ['integer', 'null'], minimum: 2 } }
    return object({ data: rows, meta: object({ rows_added: anyNumber }, { rows: numbers, ...more }) })
  }
  return object({ success, message: { type: 'string' }, rows_added: anyNumber, rows }, more)
}

/** The answer to a change or deletion of all rows that filters leave. */
export function manyChanged(form: 'a' | 'b', count: 'rows_updated' | 'rows_deleted'): Json {
  const rows = { type: 'array', items: addedRow }
  const more = { stale, warnings, dry_run: dryRun }
  if (form === 'b')
    return object({ data: rows, meta: object({ [count]: anyNumber, rows: rowNumbers }, more) })
  return object({ success, message: { type: 'string' }, [count]: anyNumber, rows }, more)
}

export function changedSchema(form: 'a' | 'b'): Json {
  const more = { stale, warnings, dry_run: dryRun }
  if (form === 'b') return object({ data: writtenRow, meta: object({ row: anyNumber }, more) })
  return object({ success, message: { type: 'string' }, row: anyNumber, data: writtenRow }, more)
}
