import type { Kysely } from 'kysely'

/** What was logged before cannot be found by the write that it is of, and not be undone. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await db.schema
    .createTable('change_operation')
    .addColumn('sheet_id', 'text', (column) => column.notNull().references('sheet.id'))
    .addColumn('operation_id', 'text', (column) => column.notNull())
    .addColumn('first_seq', 'bigint', (column) => column.notNull())
    .addPrimaryKeyConstraint('change_operation_of_sheet', ['sheet_id', 'operation_id', 'first_seq'])
    .execute()
  await db.schema
    .createIndex('change_operation_by_chunk')
    .on('change_operation')
    .columns(['sheet_id', 'first_seq'])
    .execute()
}
