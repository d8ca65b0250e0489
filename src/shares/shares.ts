/**
 * What one account, or one address, may take of what all share. Everything that strangers can use without paying for it
 * by the request has a line here; `docs/operating.md` shows the same table, and a test holds them equal.
 */
interface Share {
  byDefault: number
  least: number
  most: number
  whenUsedUp: WhenUsedUp
}

/**
 * What becomes of whoever has all of it and wants more. Each is observed under the share's own name, as `share_used_up`, or as `turn_waited` where
 * nobody loses anything; what is part of another's bound is observed under that one's.
 */
type WhenUsedUp =
  /** Perhaps after a wait. */
  | 'refused'
  /** What was there before makes room. */
  | 'oldest goes'
  /** Served all the same, at a higher price for somebody. */
  | 'goes without'
  /** For as long as it takes; nobody is refused. */
  | 'waits'
  | { seenAs: string }

const shareTable = {
  /** Files and spreadsheets that are being read for one account, and those that wait for it. */
  decoding_at_once: { byDefault: 1, least: 1, most: 64, whenUsedUp: { seenAs: 'decoding_waiting' } },
  decoding_waiting: { byDefault: 32, least: 0, most: 10_000, whenUsedUp: 'refused' },
  /** Spreadsheets of one account that are on their way from Google, or wait in memory for their turn to be read. */
  fetching_at_once: { byDefault: 4, least: 1, most: 64, whenUsedUp: 'refused' },
  /** Long ones among them, of all accounts together; half of them of one. */
  long_fetches_at_once: { byDefault: 4, least: 1, most: 64, whenUsedUp: 'waits' },
  /** Files that are being written to for one account. */
  editing_at_once: { byDefault: 1, least: 1, most: 64, whenUsedUp: 'waits' },
  /** Writes of one account that wait or are being done, for all its spreadsheets together. */
  editing_waiting: { byDefault: 500, least: 1, most: 100_000, whenUsedUp: 'refused' },
  /** Long lists that are being compressed for one account, and how long a reader waits for a turn before it gets plain bytes. */
  compression_at_once: { byDefault: 1, least: 1, most: 64, whenUsedUp: 'goes without' },
  compression_wait_ms: {
    byDefault: 50,
    least: 0,
    most: 10_000,
    whenUsedUp: { seenAs: 'compression_at_once' },
  },
  /** Filters, searches and sorts that take more than a moment, of one account, and those that wait for it. */
  queries_at_once: { byDefault: 4, least: 1, most: 1_000, whenUsedUp: { seenAs: 'queries_waiting' } },
  queries_waiting: { byDefault: 64, least: 0, most: 10_000, whenUsedUp: 'refused' },
  /** What the queries of all accounts that are being worked on may take in memory. */
  queries_mb: { byDefault: 256, least: 1, most: 1_000_000, whenUsedUp: { seenAs: 'queries_waiting' } },
  /** Percentage of ROWPORT_SNAPSHOT_MB: whoever holds more is the first to lose rows from memory. */
  snapshot_percent: { byDefault: 25, least: 1, most: 100, whenUsedUp: 'oldest goes' },
  /** Percentage of the same that slow readers of one account may keep in memory, beside the newest of their answers. */
  unread_percent: { byDefault: 50, least: 1, most: 1_000, whenUsedUp: 'oldest goes' },
  /** Percentage of the same that slow readers of all accounts may keep together. */
  unread_total_percent: { byDefault: 100, least: 1, most: 1_000, whenUsedUp: 'oldest goes' },
  /** Answers that are kept for Idempotency-Keys, for 24 hours. */
  journal_mb: { byDefault: 256, least: 1, most: 1_000_000, whenUsedUp: 'refused' },
  /** Changes of rows, and the rows that they are told from. */
  history_mb: { byDefault: 256, least: 1, most: 1_000_000, whenUsedUp: 'oldest goes' },
  /** Polls and streams of one account that wait for changes, at each instance. */
  following_at_once: { byDefault: 1_000, least: 1, most: 100_000, whenUsedUp: 'refused' },
  /** Streams and waiting polls of all accounts; beside them half as many of all visitors. */
  following_total: { byDefault: 5_000, least: 1, most: 1_000_000, whenUsedUp: 'refused' },
  /** Messages that are on their way to webhooks of one account, at each instance. */
  deliveries_at_once: { byDefault: 8, least: 1, most: 512, whenUsedUp: 'waits' },
  /** Captchas of visitors of one account's forms that their provider is being asked about, at each instance. */
  captchas_at_once: { byDefault: 20, least: 1, most: 200, whenUsedUp: 'refused' },
  /** Exports of one account that are being made and read, at each instance. */
  exports_at_once: { byDefault: 1, least: 1, most: 64, whenUsedUp: 'refused' },
  /** Figures of one account's use that are being summed up, at each instance. */
  reports_at_once: { byDefault: 1, least: 1, most: 64, whenUsedUp: 'refused' },
  upload_files: { byDefault: 100, least: 1, most: 100_000, whenUsedUp: 'refused' },
  upload_mb: { byDefault: 500, least: 1, most: 1_000_000, whenUsedUp: 'refused' },
  sheets: { byDefault: 100, least: 1, most: 100_000, whenUsedUp: 'refused' },
  webhooks: { byDefault: 20, least: 1, most: 10_000, whenUsedUp: 'refused' },
  sessions: { byDefault: 50, least: 1, most: 100_000, whenUsedUp: 'oldest goes' },
  /** Passwords that wait to be checked for one network, or in the sessions of one account. */
  sign_ins_waiting: { byDefault: 10, least: 1, most: 10_000, whenUsedUp: 'refused' },
  /** Calls of the dashboard's API that are worked on for one account, and those that wait for it. */
  owner_calls_at_once: { byDefault: 6, least: 1, most: 1_000, whenUsedUp: 'refused' },
  owner_calls_waiting: { byDefault: 64, least: 0, most: 10_000, whenUsedUp: 'refused' },
  /** In the dashboard and through its API, by one account. */
  owner_requests_per_minute: { byDefault: 600, least: 1, most: 1_000_000, whenUsedUp: 'refused' },
  /** Readers without a key, from one address. */
  public_requests_per_minute: { byDefault: 60, least: 1, most: 1_000_000, whenUsedUp: 'refused' },
  connections_per_address: { byDefault: 512, least: 1, most: 1_000_000, whenUsedUp: 'oldest goes' },
  connections: { byDefault: 10_000, least: 10, most: 1_000_000, whenUsedUp: 'oldest goes' },
} as const satisfies Record<string, Share>

export type ShareName = keyof typeof shareTable

export type Shares = Record<ShareName, number>

/** Those of which somebody is refused more, or loses some: whose share it is may be told. */
export type LosingShare = {
  [Name in ShareName]: (typeof shareTable)[Name]['whenUsedUp'] extends 'waits' | object ? never : Name
}[ShareName]

export const whenUsedUp = Object.fromEntries(
  Object.entries(shareTable).map(([name, share]) => [name, share.whenUsedUp]),
) as Record<ShareName, WhenUsedUp>

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

export function isShareName(name: string): name is ShareName {
  return Object.hasOwn(shareTable, name)
}

export function isLosingShare(name: ShareName): name is LosingShare {
  return typeof whenUsedUp[name] === 'string' && whenUsedUp[name] !== 'waits'
}

export const losingShares: readonly LosingShare[] = Object.keys(shareTable).filter(
  (name): name is LosingShare => isShareName(name) && isLosingShare(name),
)
