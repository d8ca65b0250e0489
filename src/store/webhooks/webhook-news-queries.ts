import { type Kysely, sql } from 'kysely'
import { toAccount } from '../accounts/account-queries.ts'
import { disconnectedByOwner, longestCycleMs } from '../alerts/alert-queries.ts'
import type { Tables } from '../sql/schema.ts'
import type { SqlDatabase } from '../sql/sql-database.ts'
import type { QuotaNews, WebhookNewsStore } from './webhook-news.ts'

/** Events of one webhook: those that it has taken, to be sent again, and those that wait. */
const keptEvents = 100
const waitingEvents = 200

export function createWebhookNewsQueries(database: SqlDatabase): WebhookNewsStore {
  const { kysely } = database
  return {
    async connectionNews() {
      const subject = sql<string>`'connection ' || credential.id`
      const rows = await listening(kysely)
        .innerJoin('credential', 'credential.account_id', 'account.id')
        .leftJoin('webhook_told as told', (join) =>
          join.onRef('told.webhook_id', '=', 'webhook.id').on('told.subject', '=', subject),
        )
        .where('credential.state', '=', 'expired')
        .where('credential.expired_reason', '!=', disconnectedByOwner)
        .where(sql<boolean>`(told.state is null or told.state <> cast(credential.version as text))`)
        .select(['credential.version', 'credential.provider', 'label'])
        .select([subject.as('subject'), 'told.state as told'])
        .select((of) =>
          of
            .selectFrom('sheet')
            .whereRef('sheet.credential_id', '=', 'credential.id')
            .select((sheets) => sheets.fn.countAll<number | string>().as('count'))
            .as('sheets'),
        )
        .execute()
      return rows.map((row) => ({
        ...newsOf(row),
        version: row.version,
        provider: row.provider,
        label: row.label,
        sheets: Number(row.sheets),
      }))
    },
    async sheetNewsForWebhooks() {
      const subject = sql<string>`'sheet ' || sheet.id`
      const rows = await listening(kysely)
        .innerJoin('sheet', 'sheet.account_id', 'account.id')
        .innerJoin('sheet_activity', 'sheet_activity.sheet_id', 'sheet.id')
        .leftJoin('credential', 'credential.id', 'sheet.credential_id')
        .leftJoin('webhook_told as told', (join) =>
          join.onRef('told.webhook_id', '=', 'webhook.id').on('told.subject', '=', subject),
        )
        .where('sheet.paused', '=', 0)
        // Of those whose connection has ended, it is told by the connection.
        .where((of) =>
          of.or([
            of('credential.id', 'is', null),
            of.and([
              of('credential.state', '=', 'valid'),
              of('sheet_activity.health_at_ms', '>', of.ref('credential.connected_at_ms')),
            ]),
          ]),
        )
        .where(
          sql<boolean>`case when sheet_activity.failure_reason is null then told.state = 'broken'
            else told.state is null or told.state <> 'broken' end`,
        )
        .select(['sheet.id as sheet_id', 'sheet.slug as sheet_slug', 'sheet_activity.failure_reason'])
        .select([subject.as('subject'), 'told.state as told'])
        .execute()
      return rows.map((row) => ({
        ...newsOf(row),
        sheetId: row.sheet_id,
        slug: row.sheet_slug,
        failureReason: row.failure_reason,
      }))
    },
    async quotaNews(leastLimit) {
      const [byKeys, byPublic] = await Promise.all([
        usesOf('usage', leastLimit),
        usesOf('public_usage', leastLimit),
      ])
      return [...byKeys, ...byPublic]
    },
    async heldNews() {
      const subject = sql<string>`'form ' || form.id`
      const held = kysely
        .selectFrom('form_entry')
        .where('is_released', '=', 0)
        .groupBy('form_id')
        .select((of) => ['form_id', of.fn.countAll<number | string>().as('count')])
        .select((of) => of.fn.max('received_at_ms').as('newest_at_ms'))
      const rows = await listening(kysely)
        .innerJoin('form', 'form.account_id', 'account.id')
        .innerJoin('sheet', 'sheet.id', 'form.sheet_id')
        .innerJoin(held.as('held'), 'held.form_id', 'form.id')
        .leftJoin('webhook_told as told', (join) =>
          join.onRef('told.webhook_id', '=', 'webhook.id').on('told.subject', '=', subject),
        )
        .where(sql<boolean>`(told.state is null or told.state <> cast(held.newest_at_ms as text))`)
        .select(['form.id as form_id', 'form.name as form_name', 'sheet.id as sheet_id'])
        .select(['sheet.slug as sheet_slug', 'held.count', 'held.newest_at_ms', 'told.state as told'])
        .select(subject.as('subject'))
        .execute()
      return (
        rows
          // What was told of may be discarded, which leaves an older one as the newest.
          .filter(({ told, newest_at_ms }) => Number(told ?? 0) < Number(newest_at_ms))
          .map((row) => ({
            ...newsOf(row),
            formId: row.form_id,
            formName: row.form_name,
            sheetId: row.sheet_id,
            slug: row.sheet_slug,
            held: Number(row.count),
            newestAtMs: Number(row.newest_at_ms),
          }))
      )
    },
    addWebhookEvent({ webhookId, subject, told }, { state, type, atMs, data }) {
      return kysely.transaction().execute(async (transaction) => {
        // Holds the row until the end.
        const webhook = await transaction
          .updateTable('webhook')
          .set((of) => ({ event_head: of('event_head', '+', 1) }))
          .where('id', '=', webhookId)
          .where(sql<boolean>`event_head - seq < ${sql.lit(waitingEvents)}`)
          .returning(['event_head', 'seq'])
          .executeTakeFirst()
        if (!webhook) return false
        const now = await transaction
          .selectFrom('webhook_told')
          .where((of) => of.and({ webhook_id: webhookId, subject }))
          .select('state')
          .executeTakeFirst()
        if ((now?.state ?? null) !== told) {
          await transaction
            .updateTable('webhook')
            .set((of) => ({ event_head: of('event_head', '-', 1) }))
            .where('id', '=', webhookId)
            .execute()
          return false
        }
        await transaction
          .insertInto('webhook_told')
          .values({ webhook_id: webhookId, subject, state })
          .onConflict((conflict) => conflict.columns(['webhook_id', 'subject']).doUpdateSet({ state }))
          .execute()
        await transaction
          .insertInto('webhook_event')
          .values({ webhook_id: webhookId, seq: webhook.event_head, type, at_ms: atMs, data })
          .execute()
        await transaction
          .deleteFrom('webhook_event')
          .where('webhook_id', '=', webhookId)
          .where('seq', '<=', Math.min(webhook.seq, webhook.event_head - keptEvents))
          .execute()
        return true
      })
    },
  }

  async function usesOf(table: 'usage' | 'public_usage', leastLimit: number): Promise<QuotaNews[]> {
    const by = table === 'usage' ? 'keys' : 'public'
    const subject = `quota ${by}`
    const since = sql<number>`${database.nowMs()} - ${sql.lit(longestCycleMs)}`
    const least = sql<number>`coalesce(account.requests_per_month, ${sql.lit(Math.round(leastLimit))})`
    const rows = await listening(kysely)
      // The two tables are alike, which a union of names would not say.
      .innerJoin(`${table as 'usage'} as month`, 'month.account_id', 'account.id')
      .leftJoin('webhook_told as told', (join) =>
        join.onRef('told.webhook_id', '=', 'webhook.id').on('told.subject', '=', subject),
      )
      .where('month.cycle_start_ms', '>', since)
      .where(sql<boolean>`month.charged * 100 >= ${least} * 80`)
      .where(sql<boolean>`(told.state is null or told.state <> cast(month.cycle_start_ms as text) || ' 100')`)
      .select(['month.cycle_start_ms', 'month.charged', 'told.state as told'])
      .execute()
    return rows.map((row) => ({
      ...newsOf({ ...row, subject }),
      by,
      cycleStartMs: row.cycle_start_ms,
      charged: row.charged,
    }))
  }
}

/** Webhooks of accounts that are on; one that is off is told when it is on again what is so by then. */
function listening(kysely: Kysely<Tables>) {
  return kysely
    .selectFrom('webhook')
    .innerJoin('account', 'account.id', 'webhook.account_id')
    .where('webhook.sheet_id', 'is', null)
    .where('webhook.state', '=', 'on')
    .selectAll('account')
    .select('webhook.id as webhook_id')
}

function newsOf(
  row: Parameters<typeof toAccount>[0] & { webhook_id: string; subject: string; told: string | null },
) {
  return { webhookId: row.webhook_id, account: toAccount(row), subject: row.subject, told: row.told }
}
