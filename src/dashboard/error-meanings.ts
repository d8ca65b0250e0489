import type { ErrorCode } from '../errors.ts'

/** When a client gets which error, for the reference that owners read: the words of docs/errors.md, held to them by a test. */
export const errorMeanings: Record<ErrorCode, string> = {
  bad_request:
    'Not HTTP, no Host, a path that is not a path, an Idempotency-Key that is not 1 to 255 visible ASCII characters.',
  invalid_body:
    'The body is not JSON, has the wrong shape, names a column that does not exist, or holds a value that cannot be kept exactly. details says which. Nothing was written.',
  invalid_query:
    'An unknown column, operator or parameter, or a malformed value. details names it and what would be right.',
  invalid_row_number:
    'The row is not a whole number of 2 or more, was given twice and differently, is missing where one row is meant, or was given with POST.',
  missing_headers: 'Row 1 of the sheet is blank.',
  api_key_required: 'The sheet needs a key and none was sent.',
  invalid_api_key: 'The key is unknown, mistyped, revoked, or not for this sheet.',
  insufficient_scope: 'A read-only key tried to write.',
  write_api_not_enabled: "The account's plan is for reading only.",
  account_not_found: 'There is no account with this slug.',
  not_found: 'No such route.',
  row_not_found: 'The row lies past the last row with data.',
  sheet_not_found: 'The account has no sheet with this slug, or there is no sheet with this id.',
  method_not_allowed: 'The Allow header lists those that are.',
  request_timeout: 'Headers take at most 10 seconds, the whole request 30.',
  idempotency_in_progress: 'The first request under this key has not ended. Retry after Retry-After seconds.',
  precondition_failed: 'The row changed, moved or was deleted since its ETag was read. Nothing was written.',
  payload_too_large:
    'Over 2 MiB, over 1,000 rows (fewer where a sheet has very many columns), or a row over 4 MiB.',
  expectation_failed: 'Any Expect but 100-continue.',
  idempotency_key_reused:
    'Within 24 hours the same key came with another method, sheet, row, If-Match or body. Nothing was written.',
  rate_limited:
    'More requests in a minute than the plan allows, or than readers without a key may make, or too many refused ones from your address. Wait for Retry-After seconds; whoever does is not refused again.',
  too_many_at_once:
    "The account's share of what all accounts share is taken: threads that read files, and as many of its requests wait as may; or the room for answers that Idempotency-Keys keep for 24 hours; or your address has as many busy connections as it may have. details names the share. Nothing was done. Wait for Retry-After seconds.",
  usage_limit_exceeded:
    "The month's requests are used up, by the account's keys or by readers without one; each have their own. Retry-After and X-Quota-Reset say when the next month of the account begins.",
  headers_too_large: 'Over 16 KiB in all, or over 100 headers.',
  internal_error: 'A bug of ours. details has a reference that the operator finds in the log.',
  google_api_error:
    "The spreadsheet's provider failed: a file that is gone or locked, a spreadsheet that was deleted or is not shared any more, Google away or its ration used up. The reason says which, details what the owner can do. (The code is the same for every provider.)",
  service_unavailable:
    'The database cannot be reached, too many writes wait for this spreadsheet, or yours waited for 25 seconds. Nothing was written. Retry-After says when to come again.',
  sheet_paused: 'The owner has paused the sheet.',
  token_expired:
    "Google no longer accepts the owner's permission: it was withdrawn, has expired or lacks a scope. It holds for every sheet of that connection until the owner connects Google again.",
}
