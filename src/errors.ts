import type { ShareName } from './shares/shares.ts'

/**
 * Every way a request can be refused (docs/contract.md#codes), the few that only the wire can cause among them.
 * `docs/errors.md` is compared with this table by a test. A retired code is never used for anything else.
 */
interface ErrorEntry {
  status: number
  /** `{name}` stands for a value that the refusal carries. */
  message: string
  /** Where Form B has a code or message of its own (docs/contract.md#form-of-errors). */
  nested?: { code?: string; message?: string }
}

export const errorTable = {
  bad_request: { status: 400, message: 'The request could not be understood.' },
  invalid_body: {
    status: 400,
    message: 'Invalid request body. Expected a JSON object or array of objects.',
  },
  invalid_query: { status: 400, message: 'Invalid query parameter.' },
  invalid_row_number: {
    status: 400,
    message: 'Invalid row number. Must be a positive integer greater than the header row.',
  },
  missing_headers: {
    status: 400,
    message: 'Could not determine sheet headers. Ensure the sheet has a header row.',
  },
  api_key_required: {
    status: 401,
    message: 'API key required.',
    nested: { code: 'unauthorized', message: 'API key is required' },
  },
  invalid_api_key: { status: 403, message: 'Invalid API key', nested: { code: 'forbidden' } },
  insufficient_scope: { status: 403, message: 'This API key may not do that. It needs the scope "{scope}".' },
  write_api_not_enabled: {
    status: 403,
    message: 'Write API is not enabled for your plan. Please upgrade to Pro or higher.',
  },
  account_not_found: { status: 404, message: 'Account not found' },
  not_found: { status: 404, message: 'There is nothing at this address.' },
  row_not_found: { status: 404, message: 'Row not found' },
  sheet_not_found: { status: 404, message: 'Sheet not found' },
  method_not_allowed: { status: 405, message: 'This method is not supported here.' },
  request_timeout: { status: 408, message: 'The request did not arrive in time.' },
  idempotency_in_progress: {
    status: 409,
    message: 'A request with this Idempotency-Key is still being worked on.',
  },
  precondition_failed: { status: 412, message: 'The row is no longer the one that If-Match names.' },
  payload_too_large: { status: 413, message: 'The request body is too large.' },
  expectation_failed: { status: 417, message: 'The Expect header asks for something that is not supported.' },
  idempotency_key_reused: {
    status: 422,
    message: 'This Idempotency-Key was used for another request.',
  },
  rate_limited: {
    status: 429,
    message: 'Rate limit exceeded. Please retry after {seconds} seconds.',
    nested: { message: 'Too many requests. Please retry after {seconds} seconds.' },
  },
  too_many_at_once: {
    status: 429,
    message:
      'Too much is being done for this account at the same time. Please retry after {seconds} seconds.',
  },
  usage_limit_exceeded: {
    status: 429,
    message: 'Monthly API request limit exceeded. Please upgrade your plan.',
  },
  headers_too_large: { status: 431, message: 'The request line and headers are too large.' },
  internal_error: { status: 500, message: 'An unexpected error occurred' },
  google_api_error: { status: 502, message: 'Failed to {action} sheet: {reason}' },
  service_unavailable: { status: 503, message: 'The service is not ready. Please retry in a moment.' },
  sheet_paused: { status: 503, message: 'Sheet is paused' },
  token_expired: {
    status: 503,
    message: 'Unable to access sheet. The owner needs to re-authenticate.',
  },
} as const satisfies Record<string, ErrorEntry>

export type ErrorCode = keyof typeof errorTable

/** What the person at the other end needs to get further; each is optional and shown only when given. */
export interface RefusalFacts {
  /** Values for the `{name}` parts of the message. */
  fill?: Record<string, string>
  /** One sentence that helps; never internals. */
  details?: string
  allowedMethods?: string
  retryAfterSeconds?: number
}

/** A refusal is a value that is returned; only a malfunction is thrown. */
export class Refusal {
  readonly code: ErrorCode
  readonly facts: RefusalFacts

  constructor(code: ErrorCode, facts: RefusalFacts = {}) {
    this.code = code
    this.facts = facts
  }

  get status(): number {
    return errorTable[this.code].status
  }
}

/** The store could not be asked: not the caller's fault and not a bug, so the answer is `service_unavailable`. */
export class StoreFailure extends Error {
  override readonly name: string = 'StoreFailure'
}

/**
 * What was to be kept belongs to something that was ended meanwhile, such as an account or a sheet: nothing of it was
 * kept. It is no malfunction, and whoever asked for it is told so.
 */
export class GoneMeanwhile extends StoreFailure {
  override readonly name = 'GoneMeanwhile'

  constructor(cause?: unknown) {
    super('What this belongs to was ended meanwhile', { cause })
  }
}

/** The store can be asked, but takes no writes. */
export class StoreUnwritable extends StoreFailure {
  /** For whoever runs the server; no path and no address. */
  readonly reason: string

  constructor(reason: string, cause?: unknown) {
    super(`The store cannot be written to: ${reason}`, { cause })
    this.reason = reason
  }
}

/** An account's share of something that all share is used up: the answer is `too_many_at_once`. */
export class TooManyAtOnce extends Error {
  override readonly name = 'TooManyAtOnce'
  readonly retryAfterSeconds: number
  /** Which one, as docs/operating.md names it. */
  readonly share: ShareName | null

  constructor(retryAfterSeconds: number, share: ShareName | null = null) {
    super('Too much is being done for this account at the same time')
    this.retryAfterSeconds = retryAfterSeconds
    this.share = share
  }

  get refusal(): Refusal {
    const { retryAfterSeconds, share } = this
    return new Refusal('too_many_at_once', {
      fill: { seconds: String(retryAfterSeconds) },
      ...(share !== null && { details: `What is used up is its share ${share}.` }),
      retryAfterSeconds,
    })
  }
}

export type ErrorForm = 'flat' | 'nested'

/** The error body (docs/contract.md#form-of-errors): flat for `/api/…`, nested for `/v1/…`. */
export function errorBody({ code, facts }: Refusal, form: ErrorForm): object {
  const entry: ErrorEntry = errorTable[code]
  const details = facts.details === undefined ? {} : { details: facts.details }
  if (form === 'flat') return { error: filled(entry.message, facts.fill), code, ...details }
  // For `rate_limited` alone (docs/contract.md#form-of-errors); the header says it everywhere.
  const retryAfter = code === 'rate_limited' ? { retry_after: facts.retryAfterSeconds } : {}
  const message = filled(entry.nested?.message ?? entry.message, facts.fill)
  return { error: { code: entry.nested?.code ?? code, message, ...retryAfter, ...details } }
}

function filled(message: string, values: Record<string, string> = {}): string {
  return message.replace(/\{(\w+)\}/g, (_, name: string) => values[name] ?? '')
}
