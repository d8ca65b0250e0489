import type { ErrorForm } from '../../errors.ts'
import type { OrderedJson } from '../../sheets/rows/schema/ordered-json.ts'
import { partsOfAnswers } from './answer-schemas.ts'
import { type ErrorResponses, errorSchemas } from './error-responses.ts'
import { filterSchema } from './parameters.ts'
import type { SharedComponents } from './shared-components.ts'

type Json = { [key: string]: OrderedJson }

export interface RowSchemas {
  /** As it is read. */
  row: OrderedJson
  /** As it is sent: any of its columns. */
  rowToWrite: OrderedJson
  /** As a write answers: all of its columns, each of which may be empty. */
  writtenRow: OrderedJson
}

export function componentsOf(
  { row, rowToWrite, writtenRow }: RowSchemas,
  forms: readonly ErrorForm[],
  errors: ErrorResponses,
  shared: SharedComponents,
  hasColumns: boolean,
): Json {
  return {
    schemas: {
      Row: row,
      RowToWrite: rowToWrite,
      WrittenRow: writtenRow,
      AddedRow: addedRow,
      ...(hasColumns && { Filter: filterSchema }),
      ...partsOfAnswers,
      ...shared.schemas(),
      ...errorSchemas(forms),
    },
    headers: headerComponents,
    responses: { NotModified: notModified, ...shared.responses(), ...errors.components() },
    securitySchemes: { bearer: { type: 'http', scheme: 'bearer', description: keyHelp } },
  }
}

/** Where a key may be, some generated clients put it: one place, and never one that ends up in logs. */
export const security: readonly OrderedJson[] = [{ bearer: [] }]

const keyHelp = 'An API key, `sk_live_…` or `sk_test_…`.'

const addedRow = {
  allOf: [
    { $ref: '#/components/schemas/WrittenRow' },
    {
      type: 'object',
      properties: {
        _row: {
          type: 'integer',
          minimum: 2,
          description:
            'The number of the row in the sheet. (Left out in the rare case in which Google’s response was lost.)',
        },
      },
      required: ['_row'],
    },
  ],
}

const notModified: Json = { description: 'Nothing has changed: the `ETag` that was sent still holds.' }

const text = { type: 'string' }
const integer = { type: 'integer' }

const headerComponents: Json = Object.fromEntries(
  Object.entries({
    'X-Total-Count': ['Rows that match, before `limit` and `offset`.', integer],
    Link: ['The URLs of the pages before and after (`rel="prev"`, `rel="next"`).', text],
    ETag: ['Names the rows as they are, in this format and compression.', text],
    Age: ['Seconds since the spreadsheet was last looked at.', integer],
    'Cache-Status': ['Whether the rows came from memory or from the spreadsheet (RFC 9211).', text],
    Location: ['The URL of the row, where one was added.', text],
    'Idempotent-Replayed': ['`true`: the response of an earlier request with the same key.', text],
    'Retry-After': ['Seconds to wait.', integer],
    'X-RateLimit-Remaining': ['Requests that are left in this minute.', integer],
    'X-RateLimit-Reset': ['When the minute ends, in Unix seconds.', integer],
    'X-Quota-Remaining': ['Requests that are left in this month.', integer],
  } as const).map(([name, [description, schema]]) => [name, { description, schema }]),
)
