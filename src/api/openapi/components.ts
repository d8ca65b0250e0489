import type { ErrorForm } from '../../errors.ts'
import type { OrderedJson } from '../../sheets/rows/schema/ordered-json.ts'
import { errorResponse, errorSchema } from './error-responses.ts'
import { filterSchema } from './parameters.ts'

type Json = { [key: string]: OrderedJson }

export interface RowSchemas {
  /** As it is read. */
  row: OrderedJson
  /** As it is sent: any of its columns. */
  rowToWrite: OrderedJson
}

export function componentsOf({ row, rowToWrite }: RowSchemas, forms: readonly ErrorForm[]): Json {
  const errors = forms.map(errorSchema)
  return {
    schemas: {
      Row: row,
      RowToWrite: rowToWrite,
      Filter: filterSchema,
      Error: errors.length === 1 ? (errors[0] ?? {}) : { oneOf: errors },
    },
    headers: headerComponents,
    responses: {
      NotFound: errorResponse(['not_found'], forms[0] ?? 'flat'),
      MethodNotAllowed: errorResponse(['method_not_allowed'], forms[0] ?? 'flat'),
    },
    securitySchemes: {
      bearer: { type: 'http', scheme: 'bearer', description: 'Recommended.' },
      header: { type: 'apiKey', in: 'header', name: 'X-API-Key' },
      query: { type: 'apiKey', in: 'query', name: 'api_key', description: 'It ends up in logs of others.' },
    },
  }
}

/** Any of the three. */
export const security: readonly OrderedJson[] = [{ bearer: [] }, { header: [] }, { query: [] }]

const text = { type: 'string' }
const integer = { type: 'integer' }

const headerComponents: Json = Object.fromEntries(
  Object.entries({
    'X-Total-Count': ['Rows that match, before `limit` and `offset`.', integer],
    Link: ['The pages before and after (`rel="prev"`, `rel="next"`).', text],
    ETag: ['Names the rows as they are, in this format and compression.', text],
    Age: ['Seconds since the spreadsheet was last looked at.', integer],
    'Cache-Status': ['Whether the rows came from memory or from the spreadsheet (RFC 9211).', text],
    'Content-Encoding': ['`zstd`, `br` or `gzip`, where the client takes it.', text],
    Location: ['The address of the row, where one was added.', text],
    'Idempotent-Replayed': ['`true`: this is the answer of a former request with the same key.', text],
    'Retry-After': ['Seconds to wait.', integer],
    'Cache-Control': [
      '`public, max-age=…` to readers of a public sheet who sent no key: others may keep the answer for so long, less `Age`. ' +
        'With a key `private, no-cache`.',
      text,
    ],
    'X-RateLimit-Limit': ['Requests a minute. Readers without a key have their own.', integer],
    'X-RateLimit-Remaining': ['How many of them are left.', integer],
    'X-RateLimit-Reset': ['When the minute ends, in Unix seconds.', integer],
    'X-Quota-Limit': ['Requests a month. Readers without a key have their own.', integer],
    'X-Quota-Remaining': ['How many of them are left.', integer],
    'X-Quota-Reset': ['When the month ends, in Unix seconds.', integer],
  } as const).map(([name, [description, schema]]) => [name, { description, schema }]),
)

/** What any cell can be. */
export const cellSchema = { type: ['string', 'number', 'boolean', 'null'] }
