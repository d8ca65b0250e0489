import {
  type ErrorCode,
  type ErrorEntry,
  type ErrorForm,
  type ErrorStatus,
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
  reason: 'the file is missing',
}

/** The refusals of one description: each answer stands in its components once, and operations refer to it. */
export interface ErrorResponses {
  /** By status. */
  of(operation: Operation, form: ErrorForm): Record<string, OrderedJson>
  /** All that were asked for. */
  components(): Record<string, OrderedJson>
}

export function createErrorResponses(of: 'sheet' | 'api'): ErrorResponses {
  const named = new Map<string, { content: string; response: OrderedJson }>()

  return {
    of(operation, form) {
      const raised = codesRaisedIn(operation, form).filter((code) => of === 'api' || !isOfPages(code))
      const byStatus = Map.groupBy(raised, (code) => errorTable[code].status)
      const responses = [...byStatus].sort(([one], [other]) => one - other)
      return Object.fromEntries(
        responses.map(([status, codes]) => [String(status), reference(status, codes, operation, form)]),
      )
    },
    components: () => Object.fromEntries([...named].map(([name, { response }]) => [name, response])),
  }

  function reference(
    status: ErrorStatus,
    codes: readonly ErrorCode[],
    operation: Operation,
    form: ErrorForm,
  ) {
    const suffix = form === 'flat' ? '' : 'ById'
    const plain = statusNames[status]
    const content = codes.join(' ')
    const places = ['', ...(writes.has(operation) ? ['ToWrite'] : []), placeNames[operation] ?? '']
    for (const name of places.map((place) => plain + place)) {
      const known = named.get(name + suffix)
      if (!known) named.set(name + suffix, { content, response: errorResponse(codes, form, of) })
      if (!known || known.content === content) return { $ref: `#/components/responses/${name}${suffix}` }
    }
    throw new Error(`Two different answers of status ${status} to ${operation}`)
  }
}

const statusNames: Record<ErrorStatus, string> = {
  400: 'BadRequest',
  401: 'Unauthorized',
  403: 'Forbidden',
  404: 'NotFound',
  405: 'MethodNotAllowed',
  408: 'RequestTimeout',
  409: 'Conflict',
  410: 'Gone',
  412: 'PreconditionFailed',
  413: 'PayloadTooLarge',
  417: 'ExpectationFailed',
  422: 'KeyReused',
  429: 'TooManyRequests',
  431: 'HeadersTooLarge',
  500: 'InternalError',
  502: 'ProviderFailed',
  503: 'Unavailable',
}

const writes: ReadonlySet<Operation> = new Set(['add_rows', 'update_row', 'delete_row', 'undo_write'])

/** Where an operation can be refused for other reasons than those before it. */
const placeNames: Partial<Record<Operation, string>> = {
  list_rows: 'ToList',
  get_row: 'ToRead',
  add_rows: 'ToAdd',
  update_row: 'ToUpdate',
  delete_row: 'ToDelete',
  describe: 'ToDescribe',
  list_sheets: 'ToListSheets',
  list_changes: 'ToListChanges',
  undo_write: 'ToUndo',
  refresh: 'ToRefresh',
  none: 'Anywhere',
}

/** Those first that can be met in most places. */
function codesRaisedIn(operation: Operation, form: ErrorForm): ErrorCode[] {
  return allCodes
    .filter((code) => {
      const { raisedIn, onlyIn = form } = entryOf(code)
      return raisedIn.includes(operation) && onlyIn === form
    })
    .sort((one, other) => placesOf(other) - placesOf(one))
}

function isOfPages(code: ErrorCode): boolean {
  return entryOf(code).isOfPages === true
}

function entryOf(code: ErrorCode): ErrorEntry {
  return errorTable[code]
}

function placesOf(code: ErrorCode): number {
  const { raisedIn, onlyIn } = entryOf(code)
  return raisedIn.length * (onlyIn === undefined ? 2 : 1)
}

/** A sheet's own description has an example of the first: all codes are in its words, and there is a bound on its length. */
function errorResponse(codes: readonly ErrorCode[], form: ErrorForm, of: 'sheet' | 'api'): OrderedJson {
  const answers = codes.map((code) => {
    const retryAfterSeconds = code === 'rate_limited' ? 12 : undefined
    const refusal = new Refusal(code, {
      fill: examples,
      ...(retryAfterSeconds !== undefined && { retryAfterSeconds }),
    })
    return [code, { value: errorBody(refusal, form) as OrderedJson }] as const
  })
  const examplesOfAll = of === 'api' ? { examples: Object.fromEntries(answers) } : null
  const isRetried = codes.some((code) => entryOf(code).isRetried)
  return {
    description: codes.map((code) => `\`${nameIn(code, form)}\``).join(', '),
    ...(isRetried && { headers: { 'Retry-After': { $ref: '#/components/headers/Retry-After' } } }),
    content: {
      'application/json': {
        schema: { $ref: `#/components/schemas/${errorSchemaNames[form]}` },
        ...(examplesOfAll ?? { example: answers[0]?.[1].value ?? null }),
      },
    },
  }
}

const errorSchemaNames: Record<ErrorForm, string> = { flat: 'Error', nested: 'ErrorById' }

/** Flat under `/api`, nested under `/v1` (docs/contract.md#form-of-errors). */
export function errorSchemas(forms: readonly ErrorForm[]): Record<string, OrderedJson> {
  return Object.fromEntries(forms.map((form) => [errorSchemaNames[form], errorSchema(form)]))
}

function errorSchema(form: ErrorForm): OrderedJson {
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

/** All that the API raises; forms and agents have some of their own. */
const allCodes = (Object.keys(errorTable) as ErrorCode[]).filter((code) =>
  entryOf(code).raisedIn.some((place) => place !== 'send_form' && place !== 'call_tool'),
)

function nameIn(code: ErrorCode, form: ErrorForm): string {
  const { error } = errorBody(new Refusal(code), 'nested') as { error: { code: string } }
  return form === 'nested' ? error.code : code
}
