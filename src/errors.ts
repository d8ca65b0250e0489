import type { Operation } from './reporting/observe.ts'
import type { ShareName } from './shares/shares.ts'

/**
 * Every way a request can be refused (docs/contract.md#codes), the few that only the wire can cause among them.
 * `npm run docs` makes the table of docs/errors.md from this one; the OpenAPI descriptions read it as they
 * run. A retired code is never used for anything else.
 */
export interface ErrorEntry {
  status: number
  /** `{name}` stands for a value that the refusal carries. */
  message: string
  /** When a client gets it, in Markdown. */
  means: string
  /** `none`: where there is no operation, because of the address or the method. */
  raisedIn: readonly (Operation | OtherDoor)[]
  /** Where Form B has a code or message of its own (docs/contract.md#form-of-errors). */
  nested?: { code?: string; message?: string }
  /** Where only the addresses of one form can cause it. */
  onlyIn?: ErrorForm
  /** Only publishable keys and forms cause it. The description of a sheet, which is made for programs with secret ones, leaves it out. */
  isOfPages?: true
  /** The caller is a stranger still: it counts against the caller's address. */
  isBeforeAuthentication?: true
  /** The answer has `Retry-After`, and descriptions say so. */
  isRetried?: true
  /** What to do about it, for an agent that has the tools and nothing else. `details` has said what was wrong. */
  nextStep?: string
}

/** Doors that are not the API and have codes of their own: forms in pages, and the tools of agents. */
export type OtherDoor = 'send_form' | 'call_tool'

const whenWritingRows: readonly Operation[] = ['add_rows', 'update_row', 'delete_row']
const whenWriting: readonly Operation[] = [...whenWritingRows, 'undo_write']
const atRows: readonly Operation[] = ['list_rows', 'get_row', ...whenWritingRows]
const atSheets: readonly Operation[] = [...atRows, 'undo_write', 'describe', 'list_changes', 'refresh']
const everywhere: readonly Operation[] = [...atSheets, 'list_sheets']

export const errorTable = {
  bad_request: {
    status: 400,
    message: 'Malformed request.',
    means:
      'Malformed HTTP, no `Host`, an invalid path, an `Idempotency-Key` that is not 1 to 255 visible ASCII characters.',
    raisedIn: everywhere,
  },
  invalid_body: {
    status: 400,
    message: 'Invalid request body. Expected a JSON object or array of objects.',
    means:
      'The body is not JSON, has the wrong shape, names a column that does not exist, or holds a value that cannot be kept exactly. `details` says which. Nothing was written.',
    raisedIn: ['add_rows', 'update_row', 'undo_write'],
    nextStep: 'Nothing was written. Call describe_sheet for the columns, and correct the values.',
  },
  invalid_query: {
    status: 400,
    message: 'Invalid query parameter.',
    means:
      'An unknown column, operator or parameter, or a malformed value. `details` names it and what would be right.',
    raisedIn: everywhere,
    nextStep:
      'Call describe_sheet for the columns, and correct the argument. "_row" is none: update_rows and delete_rows take a row\'s number as "row".',
  },
  invalid_row_number: {
    status: 400,
    message: 'Invalid row number. Must be a positive integer greater than the header row.',
    means:
      'The row is not a whole number of 2 or more, was given twice with two values, is missing where one row is meant (and no filter says which), or was given with POST.',
    raisedIn: atRows,
  },
  missing_headers: {
    status: 400,
    message: 'Could not determine sheet headers. Ensure the sheet has a header row.',
    means: 'Row 1 of the sheet is blank.',
    raisedIn: atSheets,
    nextStep: 'Row 1 of the sheet has no column names. Tell the user.',
  },
  api_key_required: {
    status: 401,
    message: 'API key required.',
    nested: { code: 'unauthorized', message: 'API key is required' },
    means: 'The sheet needs a key and none was sent.',
    raisedIn: everywhere,
    isBeforeAuthentication: true,
    nextStep: 'Ask the user for an API key of this server and send it as "Authorization: Bearer sk_…".',
  },
  invalid_api_key: {
    status: 403,
    message: 'Invalid API key',
    nested: { code: 'forbidden' },
    means: 'The key is unknown, mistyped, revoked, or not for this sheet.',
    raisedIn: everywhere,
    isBeforeAuthentication: true,
    nextStep: 'The key is not valid here. Ask the user for another one.',
  },
  insufficient_scope: {
    status: 403,
    message: "This API key doesn't have permission. Required scope: {scope}.",
    means:
      "A read-only key tried to write, or a publishable key tried something that it isn't allowed to do.",
    raisedIn: whenWriting,
    nextStep:
      "This key doesn't have permission. Tell the user what you would change, or ask for a key that may.",
  },
  origin_not_allowed: {
    status: 403,
    message: "This key can't be used from this page.",
    means: 'A publishable key was sent with an `Origin` that is not on its list, or without one.',
    raisedIn: everywhere,
    isOfPages: true,
    // A publishable key is in everybody's hands: where it may not be used, whoever sends it is a stranger.
    isBeforeAuthentication: true,
  },
  sheet_read_only: {
    status: 403,
    message: 'This sheet can only be read.',
    means: 'Its spreadsheet is read by its public link, or is an .ods file. `details` says what to do.',
    raisedIn: whenWriting,
    nextStep: 'Nothing was written, and nothing can be. Tell the user.',
  },
  write_api_not_enabled: {
    status: 403,
    message: 'Write API is not enabled for your plan. Please upgrade to Pro or higher.',
    means: "The account's plan is for reading only.",
    raisedIn: whenWriting,
    nextStep: "The account's plan has no writing. Tell the user.",
  },
  account_not_found: {
    status: 404,
    message: 'Account not found',
    means: 'There is no account with this slug.',
    raisedIn: atSheets,
    onlyIn: 'flat',
    isBeforeAuthentication: true,
  },
  not_found: {
    status: 404,
    message: 'There is nothing at this URL.',
    means: 'No such route.',
    raisedIn: ['none'],
  },
  row_not_found: {
    status: 404,
    message: 'Row not found',
    means: 'The row lies past the last row with data, or no row has the value by which it was named.',
    raisedIn: ['list_rows', 'get_row', 'update_row', 'delete_row'],
    nextStep: 'Rows move when others are deleted or sorted: find it again with query_rows.',
  },
  operation_not_found: {
    status: 404,
    message: 'The log of this sheet has no such write.',
    means:
      'There was no write with this `Operation-Id` to this sheet, it changed nothing, or what it changed is no longer kept (the sheet’s `history_days`, or its account’s share of the disk). Nothing was written.',
    raisedIn: ['undo_write'],
    nextStep: 'Only writes that the log of the sheet still has can be undone.',
  },
  sheet_not_found: {
    status: 404,
    message: 'Sheet not found',
    means: 'The account has no sheet with this slug, or there is no sheet with this id.',
    raisedIn: atSheets,
    isBeforeAuthentication: true,
    nextStep: 'Call list_sheets for the sheets of this key.',
  },
  method_not_allowed: {
    status: 405,
    message: 'This method is not supported here.',
    means: 'The `Allow` header lists those that are.',
    raisedIn: ['none'],
  },
  request_timeout: {
    status: 408,
    message: 'The request did not arrive in time.',
    means: 'Headers take at most 10 seconds, the whole request 30.',
    raisedIn: everywhere,
  },
  ambiguous_row: {
    status: 409,
    message: 'More than one row has this value.',
    means:
      'A row was named by a value that several rows have. `details` names up to ten of them. Nothing was written.',
    raisedIn: ['get_row', ...whenWritingRows],
    nextStep: 'Nothing was written. Several rows have this value: choose one by row, or by another column.',
  },
  row_exists: {
    status: 409,
    message: 'A row with this key exists.',
    means:
      'The sheet has a key column, and with this addition or change one key would be there twice. Nothing was written.',
    raisedIn: ['add_rows', 'update_row'],
    nextStep: 'Nothing was written. A row with this key is there: update it, or add with upsert.',
  },
  cursor_expired: {
    status: 410,
    message: 'The log of changes no longer reaches back to this cursor.',
    means:
      'The changes after `since` are no longer kept (the sheet’s `history_days`, or its account’s share of the disk), or the log was restarted. Read all rows, then continue from their `X-Change-Cursor`.',
    raisedIn: ['list_changes'],
  },
  undo_conflict: {
    status: 409,
    message: 'The rows are no longer what the write has left.',
    means:
      'A row that the write to be undone added or changed is another by now, or gone, or cannot come back. `details` names up to ten such rows, by number or key, with their columns. Nothing was written.',
    raisedIn: ['undo_write'],
    nextStep: 'Nothing was undone, because these rows were changed since. Show them to the user.',
  },
  too_many_rows: {
    status: 409,
    message: 'More rows match than this request can change.',
    means:
      'A change or deletion by filters matches more rows than `max_rows`, which is 100 unless given. `details` has the number. Nothing was written.',
    raisedIn: ['update_row', 'delete_row'],
    nextStep: 'Nothing was written. Narrow "where"; raise max_rows only if the user means that many rows.',
  },
  idempotency_in_progress: {
    status: 409,
    message: 'A request with this Idempotency-Key is still in progress.',
    means: 'The first request under this key has not ended. Retry after `Retry-After` seconds.',
    raisedIn: whenWriting,
    nextStep: 'The first call with this request_id is still being done. Wait, then call again.',
  },
  precondition_failed: {
    status: 412,
    message: 'The row has changed since you read it (If-Match failed).',
    means:
      'The row changed, moved or was deleted since its `ETag` was read; of many rows, the sheet changed since the `ETag` of the list. Nothing was written.',
    raisedIn: whenWritingRows,
  },
  payload_too_large: {
    status: 413,
    message: 'The request body is too large.',
    means:
      'Over 2 MiB (1 MB where it is sent to a form), over 1,000 rows (fewer where a sheet has very many columns), a row over 4 MiB, or, where many rows are changed or deleted at once, rows over 16 MiB together.',
    raisedIn: ['add_rows', 'update_row', 'delete_row', 'undo_write'],
  },
  expectation_failed: {
    status: 417,
    message: 'Unsupported Expect header.',
    means: 'Any `Expect` but `100-continue`.',
    raisedIn: everywhere,
  },
  idempotency_key_reused: {
    status: 422,
    message: 'This Idempotency-Key was used for another request.',
    means:
      'Within 24 hours the same key came with another method, sheet, row, parameter, `If-Match` or body. Nothing was written.',
    raisedIn: whenWriting,
    nextStep: 'This request_id was used for another call. Take a new one.',
  },
  rate_limited: {
    status: 429,
    message: 'Rate limit exceeded. Please retry after {seconds} seconds.',
    nested: { message: 'Too many requests. Please retry after {seconds} seconds.' },
    means:
      'More requests in a minute than the plan allows, or than readers without a key may make, or too many refused ones from your IP. Wait `Retry-After` seconds; then it is not refused again.',
    raisedIn: everywhere,
    isRetried: true,
  },
  too_many_at_once: {
    status: 429,
    message:
      'Too much is being done for this account at the same time. Please retry after {seconds} seconds.',
    means:
      "The account's share of what all accounts share is taken: threads that read files, and as many of its requests wait as may; or the writes that wait for all its spreadsheets together; or the room for responses `Idempotency-Key`s keep for 24 hours; or the requests that wait for changes; or your IP has as many busy connections as it can. `details` names the share. Nothing was done. Wait for `Retry-After` seconds.",
    raisedIn: atSheets,
    isRetried: true,
  },
  usage_limit_exceeded: {
    status: 429,
    message: 'Monthly API request limit exceeded. Please upgrade your plan.',
    means:
      "The month's requests are used up, by the account's keys or by readers without one; each have their own. `Retry-After` and `X-Quota-Reset` say when the next month of the account begins.",
    raisedIn: everywhere,
    isRetried: true,
    nextStep: "The month's requests are used up. Tell the user.",
  },
  headers_too_large: {
    status: 431,
    message: 'The request line and headers are too large.',
    means: 'Over 16 KiB in all, or over 100 headers.',
    raisedIn: everywhere,
  },
  internal_error: {
    status: 500,
    message: 'An unexpected error occurred',
    means: 'An internal error. `details` has a reference to look up in the log.',
    raisedIn: everywhere,
  },
  google_api_error: {
    status: 502,
    message: 'Failed to {action} sheet: {reason}',
    means:
      "The spreadsheet's provider failed: a file that is gone or locked, a spreadsheet that was deleted or is no longer shared, Google down or its quota used up. The reason says which, `details` what the owner can do. (The code is the same for every provider.)",
    raisedIn: atSheets,
  },
  service_unavailable: {
    status: 503,
    message: 'The service is temporarily unavailable. Please retry in a moment.',
    means:
      'The database cannot be reached, too many writes wait for this spreadsheet, or yours waited for 25 seconds. Nothing was written. `Retry-After` says when to retry.',
    raisedIn: everywhere,
    isRetried: true,
  },
  sheet_paused: {
    status: 503,
    message: 'Sheet is paused',
    means: 'The owner has paused the sheet.',
    raisedIn: atSheets,
    nextStep: 'The owner has paused this sheet. Tell the user.',
  },
  token_expired: {
    status: 503,
    message: 'Unable to access sheet. The owner needs to re-authenticate.',
    means:
      "Google no longer accepts the owner's permission: it was withdrawn, has expired or lacks a scope. It holds for every sheet of that connection until the owner connects Google again.",
    raisedIn: atSheets,
    nextStep: 'The owner has to reconnect the spreadsheet in the dashboard. Tell the user.',
  },
  form_closed: {
    status: 410,
    message: 'This form is closed.',
    means: 'The owner has closed the form. Nothing was written.',
    raisedIn: ['send_form'],
  },
  invalid_entry: {
    status: 422,
    message: 'Some fields are not filled in right.',
    means:
      'What was sent by a form does not fit its fields. `fields` says for each what is wrong. Nothing was written.',
    raisedIn: ['send_form'],
  },
  captcha_failed: {
    status: 422,
    message: 'The captcha was not passed.',
    means:
      'An entry of a form that has a captcha came without its response, or the provider of the captcha did not accept it. Nothing was added.',
    raisedIn: ['send_form'],
  },
  captcha_unavailable: {
    status: 503,
    message: 'The captcha could not be checked.',
    means:
      'The provider of a form’s captcha could not be reached, or sent something else than it should. Nothing was added; what was entered can be sent again.',
    raisedIn: ['send_form'],
  },
  invalid_arguments: {
    status: 400,
    message: 'Nothing was done.',
    means: 'An agent called a tool with arguments that it does not take. `details` says which.',
    raisedIn: ['call_tool'],
  },
} as const satisfies Record<string, ErrorEntry>

export type ErrorCode = keyof typeof errorTable

export type ErrorStatus = (typeof errorTable)[ErrorCode]['status']

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

/** An account has as many of something as it may; whoever asked first had looked before, and others came in between. */
export class AccountFull extends StoreFailure {
  override readonly name = 'AccountFull'

  constructor() {
    super('The account has as many as it may')
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
  if (form === 'flat') return { error: fillMessage(entry.message, facts.fill), code, ...details }
  // For `rate_limited` alone (docs/contract.md#form-of-errors); the header says it everywhere.
  const retryAfter = code === 'rate_limited' ? { retry_after: facts.retryAfterSeconds } : {}
  const message = fillMessage(entry.nested?.message ?? entry.message, facts.fill)
  return { error: { code: entry.nested?.code ?? code, message, ...retryAfter, ...details } }
}

function fillMessage(message: string, values: Record<string, string> = {}): string {
  return message.replace(/\{(\w+)\}/g, (_, name: string) => values[name] ?? '')
}
