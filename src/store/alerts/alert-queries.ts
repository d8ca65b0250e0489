import { type Kysely, type RawBuilder, sql } from 'kysely'
import { toAccount } from '../accounts/account-queries.ts'
import type { NewMail } from '../mail/mail.ts'
import { addMailOn } from '../mail/mail-queries.ts'
import type { Tables } from '../sql/schema.ts'
import type { SqlDatabase } from '../sql/sql-database.ts'
import type { AlertStore, QuotaUse } from './alerts.ts'

/** A billing month has no more days; a charge that is older is of a month that is over. */
export const longestCycleMs = 31 * 24 * 60 * 60_000

export function createAlertQueries(database: SqlDatabase): AlertStore {
  const { kysely } = database
  return {
    async endedConnectionsToTell() {
      const rows = await listeners(kysely)
        .innerJoin('credential', 'credential.account_id', 'account.id')
        .where('credential.state', '=', 'expired')
        .where('credential.expired_reason', '!=', disconnectedByOwner)
        .where((of) =>
          of.or([
            of('credential.told_version', 'is', null),
            of('credential.told_version', '<', of.ref('credential.version')),
          ]),
        )
        .select(['credential.id as credential_id', 'credential.version', 'credential.provider', 'label'])
        .select((of) =>
          of
            .selectFrom('sheet')
            .whereRef('sheet.credential_id', '=', 'credential.id')
            .select((sheets) => sheets.fn.countAll<number | string>().as('count'))
            .as('sheets'),
        )
        .execute()
      return rows.map((row) => ({
        account: toAccount(row),
        email: row.email,
        credentialId: row.credential_id,
        version: row.version,
        provider: row.provider,
        label: row.label,
        sheets: Number(row.sheets),
      }))
    },
    async sheetsToTell(quietMs) {
      const rows = await listeners(kysely)
        .innerJoin('sheet', 'sheet.account_id', 'account.id')
        .innerJoin('sheet_activity', 'sheet_activity.sheet_id', 'sheet.id')
        .leftJoin('credential', 'credential.id', 'sheet.credential_id')
        .where('sheet.paused', '=', 0)
        // Of those whose connection has ended, their owner hears by the connection.
        .where((of) =>
          of.or([
            of('credential.id', 'is', null),
            of.and([
              of('credential.state', '=', 'valid'),
              // What failed before it was connected again says nothing of how it is now.
              of('sheet_activity.health_at_ms', '>', of.ref('credential.connected_at_ms')),
            ]),
          ]),
        )
        .where(mayBeNews)
        .where(isNews)
        .where(isQuietFor(database.nowMs(), quietMs))
        .select(['sheet.id as sheet_id', 'sheet.slug as sheet_slug', 'sheet_activity.failure_reason'])
        .execute()
      return rows.map((row) => ({
        account: toAccount(row),
        email: row.email,
        sheetId: row.sheet_id,
        slug: row.sheet_slug,
        failureReason: row.failure_reason,
      }))
    },
    async quotasToTell(leastLimit) {
      const [byKeys, byPublic] = await Promise.all([
        usesOf('usage', leastLimit),
        usesOf('public_usage', leastLimit),
      ])
      return [...byKeys, ...byPublic]
    },
    async offWebhooksToTell() {
      const rows = await listeners(kysely)
        .innerJoin('webhook', 'webhook.account_id', 'account.id')
        .leftJoin('sheet', 'sheet.id', 'webhook.sheet_id')
        .where('webhook.state', '=', 'off')
        .where('webhook.off_told', '=', 0)
        .select(['webhook.id as webhook_id', 'webhook.url', 'webhook.off_reason', 'sheet.slug as sheet_slug'])
        .execute()
      return rows.map((row) => ({
        account: toAccount(row),
        email: row.email,
        webhookId: row.webhook_id,
        url: row.url,
        reason: row.off_reason ?? '',
        sheetSlug: row.sheet_slug,
      }))
    },
    tellOffWebhook({ webhookId }, mail) {
      return noteWithMail(mail, (transaction) =>
        transaction
          .updateTable('webhook')
          .set({ off_told: 1 })
          .where((of) => of.and({ id: webhookId, state: 'off', off_told: 0 }))
          .executeTakeFirst(),
      )
    },
    tellEndedConnection({ credentialId, version }, mail) {
      return noteWithMail(mail, (transaction) =>
        transaction
          .updateTable('credential')
          .set({ told_version: version })
          .where('id', '=', credentialId)
          .where('version', '=', version)
          .where((of) => of.or([of('told_version', 'is', null), of('told_version', '<', version)]))
          .executeTakeFirst(),
      )
    },
    tellSheet({ sheetId, failureReason }, quietMs, mail) {
      const isBroken = failureReason !== null
      const nowMs = database.nowMs()
      return noteWithMail(mail, (transaction) =>
        transaction
          .updateTable('sheet_activity')
          .set({ told_broken: isBroken ? 1 : 0, told_at_ms: nowMs })
          .where('sheet_id', '=', sheetId)
          .where('told_broken', '=', isBroken ? 0 : 1)
          .where('failure_reason', isBroken ? 'is not' : 'is', null)
          .where(isQuietFor(nowMs, quietMs))
          .executeTakeFirst(),
      )
    },
    tellQuota({ account, by, cycleStartMs, toldPercent }, percent, mail) {
      return noteWithMail(mail, (transaction) =>
        transaction
          .updateTable(tableOf[by])
          .set({ told_percent: percent })
          .where('account_id', '=', account.id)
          .where('cycle_start_ms', '=', cycleStartMs)
          .where('told_percent', '=', toldPercent)
          .executeTakeFirst(),
      )
    },
  }

  async function usesOf(table: 'usage' | 'public_usage', leastLimit: number): Promise<QuotaUse[]> {
    const since = sql<number>`${database.nowMs()} - ${sql.lit(longestCycleMs)}`
    const least = sql<number>`coalesce(account.requests_per_month, ${sql.lit(Math.round(leastLimit))})`
    const rows = await listeners(kysely)
      // The two tables are alike, which a union of names would not say.
      .innerJoin(`${table as 'usage'} as month`, 'month.account_id', 'account.id')
      .where('month.told_percent', '<', 100)
      .where('month.cycle_start_ms', '>', since)
      .where(sql<boolean>`month.charged * 100 >= ${least} * 80`)
      .select(['month.cycle_start_ms', 'month.charged', 'month.told_percent'])
      .execute()
    return rows.map((row) => ({
      account: toAccount(row),
      email: row.email,
      by: table === 'usage' ? 'keys' : 'public',
      cycleStartMs: row.cycle_start_ms,
      charged: row.charged,
      toldPercent: row.told_percent,
    }))
  }

  async function noteWithMail(
    mail: NewMail,
    note: (transaction: Kysely<Tables>) => Promise<{ numUpdatedRows: bigint }>,
  ): Promise<boolean> {
    return kysely.transaction().execute(async (transaction) => {
      const { numUpdatedRows } = await note(transaction)
      if (numUpdatedRows !== 1n) return false
      await addMailOn(transaction, database, mail)
      return true
    })
  }
}

const tableOf = { keys: 'usage', public: 'public_usage' as 'usage' } as const

/** What `forgetCredential` writes: an owner who disconnects knows that they did. */
export const disconnectedByOwner = 'disconnected'

/** As the index says it that has these few sheets. */
const mayBeNews = sql<boolean>`(sheet_activity.failure_reason is not null or sheet_activity.told_broken = 1)`

const isNews = sql<boolean>`(
  (sheet_activity.failure_reason is not null and sheet_activity.told_broken = 0)
  or (sheet_activity.failure_reason is null and sheet_activity.told_broken = 1)
)`

function isQuietFor(nowMs: RawBuilder<number>, quietMs: number): RawBuilder<boolean> {
  return sql<boolean>`(
    sheet_activity.told_at_ms is null or sheet_activity.told_at_ms <= ${nowMs} - ${sql.lit(Math.round(quietMs))}
  )`
}

/** Accounts whose owners hear of trouble. */
function listeners(kysely: Kysely<Tables>) {
  return kysely
    .selectFrom('account')
    .innerJoin('owner', 'owner.account_id', 'account.id')
    .where('owner.email_verified_at_ms', 'is not', null)
    .where('owner.alerts', '=', 1)
    .selectAll('account')
    .select('owner.email')
}
