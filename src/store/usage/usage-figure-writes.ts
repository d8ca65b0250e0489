import { type Insertable, type Kysely, sql } from 'kysely'
import type { Tables } from '../sql/schema.ts'
import { keptRequests } from './kept-requests.ts'
import type { UsageBatch } from './usage-figures.ts'

/** Rows in one statement, at most: far below what either dialect takes in parameters. */
const rowsTogether = 64

/**
 * Two processes that add to the same rows in another order would wait for each other for ever, so all go through them
 * in the order of their keys.
 */
export async function addUsageOn(on: Kysely<Tables>, batch: UsageBatch): Promise<void> {
  const accounts = await living(
    on,
    'account',
    [...batch.counts, ...batch.latencies].map(({ accountId }) => accountId),
  )
  const sheets = await living(
    on,
    'sheet',
    [...batch.providerCalls, ...batch.activity, ...batch.recent].map(({ sheetId }) => sheetId),
  )

  const counts = batch.counts
    .filter(({ accountId }) => accounts.has(accountId))
    .map((count) => ({
      account_id: count.accountId,
      day: count.day,
      sheet_id: count.sheetId,
      key_id: count.keyId,
      outcome: count.outcome,
      rows_from: count.rowsFrom,
      requests: count.requests,
    }))
  await addCounts(on, 'usage_day', 'requests', counts)

  const latencies = batch.latencies
    .filter(({ accountId }) => accounts.has(accountId))
    .map((count) => ({
      account_id: count.accountId,
      day: count.day,
      sheet_id: count.sheetId,
      key_id: count.keyId,
      bucket: count.bucket,
      requests: count.requests,
    }))
  await addCounts(on, 'latency_day', 'requests', latencies)

  const calls = batch.providerCalls
    .filter(({ sheetId }) => sheets.has(sheetId))
    .map((count) => ({ sheet_id: count.sheetId, day: count.day, calls: count.calls }))
  await addCounts(on, 'provider_day', 'calls', calls)

  await addActivity(
    on,
    batch.activity.filter(({ sheetId }) => sheets.has(sheetId)),
  )
  await addRecent(
    on,
    batch.recent.filter(({ sheetId }) => sheets.has(sheetId)),
  )
}

/** Adds to what is there: every column but the counted one says what is counted. */
async function addCounts<Table extends 'usage_day' | 'latency_day' | 'provider_day'>(
  on: Kysely<Tables>,
  table: Table,
  counted: keyof Tables[Table] & string,
  counts: readonly Insertable<Tables[Table]>[],
): Promise<void> {
  // Which columns there are depends on the table: checked above, where the counts come in.
  const tables = on as unknown as Kysely<Record<string, Record<string, unknown>>>
  const sum = sql`${sql.ref(`${table}.${counted}`)} + ${sql.ref(`excluded.${counted}`)}`
  for (const rows of inOrder(counts)) {
    const keys = Object.keys(rows[0] ?? {}).filter((column) => column !== counted)
    await tables
      .insertInto<string>(table)
      .values(rows)
      .onConflict((conflict) => conflict.columns(keys).doUpdateSet({ [counted]: sum }))
      .execute()
  }
}

/** Another process may have seen later things already: each column keeps the newest, or the first. */
async function addActivity(on: Kysely<Tables>, activity: UsageBatch['activity']): Promise<void> {
  const lines = activity.map(({ sheetId, firstRequestAtMs, lastRequestAtMs, health }) => ({
    sheet_id: sheetId,
    first_request_at_ms: firstRequestAtMs,
    last_request_at_ms: lastRequestAtMs,
    failure_reason: health?.failureReason ?? null,
    health_at_ms: health?.atMs ?? null,
  }))
  const isHealthNews = sql<boolean>`excluded.health_at_ms is not null and (sheet_activity.health_at_ms is null or sheet_activity.health_at_ms <= excluded.health_at_ms)`
  const either = (column: string, later: '>' | '<') => {
    const [kept, news] = [sql.ref(`sheet_activity.${column}`), sql.ref(`excluded.${column}`)]
    const isNews = later === '>' ? sql`${news} > ${kept}` : sql`${news} < ${kept}`
    return sql<number>`case when ${kept} is null or ${isNews} then ${news} else ${kept} end`
  }
  for (const rows of inOrder(lines)) {
    await on
      .insertInto('sheet_activity')
      .values(rows)
      .onConflict((conflict) =>
        conflict.column('sheet_id').doUpdateSet({
          first_request_at_ms: either('first_request_at_ms', '<'),
          last_request_at_ms: either('last_request_at_ms', '>'),
          failure_reason: sql<string>`case when ${isHealthNews} then excluded.failure_reason else sheet_activity.failure_reason end`,
          health_at_ms: sql<number>`case when ${isHealthNews} then excluded.health_at_ms else sheet_activity.health_at_ms end`,
        }),
      )
      .execute()
  }
}

async function addRecent(on: Kysely<Tables>, recent: UsageBatch['recent']): Promise<void> {
  const lines = recent.map((request) => ({
    id: request.id,
    sheet_id: request.sheetId,
    key_id: request.keyId,
    at_ms: request.atMs,
    method: request.method,
    operation: request.operation,
    status: request.status,
    code: request.code,
    rows_from: request.rowsFrom,
    duration_us: Math.round(request.durationMs * 1_000),
  }))
  for (const rows of inOrder(lines)) await on.insertInto('recent_request').values(rows).execute()
  const sheetIds = [...new Set(recent.map(({ sheetId }) => sheetId))].sort()
  for (const sheetId of sheetIds) await trimRecentOn(on, sheetId)
}

function* inOrder<Row extends object>(rows: readonly Row[]): Generator<Row[]> {
  const named = rows.map((row) => ({ row, name: Object.values(row).join('\0') }))
  named.sort((one, other) => (one.name < other.name ? -1 : 1))
  for (let at = 0; at < named.length; ) {
    const end = at + numberTogether(named.length - at)
    yield named.slice(at, end).map(({ row }) => row)
    at = end
  }
}

/**
 * How many of so many rows go into one statement: a power of two. Each number of rows is another statement, and SQLite's are kept when they
 * are prepared, outside of the heap: some 15 KB for each number up to 20, 30 up to 40, and 50 to 80 above.
 */
function numberTogether(left: number): number {
  return Math.min(rowsTogether, 2 ** Math.floor(Math.log2(left)))
}

async function living(
  on: Kysely<Tables>,
  table: 'account' | 'sheet',
  ids: readonly string[],
): Promise<Set<string>> {
  const asked = [...new Set(ids)]
  const found = new Set<string>()
  for (let at = 0; at < asked.length; ) {
    const end = at + numberTogether(asked.length - at)
    const rows = await on.selectFrom(table).where('id', 'in', asked.slice(at, end)).select('id').execute()
    for (const { id } of rows) found.add(id)
    at = end
  }
  return found
}

/** All but the newest go. */
async function trimRecentOn(on: Kysely<Tables>, sheetId: string): Promise<void> {
  const eldest = on
    .selectFrom('recent_request')
    .where('sheet_id', '=', sheetId)
    .orderBy('id', 'desc')
    .limit(1)
    .offset(keptRequests - 1)
    .select('id')
  await on
    .deleteFrom('recent_request')
    .where('sheet_id', '=', sheetId)
    .where('id', '<', sql<string>`(${eldest})`)
    .execute()
}
