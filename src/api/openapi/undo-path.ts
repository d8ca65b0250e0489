import type { OrderedJson } from '../../sheets/rows/schema/ordered-json.ts'
import type { SheetOperations } from './operations.ts'
import { dryRun, idempotencyKey } from './parameters.ts'

type Json = { [key: string]: OrderedJson }

const change: Json = {
  type: 'object',
  properties: {
    kind: { type: 'string', enum: ['added', 'updated', 'deleted'] },
    row: { type: 'integer' },
    before: {},
    after: {},
  },
  required: ['kind', 'row', 'before', 'after'],
}

const counts: Json = {
  undone: { type: 'string' },
  rows_added: { type: 'integer' },
  rows_updated: { type: 'integer' },
  rows_deleted: { type: 'integer' },
}

const more: Json = {
  dry_run: { type: 'boolean' },
  warnings: { type: 'array', items: { type: 'string' } },
}

/** In the description of all sheets, beside the changes. */
export function undoPath({ form, errors, pathParameters }: SheetOperations): Json {
  const changes = { type: 'array', items: change }
  const required = Object.keys(counts)
  const flat = {
    type: 'object',
    properties: { success: { type: 'boolean' }, message: { type: 'string' }, ...counts, changes, ...more },
    required: ['success', 'message', ...required, 'changes'],
  }
  const meta = { type: 'object', properties: { ...counts, ...more }, required }
  const nested = { type: 'object', properties: { data: changes, meta }, required: ['data', 'meta'] }
  const id = { name: 'id', in: 'path', required: true, schema: { type: 'string' } }
  return {
    parameters: [...pathParameters, { ...id, description: 'The `Operation-Id` of a write.' }],
    post: {
      operationId: form === 'a' ? 'undoWrite' : 'undoWriteById',
      summary: 'Undo a write',
      description:
        'Takes a write back as a whole, if all its rows are still what it left. Rows that it deleted come back at their place.',
      tags: ['Rows'],
      parameters: [dryRun, idempotencyKey],
      responses: {
        200: {
          description: 'What became of the rows.',
          content: { 'application/json': { schema: form === 'a' ? flat : nested } },
        },
        ...errors.of('undo_write', form === 'a' ? 'flat' : 'nested'),
      },
    },
  }
}
