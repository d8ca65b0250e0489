import type { Insertable, Kysely, Selectable } from 'kysely'
import type { Clock } from '../../clock.ts'
import { newId } from '../new-id.ts'
import type { AccountTable, Tables } from '../sql/schema.ts'
import { type SqlDatabase, unlessTaken } from '../sql/sql-database.ts'
import type { Store } from '../store.ts'
import type { AccountRecord } from './accounts.ts'
import { takeSlugOn } from './former-slugs.ts'

type AccountQueries = Pick<
  Store,
  'createAccount' | 'findAccount' | 'countAccounts' | 'listAccounts' | 'setPlan'
>

export function createAccountQueries(database: SqlDatabase, clock: Clock): AccountQueries {
  const { kysely } = database
  return {
    async createAccount({ slug, plan }) {
      return unlessTaken(database, () =>
        kysely.transaction().execute((transaction) =>
          insertAccountOn(transaction, database, {
            id: newId('acc'),
            slug,
            plan,
            created_at_ms: clock.nowMs(),
          }),
        ),
      )
    },
    async findAccount(slug) {
      const row = await kysely.selectFrom('account').where('slug', '=', slug).selectAll().executeTakeFirst()
      return row ? toAccount(row) : null
    },
    async countAccounts() {
      const { count } = await kysely
        .selectFrom('account')
        .select((of) => of.fn.countAll<number | string>().as('count'))
        .executeTakeFirstOrThrow()
      return Number(count)
    },
    async listAccounts() {
      const rows = await kysely
        .selectFrom('account')
        .selectAll('account')
        .select(({ selectFrom, fn }) =>
          selectFrom('sheet')
            .whereRef('sheet.account_id', '=', 'account.id')
            .select(fn.countAll<number | string>().as('count'))
            .as('sheet_count'),
        )
        .orderBy('account.slug')
        .execute()
      return rows.map(({ sheet_count, ...row }) => ({ ...toAccount(row), sheetCount: Number(sheet_count) }))
    },
    async setPlan(accountId, { plan, requestsPerMinute, requestsPerMonth }) {
      await kysely
        .updateTable('account')
        .set({ plan, requests_per_minute: requestsPerMinute, requests_per_month: requestsPerMonth })
        .where('id', '=', accountId)
        .execute()
    },
  }
}

export async function insertAccountOn(
  transaction: Kysely<Tables>,
  database: SqlDatabase,
  account: Insertable<AccountTable>,
): Promise<AccountRecord> {
  const row = await transaction.insertInto('account').values(account).returningAll().executeTakeFirstOrThrow()
  await takeSlugOn(transaction, database, row.slug, row.id)
  return toAccount(row)
}

export function toAccount(row: Selectable<AccountTable>): AccountRecord {
  return {
    id: row.id,
    slug: row.slug,
    plan: row.plan,
    requestsPerMinute: row.requests_per_minute,
    requestsPerMonth: row.requests_per_month,
    createdAtMs: row.created_at_ms,
  }
}
