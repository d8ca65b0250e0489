import type { Kysely } from 'kysely'

export async function up(db: Kysely<unknown>): Promise<void> {
  await db.schema.alterTable('api_key').addColumn('last_used_at_ms', 'bigint').execute()

  await db.schema
    .createTable('usage')
    .addColumn('account_id', 'text', (column) => column.notNull().references('account.id'))
    .addColumn('cycle_start_ms', 'bigint', (column) => column.notNull())
    .addColumn('charged', 'bigint', (column) => column.notNull())
    .addPrimaryKeyConstraint('usage_of_cycle', ['account_id', 'cycle_start_ms'])
    .execute()
}
