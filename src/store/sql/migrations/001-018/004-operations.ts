import type { Kysely } from 'kysely'

export async function up(db: Kysely<unknown>): Promise<void> {
  await db.schema
    .createTable('operation')
    .addColumn('id', 'text', (column) => column.primaryKey())
    .addColumn('account_id', 'text', (column) => column.notNull().references('account.id'))
    .addColumn('sheet_id', 'text', (column) => column.notNull().references('sheet.id'))
    .addColumn('source', 'text', (column) => column.notNull())
    .addColumn('idempotency_key', 'text')
    .addColumn('fingerprint', 'text')
    .addColumn('state', 'text', (column) => column.notNull())
    .addColumn('fence', 'text')
    .addColumn('place', 'text')
    .addColumn('answer', 'text')
    .addColumn('created_at_ms', 'bigint', (column) => column.notNull())
    .addColumn('finished_at_ms', 'bigint')
    // Any number of operations without a key: both dialects hold one null to be different from another.
    .addUniqueConstraint('operation_of_key', ['account_id', 'idempotency_key'])
    .execute()
  await db.schema.createIndex('operation_by_state').on('operation').column('state').execute()
  await db.schema.createIndex('operation_by_finish').on('operation').column('finished_at_ms').execute()
}
