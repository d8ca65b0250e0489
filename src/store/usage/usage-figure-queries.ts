import { sql } from 'kysely'
import type { SqlDatabase } from '../sql/sql-database.ts'
import { addUsageOn } from './usage-figure-writes.ts'
import type { SheetActivity, UsageCount, UsageFigureStore } from './usage-figures.ts'

export function createUsageFigureQueries({ kysely }: SqlDatabase): UsageFigureStore {
  return {
    async addUsage(batch) {
      await kysely.transaction().execute((transaction) => addUsageOn(transaction, batch))
    },
    async usageSince(accountId, fromDay, page) {
      const rows = await kysely
        .selectFrom('usage_day')
        .where('account_id', '=', accountId)
        .where('day', '>=', fromDay)
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
    async latenciesSince(accountId, fromDay, { sheetId, keyId, toDay }) {
      const rows = await kysely
        .selectFrom('latency_day')
        .where('account_id', '=', accountId)
        .where('day', '>=', fromDay)
        .$if(toDay !== undefined, (query) => query.where('day', '<=', toDay ?? ''))
        .$if(sheetId !== '', (query) => query.where('sheet_id', '=', sheetId))
        .$if(keyId !== '', (query) => query.where('key_id', '=', keyId))
        .groupBy('bucket')
        .orderBy('bucket')
        .select((of) => ['bucket', of.fn.sum<number | string>('requests').as('requests')])
        .execute()
      return new Map(rows.map(({ bucket, requests }) => [bucket, Number(requests)]))
    },
    async providerCallsSince(accountId, fromDay) {
      const rows = await kysely
        .selectFrom('provider_day')
        .innerJoin('sheet', 'sheet.id', 'provider_day.sheet_id')
        .where('sheet.account_id', '=', accountId)
        .where('provider_day.day', '>=', fromDay)
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
    async forgetUsageBefore(day) {
      for (const table of ['usage_day', 'latency_day', 'provider_day'] as const) {
        await kysely.deleteFrom(table).where('day', '<', day).execute()
      }
    },
  }
}

function isBehind({ day, sheetId, keyId, outcome, rowsFrom }: UsageCount) {
  const last = sql.join([day, sheetId, keyId, outcome, rowsFrom])
  return sql<boolean>`(day, sheet_id, key_id, outcome, rows_from) > (${last})`
}
