import type { Kysely } from 'kysely'

/** What readers without a key took of a month, beside what the account's keys did. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await db.schema
    .createTable('public_usage')
    .addColumn('account_id', 'text', (column) => column.notNull().references('account.id'))
    .addColumn('cycle_start_ms', 'bigint', (column) => column.notNull())
    .addColumn('charged', 'bigint', (column) => column.notNull())
    .addPrimaryKeyConstraint('public_usage_of_cycle', ['account_id', 'cycle_start_ms'])
    .execute()
}
