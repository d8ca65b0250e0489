import { markCells, oneLine } from './cells.ts'
import type { Failure } from './sheets-api.ts'

/** What to do about a refusal, for somebody who has the tools and nothing else. `details` has said what was wrong. */
const nextSteps: Record<string, string> = {
  unauthorized: 'Ask the user for an API key of this server and send it as "Authorization: Bearer sk_…".',
  forbidden: 'The key is not valid here. Ask the user for another one.',
  insufficient_scope:
    'This key may only read. Tell the user what you would change, or ask for a key that may write.',
  sheet_read_only: 'Nothing was written, and nothing can be. Tell the user.',
  write_api_not_enabled: "The account's plan has no writing. Tell the user.",
  sheet_not_found: 'Call list_sheets for the sheets of this key.',
  sheet_paused: 'The owner has paused this sheet. Tell the user.',
  invalid_query:
    'Call describe_sheet for the columns, and correct the argument. "_row" is none: update_rows and delete_rows take a row\'s number as "row".',
  invalid_body: 'Nothing was written. Call describe_sheet for the columns, and correct the values.',
  too_many_rows: 'Nothing was written. Narrow "where"; raise max_rows only if the user means that many rows.',
  ambiguous_row:
    'Nothing was written. Several rows have this value: choose one by row, or by another column.',
  row_exists: 'Nothing was written. A row with this key is there: update it, or add with upsert.',
  row_not_found: 'Rows move when others are deleted or sorted: find it again with query_rows.',
  undo_conflict: 'Nothing was undone, because these rows were changed since. Show them to the user.',
  operation_not_found: 'Only writes that the log of the sheet still has can be undone.',
  idempotency_in_progress: 'The first call with this request_id is still being done. Wait, then call again.',
  idempotency_key_reused: 'This request_id was used for another call. Take a new one.',
  usage_limit_exceeded: "The month's requests are used up. Tell the user.",
  missing_headers: 'Row 1 of the sheet has no column names. Tell the user.',
  token_expired: 'The owner has to reconnect the spreadsheet in the dashboard. Tell the user.',
}

export function inWords({ code, message, details, mayQuoteCells, retryAfterSeconds }: Failure): string {
  const said = details !== null && mayQuoteCells ? markCells(oneLine(details)) : details
  const wait = retryAfterSeconds === null ? null : `Wait ${retryAfterSeconds} s, then call again.`
  return [`${code}: ${message}`, said, nextSteps[code] ?? wait].filter(Boolean).join('\n')
}
