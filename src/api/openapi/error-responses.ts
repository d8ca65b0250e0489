import {
  type ErrorCode,
  type ErrorEntry,
  type ErrorForm,
  errorBody,
  errorTable,
  Refusal,
} from '../../errors.ts'
import type { Operation } from '../../reporting/observe.ts'
import type { OrderedJson } from '../../sheets/rows/schema/ordered-json.ts'

/** Values for the `{name}` parts of messages, as they could be. */
const examples: Record<string, string> = {
  seconds: '12',
  scope: 'read-write',
  action: 'read from',
  reason: 'the file does not exist any more',
}

export function errorResponses(operation: Operation, form: ErrorForm): Record<string, OrderedJson> {
  const byStatus = Map.groupBy(codesRaisedIn(operation, form), (code) => errorTable[code].status)
  return Object.fromEntries(
    [...byStatus]
      .sort(([one], [other]) => one - other)
      .map(([status, sameStatus]) => [String(status), errorResponse(sameStatus, form)]),
  )
}

/** Those first that can be met in most places. */
function codesRaisedIn(operation: Operation, form: ErrorForm): ErrorCode[] {
  return allCodes
    .filter((code) => {
      const { raisedIn, onlyIn = form }: ErrorEntry = errorTable[code]
      return raisedIn.includes(operation) && onlyIn === form
    })
    .sort((one, other) => placesOf(other) - placesOf(one))
}

function placesOf(code: ErrorCode): number {
  const { raisedIn, onlyIn }: ErrorEntry = errorTable[code]
  return raisedIn.length * (onlyIn === undefined ? 2 : 1)
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
