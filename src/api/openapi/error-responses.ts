import { type ErrorCode, type ErrorForm, errorBody, errorTable, Refusal } from '../../errors.ts'
import type { OrderedJson } from '../../sheets/rows/schema/ordered-json.ts'

/** What the wire and the way to the sheet can refuse, whatever is asked. */
const always: readonly ErrorCode[] = [
  'bad_request',
  'api_key_required',
  'invalid_api_key',
  'request_timeout',
  'expectation_failed',
  'rate_limited',
  'usage_limit_exceeded',
  'headers_too_large',
  'internal_error',
  'service_unavailable',
]
const ofASheet: readonly ErrorCode[] = [
  ...always,
  'invalid_query',
  'missing_headers',
  'sheet_not_found',
  'sheet_paused',
  'token_expired',
  'google_api_error',
  'too_many_at_once',
]
const ofAWrite: readonly ErrorCode[] = [
  ...ofASheet,
  'insufficient_scope',
  'write_api_not_enabled',
  'idempotency_in_progress',
  'idempotency_key_reused',
]
const ofAChange: readonly ErrorCode[] = [
  ...ofAWrite,
  'invalid_row_number',
  'row_not_found',
  'precondition_failed',
]

export const codesOf = {
  listSheets: [...always, 'invalid_query'],
  list: [...ofASheet, 'invalid_row_number', 'row_not_found'],
  row: [...ofASheet, 'invalid_row_number', 'row_not_found'],
  describe: ofASheet,
  add: [...ofAWrite, 'invalid_body', 'invalid_row_number', 'payload_too_large'],
  update: [...ofAChange, 'invalid_body', 'payload_too_large'],
  delete: ofAChange,
} as const satisfies Record<string, readonly ErrorCode[]>

/** Values for the `{name}` parts of messages, as they could be. */
const examples: Record<string, string> = {
  seconds: '12',
  scope: 'read-write',
  action: 'read from',
  reason: 'the file does not exist any more',
}

export function errorResponses(codes: readonly ErrorCode[], form: ErrorForm): Record<string, OrderedJson> {
  const byStatus = Map.groupBy(new Set(codes), (code) => errorTable[code].status)
  return Object.fromEntries(
    [...byStatus]
      .sort(([one], [other]) => one - other)
      .map(([status, sameStatus]) => [String(status), errorResponse(sameStatus, form)]),
  )
}

export function errorResponse(codes: readonly ErrorCode[], form: ErrorForm): OrderedJson {
  const answers = codes.map((code) => {
    const retryAfterSeconds = code === 'rate_limited' ? 12 : undefined
    const refusal = new Refusal(code, {
      fill: examples,
      ...(retryAfterSeconds !== undefined && { retryAfterSeconds }),
    })
    const value = errorBody(refusal, form) as OrderedJson
    return [code, { summary: errorTable[code].message, value }] as const
  })
  const isRetried = codes.some((code) => retried.has(code))
  return {
    description: codes.map((code) => `\`${nameIn(code, form)}\``).join(', '),
    ...(isRetried && { headers: { 'Retry-After': { $ref: '#/components/headers/Retry-After' } } }),
    content: {
      'application/json': {
        schema: { $ref: '#/components/schemas/Error' },
        examples: Object.fromEntries(answers),
      },
    },
  }
}

const retried: ReadonlySet<ErrorCode> = new Set([
  'rate_limited',
  'too_many_at_once',
  'usage_limit_exceeded',
  'service_unavailable',
])

/** Flat under `/api`, nested under `/v1` (docs/contract.md#form-of-errors). */
export function errorSchema(form: ErrorForm): OrderedJson {
  const code = { type: 'string', enum: allCodes.map((each) => nameIn(each, form)) }
  const details = { type: 'string', description: 'What is wrong and what would be right.' }
  if (form === 'flat') {
    return {
      type: 'object',
      properties: { error: { type: 'string' }, code, details },
      required: ['error', 'code'],
      additionalProperties: false,
    }
  }
  const retryAfter = { type: 'integer', description: 'Seconds; with `rate_limited` only.' }
  const error = {
    type: 'object',
    properties: { code, message: { type: 'string' }, retry_after: retryAfter, details },
    required: ['code', 'message'],
    additionalProperties: false,
  }
  return { type: 'object', properties: { error }, required: ['error'], additionalProperties: false }
}

const allCodes = Object.keys(errorTable) as ErrorCode[]

function nameIn(code: ErrorCode, form: ErrorForm): string {
  const { error } = errorBody(new Refusal(code), 'nested') as { error: { code: string } }
  return form === 'nested' ? error.code : code
}
