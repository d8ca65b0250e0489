import { setImmediate as takeTurn } from 'node:timers/promises'
import { type SelectQueryBuilder, sql } from 'kysely'
import type { SqlDatabase } from '../sql/sql-database.ts'
import { addUsageOn } from './usage-figure-writes.ts'
import type {
  DayOfSheet,
  SheetActivity,
  SheetUsage,
  Span,
  UsageCount,
  UsageFigureStore,
} from './usage-figures.ts'

export function createUsageFigureQueries({ kysely }: SqlDatabase): UsageFigureStore {
  return {
    async addUsage(batch) {
      await kysely.transaction().execute((transaction) => addUsageOn(transaction, batch))
    },
    async usageSince(accountId, fromDay, page) {
      const rows = await kysely
        .selectFrom('usage_day')
        .where('account_id', '=', accountId)
        // Not both: SQLite would begin at the day, and go through all pages before this one.
        .$if(page?.after == null, (query) => query.where('day', '>=', fromDay))
        .$if(page !== undefined, (query) => query.limit(page?.rows ?? 0))
        .$if(page?.after != null, (query) => query.where(isBehind(page?.after as UsageCount)))
        // As they are in the primary key, so that a page is found without sorting.
        .orderBy('day')
        .orderBy('sheet_id')
        .orderBy('key_id')
        .orderBy('outcome')
        .orderBy('rows_from')
        .selectAll()
        .execute()
      return rows.map((row) => ({
        accountId: row.account_id,
        day: row.day,
        sheetId: row.sheet_id,
        keyId: row.key_id,
        outcome: row.outcome,
        rowsFrom: row.rows_from,
        requests: row.requests,
      }))
    },
    async endOfSpan(accountId, table, from, rows) {
      const ofAccount = kysely
        .selectFrom(table)
        .where('account_id', '=', accountId)
        .orderBy('day')
        .orderBy('sheet_id')
        .limit(1)
        .select(['day', 'sheet_id'])
      const beyond = await ofAccount.where(isAt('>=', from)).offset(rows).executeTakeFirst()
      if (!beyond) return null
      const isOneSheet = beyond.day === from.day && beyond.sheet_id === from.sheetId
      const end = isOneSheet ? await ofAccount.where(isAt('>', from)).executeTakeFirst() : beyond
      return end ? { day: end.day, sheetId: end.sheet_id } : null
    },
    async usageOfSheets(accountId, span, keyId) {
      const by = sql<
        SheetUsage['by']
      >`case key_id when '' then 'no key' when ${keyId} then 'the key' else 'another key' end`
      const rows = await inSpan(kysely.selectFrom('usage_day').where('account_id', '=', accountId), span)
        .select((of) => [
          'day',
          'sheet_id',
          'outcome',
          'rows_from',
          by.as('asked_by'),
          of.fn.sum<number | string>('requests').as('requests'),
        ])
        .groupBy(['day', 'sheet_id', 'outcome', 'rows_from', 'asked_by'])
        .execute()
      return rows.map((row) => ({
        day: row.day,
        sheetId: row.sheet_id,
        outcome: row.outcome,
        rowsFrom: row.rows_from,
        by: row.asked_by,
        requests: Number(row.requests),
      }))
    },
    async usageOfKeys(accountId, span, { sheetId, keyId }) {
      const rows = await inSpan(kysely.selectFrom('usage_day').where('account_id', '=', accountId), span)
        .$if(sheetId !== '', (query) => query.where('sheet_id', '=', sheetId))
        .$if(keyId !== '', (query) => query.where('key_id', '=', keyId))
        .groupBy(['key_id', 'outcome'])
        .select((of) => ['key_id', 'outcome', of.fn.sum<number | string>('requests').as('requests')])
        .execute()
      return rows.map(({ key_id, outcome, requests }) => ({
        keyId: key_id,
        outcome,
        requests: Number(requests),
      }))
    },
    async latenciesIn(accountId, span, { sheetId, keyId }) {
      const rows = await inSpan(kysely.selectFrom('latency_day').where('account_id', '=', accountId), span)
        .$if(sheetId !== '', (query) => query.where('sheet_id', '=', sheetId))
        .$if(keyId !== '', (query) => query.where('key_id', '=', keyId))
        .groupBy('bucket')
        .orderBy('bucket')
        .select((of) => ['bucket', of.fn.sum<number | string>('requests').as('requests')])
        .execute()
      return new Map(rows.map(({ bucket, requests }) => [bucket, Number(requests)]))
    },
    async providerCallsIn(accountId, days) {
      const ofAccount = kysely
        .selectFrom('provider_day')
        .innerJoin('sheet', 'sheet.id', 'provider_day.sheet_id')
        .where('sheet.account_id', '=', accountId)
      const rows = await ofAccount
        .where('provider_day.day', '>=', days.from)
        .$if(days.before !== null, (query) => query.where('provider_day.day', '<', days.before ?? ''))
        .groupBy('sheet.id')
        .select((of) => ['sheet.id', of.fn.sum<number | string>('provider_day.calls').as('calls')])
        .execute()
      return new Map(rows.map(({ id, calls }) => [id, Number(calls)]))
    },
    async activityOf(accountId) {
      const rows = await kysely
        .selectFrom('sheet_activity')
        .innerJoin('sheet', 'sheet.id', 'sheet_activity.sheet_id')
        .where('sheet.account_id', '=', accountId)
        .selectAll('sheet_activity')
        .execute()
      return new Map<string, SheetActivity>(
        rows.map((row) => [
          row.sheet_id,
          {
            firstRequestAtMs: row.first_request_at_ms,
            lastRequestAtMs: row.last_request_at_ms,
            health:
              row.health_at_ms === null
                ? null
                : { failureReason: row.failure_reason, atMs: row.health_at_ms },
          },
        ]),
      )
    },
    async recentRequests(sheetId, limit) {
      const rows = await kysely
        .selectFrom('recent_request')
        .where('sheet_id', '=', sheetId)
        .orderBy('id', 'desc')
        .limit(limit)
        .selectAll()
        .execute()
      return rows.map((row) => ({
        id: row.id,
        sheetId: row.sheet_id,
        keyId: row.key_id,
        atMs: row.at_ms,
        method: row.method,
        operation: row.operation,
        status: row.status,
        code: row.code,
        rowsFrom: row.rows_from,
        durationMs: row.duration_us / 1_000,
      }))
    },
    async forgetUsageBefore(day, rows) {
      let mayBeMore = false
      for (const { table, key } of keptByDay) {
        const named = sql.join(key.map((column) => sql.ref(column)))
        const eldest = sql`select ${named} from ${sql.table(table)} where day < ${day} limit ${sql.lit(rows)}`
        const { numAffectedRows } =
          await sql`delete from ${sql.table(table)} where (${named}) in (${eldest})`.execute(kysely)
        if (Number(numAffectedRows ?? 0) >= rows) mayBeMore = true
      }
      return mayBeMore
    },
  }
}

/** Figures of an account that is about to go are removed in short steps: there may be hundreds of thousands. */
export async function forgetUsageOf(
  { passing }: Pick<SqlDatabase, 'passing'>,
  accountId: string,
): Promise<void> {
  for (const { table, key } of keptOfAccount) {
    const named = sql.join(key.map((column) => sql.ref(column)))
    const some = sql`select ${named} from ${sql.table(table)} where account_id = ${accountId} limit ${sql.lit(forgottenTogether)}`
    for (;;) {
      const { numAffectedRows } = await passing((db) =>
        sql`delete from ${sql.table(table)} where (${named}) in (${some})`.execute(db),
      )
      if (Number(numAffectedRows ?? 0) < forgottenTogether) break
      await takeTurn()
    }
  }
}

/** SQLite deletes on the thread that serves everyone. */
const forgottenTogether = 100

/** Each with the columns of its primary key. */
const keptOfAccount = [
  { table: 'usage_day', key: ['account_id', 'day', 'sheet_id', 'key_id', 'outcome', 'rows_from'] },
  { table: 'latency_day', key: ['account_id', 'day', 'sheet_id', 'key_id', 'bucket'] },
] as const

const keptByDay = [...keptOfAccount, { table: 'provider_day', key: ['sheet_id', 'day'] }] as const

function inSpan<Database, Table extends keyof Database, Output>(
  query: SelectQueryBuilder<Database, Table, Output>,
  { from, before }: Span,
): SelectQueryBuilder<Database, Table, Output> {
  return query.where(isAt('>=', from)).$if(before !== null, (some) => some.where(isAt('<', before ?? from)))
}

function isAt(where: '>=' | '>' | '<', { day, sheetId }: DayOfSheet) {
  return sql<boolean>`(day, sheet_id) ${sql.raw(where)} (${day}, ${sheetId})`
}

function isBehind({ day, sheetId, keyId, outcome, rowsFrom }: UsageCount) {
  const last = sql.join([day, sheetId, keyId, outcome, rowsFrom])
  return sql<boolean>`(day, sheet_id, key_id, outcome, rows_from) > (${last})`
}
