import type { ShareView, UsedUpShareView } from '../../../../src/dashboard/contract.ts'

/** What it is, and what became of who wanted more. */
type Words = [label: string, lost: string]

const refused = 'Requests were refused (429)'

export const shareWords: Record<ShareView['share'] | UsedUpShareView['share'], Words> = {
  sheets: ['Sheets', 'A sheet could not be connected'],
  upload_files: ['Uploaded files', 'A file could not be uploaded'],
  upload_mb: ['Size of uploaded files (MB)', 'A file could not be uploaded or written to'],
  webhooks: ['Webhooks', 'A webhook could not be added'],
  journal_mb: [
    'Responses kept for Idempotency-Keys (MB)',
    'Writes with a new Idempotency-Key were refused (429)',
  ],
  history_mb: ['History of changes (MB)', 'The oldest changes were forgotten before their time'],
  sessions: ['Signed-in browsers', 'The oldest was signed out'],
  decoding_waiting: ['Spreadsheets waiting to be read', refused],
  fetching_at_once: ['Spreadsheets being fetched at once', refused],
  editing_waiting: ['Writes waiting, for all spreadsheets', refused],
  compression_at_once: ['Long responses being compressed', 'They were sent uncompressed'],
  queries_waiting: ['Filters, searches and sorts waiting', refused],
  snapshot_percent: ['Rows held in memory', 'Sheets left memory, and were read again when requested'],
  unread_percent: ['Responses being read slowly', 'The oldest were cut off'],
  unread_total_percent: ['Responses being read slowly, of all accounts', 'Your oldest were cut off'],
  following_at_once: ['Requests waiting for changes', refused],
  following_total: ['Requests waiting for changes, of all accounts', refused],
  captchas_at_once: ['Captchas being checked', 'Visitors were asked to send a form again'],
  exports_at_once: ['Exports at once', refused],
  reports_at_once: ['Usage reports at once', refused],
  owner_calls_at_once: ['Dashboard requests at once', refused],
  owner_calls_waiting: ['Dashboard requests waiting', refused],
  owner_requests_per_minute: ['Dashboard requests per minute', refused],
  public_requests_per_minute: ['Requests per minute of one visitor', 'A visitor was refused (429)'],
  sign_ins_waiting: ['Sign-ins waiting', 'Someone was asked to sign in again later'],
  connections_per_address: ['Connections of one IP address', 'Connections were closed or refused'],
  connections: ['Connections of all', 'Connections were closed or refused'],
}
