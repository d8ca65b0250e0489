import type { Kysely } from 'kysely'

/** Nothing here refers to a sheet or a key: figures outlive both. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await db.schema
    .createTable('usage_day')
    .addColumn('account_id', 'text', (column) => column.notNull())
    .addColumn('day', 'text', (column) => column.notNull())
    .addColumn('sheet_id', 'text', (column) => column.notNull())
    .addColumn('key_id', 'text', (column) => column.notNull())
    .addColumn('outcome', 'text', (column) => column.notNull())
    .addColumn('rows_from', 'text', (column) => column.notNull())
    .addColumn('requests', 'bigint', (column) => column.notNull())
    .addPrimaryKeyConstraint('usage_day_of', [
      'account_id',
      'day',
      'sheet_id',
      'key_id',
      'outcome',
      'rows_from',
    ])
    .execute()

  await db.schema
    .createTable('latency_day')
    .addColumn('account_id', 'text', (column) => column.notNull())
    .addColumn('day', 'text', (column) => column.notNull())
    .addColumn('sheet_id', 'text', (column) => column.notNull())
    .addColumn('key_id', 'text', (column) => column.notNull())
    .addColumn('bucket', 'integer', (column) => column.notNull())
    .addColumn('requests', 'bigint', (column) => column.notNull())
    .addPrimaryKeyConstraint('latency_day_of', ['account_id', 'day', 'sheet_id', 'key_id', 'bucket'])
    .execute()

  await db.schema
    .createTable('provider_day')
    .addColumn('sheet_id', 'text', (column) => column.notNull())
    .addColumn('day', 'text', (column) => column.notNull())
    .addColumn('calls', 'bigint', (column) => column.notNull())
    .addPrimaryKeyConstraint('provider_day_of', ['sheet_id', 'day'])
    .execute()

  await db.schema
    .createTable('sheet_activity')
    .addColumn('sheet_id', 'text', (column) => column.primaryKey())
    .addColumn('first_request_at_ms', 'bigint')
    .addColumn('last_request_at_ms', 'bigint')
    .addColumn('failure_reason', 'text')
    .addColumn('health_at_ms', 'bigint')
    .execute()

  await db.schema
    .createTable('recent_request')
    .addColumn('id', 'text', (column) => column.primaryKey())
    .addColumn('sheet_id', 'text', (column) => column.notNull())
    .addColumn('key_id', 'text')
    .addColumn('at_ms', 'bigint', (column) => column.notNull())
    .addColumn('method', 'text', (column) => column.notNull())
    .addColumn('operation', 'text', (column) => column.notNull())
    .addColumn('status', 'integer', (column) => column.notNull())
    .addColumn('code', 'text')
    .addColumn('rows_from', 'text')
    .addColumn('duration_us', 'bigint', (column) => column.notNull())
    .execute()
  await db.schema
    .createIndex('recent_request_of_sheet')
    .on('recent_request')
    .columns(['sheet_id', 'id'])
    .execute()
}
