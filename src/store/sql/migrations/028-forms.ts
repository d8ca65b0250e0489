import type { Kysely } from 'kysely'

export async function up(db: Kysely<unknown>): Promise<void> {
  await db.schema
    .createTable('form')
    .addColumn('id', 'text', (column) => column.primaryKey())
    .addColumn('account_id', 'text', (column) => column.notNull().references('account.id'))
    .addColumn('sheet_id', 'text', (column) => column.notNull().references('sheet.id'))
    .addColumn('name', 'text', (column) => column.notNull())
    .addColumn('settings', 'text', (column) => column.notNull())
    .addColumn('is_open', 'integer', (column) => column.notNull().defaultTo(1))
    .addColumn('created_at_ms', 'bigint', (column) => column.notNull())
    .execute()
  await db.schema.createIndex('form_by_account').on('form').column('account_id').execute()
  await db.schema.createIndex('form_by_sheet').on('form').column('sheet_id').execute()
  await db.schema
    .createTable('form_entry')
    .addColumn('id', 'text', (column) => column.primaryKey())
    .addColumn('form_id', 'text', (column) => column.notNull().references('form.id'))
    .addColumn('reason', 'text', (column) => column.notNull())
    .addColumn('row', 'text', (column) => column.notNull())
    .addColumn('is_released', 'integer', (column) => column.notNull().defaultTo(0))
    .addColumn('received_at_ms', 'bigint', (column) => column.notNull())
    .execute()
  await db.schema.createIndex('form_entry_by_form').on('form_entry').column('form_id').execute()
}
