/**
 * What one account, or one address, may take of what all share. Everything that strangers can use without paying for it
 * by the request has a line here; `docs/operating.md` shows the same table, and a test holds them equal.
 */
interface Share {
  byDefault: number
  least: number
  most: number
}

const shareTable = {
  /** Files and spreadsheets that are being read for one account, and those that wait for it. */
  decoding_at_once: { byDefault: 1, least: 1, most: 64 },
  decoding_waiting: { byDefault: 32, least: 0, most: 10_000 },
  /** Spreadsheets of one account that are on their way from Google, or wait in memory for their turn to be read. */
  fetching_at_once: { byDefault: 4, least: 1, most: 64 },
  /** Long ones among them, of all accounts together; half of them of one. */
  long_fetches_at_once: { byDefault: 4, least: 1, most: 64 },
  /** Files that are being written to for one account. */
  editing_at_once: { byDefault: 1, least: 1, most: 64 },
  /** Long lists that are being compressed for one account, and how long a reader waits for a turn before it gets plain bytes. */
  compression_at_once: { byDefault: 1, least: 1, most: 64 },
  compression_wait_ms: { byDefault: 50, least: 0, most: 10_000 },
  /** Filters, searches and sorts that take more than a moment, of one account, and those that wait for it. */
  queries_at_once: { byDefault: 4, least: 1, most: 1_000 },
  queries_waiting: { byDefault: 64, least: 0, most: 10_000 },
  /** What the queries of all accounts that are being worked on may take in memory. */
  queries_mb: { byDefault: 256, least: 1, most: 1_000_000 },
  /** Percentage of ROWPORT_SNAPSHOT_MB: whoever holds more is the first to lose rows from memory. */
  snapshot_percent: { byDefault: 25, least: 1, most: 100 },
  /** Percentage of the same that slow readers of one account may keep in memory, beside the newest of their answers. */
  unread_percent: { byDefault: 50, least: 1, most: 1_000 },
  /** Percentage of the same that slow readers of all accounts may keep together. */
  unread_total_percent: { byDefault: 100, least: 1, most: 1_000 },
  /** Answers that are kept for Idempotency-Keys, for 24 hours. */
  journal_mb: { byDefault: 256, least: 1, most: 1_000_000 },
  /** Changes of rows, and the rows that they are told from. */
  history_mb: { byDefault: 256, least: 1, most: 1_000_000 },
  /** Polls and streams of one account that wait for changes, at each instance. */
  following_at_once: { byDefault: 1_000, least: 1, most: 100_000 },
  /** Streams and waiting polls of all accounts. */
  following_total: { byDefault: 5_000, least: 1, most: 1_000_000 },
  /** Messages that are on their way to webhooks of one account, at each instance. */
  deliveries_at_once: { byDefault: 8, least: 1, most: 512 },
  /** Captchas of visitors of one account's forms that their provider is being asked about, at each instance. */
  captchas_at_once: { byDefault: 20, least: 1, most: 200 },
  /** Exports of one account that are being made and read, at each instance. */
  exports_at_once: { byDefault: 1, least: 1, most: 64 },
  /** Figures of one account's use that are being summed up, at each instance. */
  reports_at_once: { byDefault: 1, least: 1, most: 64 },
  upload_files: { byDefault: 100, least: 1, most: 100_000 },
  upload_mb: { byDefault: 500, least: 1, most: 1_000_000 },
  sheets: { byDefault: 100, least: 1, most: 100_000 },
  webhooks: { byDefault: 20, least: 1, most: 10_000 },
  sessions: { byDefault: 50, least: 1, most: 100_000 },
  /** Passwords that wait to be checked for one network, or in the sessions of one account. */
  sign_ins_waiting: { byDefault: 10, least: 1, most: 10_000 },
  /** Calls of the dashboard's API that are worked on for one account, and those that wait for it. */
  owner_calls_at_once: { byDefault: 6, least: 1, most: 1_000 },
  owner_calls_waiting: { byDefault: 64, least: 0, most: 10_000 },
  /** In the dashboard and through its API, by one account. */
  owner_requests_per_minute: { byDefault: 600, least: 1, most: 1_000_000 },
  /** Readers without a key, from one address. */
  public_requests_per_minute: { byDefault: 60, least: 1, most: 1_000_000 },
  connections_per_address: { byDefault: 512, least: 1, most: 1_000_000 },
  connections: { byDefault: 10_000, least: 10, most: 1_000_000 },
} as const satisfies Record<string, Share>

export type ShareName = keyof typeof shareTable

export type Shares = Record<ShareName, number>

export const defaultShares = Object.fromEntries(
  Object.entries(shareTable).map(([name, { byDefault }]) => [name, byDefault]),
) as Shares

/** What was set, on top of the defaults; a sentence about what is wrong with it otherwise. */
export function sharesFrom(setting: unknown): Shares | { problem: string } {
  if (typeof setting !== 'object' || setting === null || Array.isArray(setting)) {
    return { problem: 'must be JSON such as {"sheets": 100, "upload_files": 20}' }
  }
  for (const [name, value] of Object.entries(setting)) {
    if (!isShareName(name)) {
      return { problem: `has no share "${name}"; there are ${Object.keys(shareTable).join(', ')}` }
    }
    const { least, most } = shareTable[name]
    if (!Number.isInteger(value) || value < least || value > most) {
      return { problem: `"${name}" must be a whole number from ${least} to ${most}` }
    }
  }
  return { ...defaultShares, ...setting }
}

function isShareName(name: string): name is ShareName {
  return Object.hasOwn(shareTable, name)
}
