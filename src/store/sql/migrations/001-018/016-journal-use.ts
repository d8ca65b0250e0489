import type { Kysely } from 'kysely'

export async function up(db: Kysely<unknown>): Promise<void> {
  await db.schema
    .createTable('journal_use')
    .addColumn('account_id', 'text', (column) => column.notNull().references('account.id'))
    .addColumn('hour_ms', 'bigint', (column) => column.notNull())
    .addColumn('bytes', 'bigint', (column) => column.notNull())
    .addPrimaryKeyConstraint('journal_use_of_hour', ['account_id', 'hour_ms'])
    .execute()
  await db.schema
    .alterTable('operation')
    .addColumn('kept_bytes', 'bigint', (column) => column.notNull().defaultTo(0))
    .execute()
}
