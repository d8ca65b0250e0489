import type { Kysely } from 'kysely'

/** Only the query builder's own words, no import of ours: a migration must mean the same in ten years. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await db.schema
    .createTable('account')
    .addColumn('id', 'text', (column) => column.primaryKey())
    .addColumn('slug', 'text', (column) => column.notNull().unique())
    .addColumn('plan', 'text', (column) => column.notNull())
    .addColumn('requests_per_minute', 'integer')
    .addColumn('requests_per_month', 'bigint')
    .addColumn('created_at_ms', 'bigint', (column) => column.notNull())
    .execute()

  await db.schema
    .createTable('sheet')
    .addColumn('id', 'text', (column) => column.primaryKey())
    .addColumn('account_id', 'text', (column) => column.notNull().references('account.id'))
    .addColumn('slug', 'text', (column) => column.notNull())
    .addColumn('provider', 'text', (column) => column.notNull())
    .addColumn('source', 'text', (column) => column.notNull())
    .addColumn('location', 'text', (column) => column.notNull())
    .addColumn('paused', 'integer', (column) => column.notNull().defaultTo(0))
    .addColumn('access', 'text', (column) => column.notNull().defaultTo('private'))
    .addColumn('accepts', 'text', (column) => column.notNull().defaultTo('both'))
    .addColumn('cache_seconds', 'integer', (column) => column.notNull().defaultTo(10))
    .addColumn('stale_if_error_seconds', 'integer', (column) => column.notNull().defaultTo(0))
    .addColumn('unknown_fields', 'text', (column) => column.notNull().defaultTo('reject'))
    .addColumn('write_seq', 'bigint', (column) => column.notNull().defaultTo(0))
    .addColumn('created_at_ms', 'bigint', (column) => column.notNull())
    .addUniqueConstraint('sheet_slug_within_account', ['account_id', 'slug'])
    .execute()
  await db.schema.createIndex('sheet_by_source').on('sheet').column('source').execute()

  await db.schema
    .createTable('api_key')
    .addColumn('id', 'text', (column) => column.primaryKey())
    .addColumn('hash', 'text', (column) => column.notNull().unique())
    .addColumn('account_id', 'text', (column) => column.notNull().references('account.id'))
    .addColumn('sheet_id', 'text', (column) => column.references('sheet.id'))
    .addColumn('name', 'text', (column) => column.notNull())
    .addColumn('mode', 'text', (column) => column.notNull())
    .addColumn('scope', 'text', (column) => column.notNull())
    .addColumn('shown_start', 'text', (column) => column.notNull())
    .addColumn('shown_end', 'text', (column) => column.notNull())
    .addColumn('created_at_ms', 'bigint', (column) => column.notNull())
    .addColumn('revoked_at_ms', 'bigint')
    .execute()
  await db.schema.createIndex('api_key_by_account').on('api_key').column('account_id').execute()
}
