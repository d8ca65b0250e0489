import type { Kysely } from 'kysely'

export async function up(db: Kysely<unknown>): Promise<void> {
  await db.schema
    .alterTable('sheet')
    .addColumn('history_days', 'integer', (column) => column.notNull().defaultTo(7))
    .execute()
  await db.schema
    .createTable('change_log')
    .addColumn('sheet_id', 'text', (column) => column.primaryKey().references('sheet.id'))
    .addColumn('account_id', 'text', (column) => column.notNull().references('account.id'))
    .addColumn('epoch', 'text', (column) => column.notNull())
    .addColumn('head', 'bigint', (column) => column.notNull())
    .addColumn('floor', 'bigint', (column) => column.notNull())
    .addColumn('state', 'text')
    .addColumn('state_seq', 'bigint')
    .addColumn('identity', 'text', (column) => column.notNull())
    .addColumn('is_broken', 'integer', (column) => column.notNull().defaultTo(0))
    .addColumn('unplaced', 'text')
    .addColumn('look_wanted_at_ms', 'bigint')
    .addColumn('since_state_bytes', 'bigint', (column) => column.notNull().defaultTo(0))
    .addColumn('bytes', 'bigint', (column) => column.notNull().defaultTo(0))
    .execute()
  await db.schema.createIndex('change_log_by_account').on('change_log').column('account_id').execute()
  await db.schema
    .createTable('change_chunk')
    .addColumn('sheet_id', 'text', (column) => column.notNull().references('sheet.id'))
    .addColumn('first_seq', 'bigint', (column) => column.notNull())
    .addColumn('last_seq', 'bigint', (column) => column.notNull())
    .addColumn('at_ms', 'bigint', (column) => column.notNull())
    .addColumn('logged_at_ms', 'bigint', (column) => column.notNull())
    .addColumn('is_placed', 'integer', (column) => column.notNull())
    .addColumn('entries', 'text', (column) => column.notNull())
    .addColumn('bytes', 'bigint', (column) => column.notNull())
    .addPrimaryKeyConstraint('change_chunk_of_sheet', ['sheet_id', 'first_seq'])
    .execute()
  await db.schema.createIndex('change_chunk_by_age').on('change_chunk').column('logged_at_ms').execute()
}
