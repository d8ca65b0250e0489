import type { Kysely } from 'kysely'

/**
 * Long changes stood in the row of their chunk, and SQLite wrote all of them in one commit, on the thread that answers everybody. Whoever
 * still runs the version before fails loudly at a chunk whose text is elsewhere: its entries are no JSON.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  await db.schema
    .createTable('change_text')
    .addColumn('sheet_id', 'text', (column) => column.notNull().references('sheet.id'))
    .addColumn('text_id', 'text', (column) => column.notNull())
    .addColumn('nth', 'integer', (column) => column.notNull())
    .addColumn('at', 'integer', (column) => column.notNull())
    .addColumn('made_at_ms', 'bigint', (column) => column.notNull())
    .addColumn('piece', 'text', (column) => column.notNull())
    .addPrimaryKeyConstraint('change_text_of_sheet', ['sheet_id', 'text_id', 'nth', 'at'])
    .execute()
  await db.schema.alterTable('change_chunk').addColumn('text_id', 'text').execute()
  await db.schema.alterTable('change_chunk').addColumn('text_nth', 'integer').execute()
  await db.schema.alterTable('change_chunk').addColumn('text_bytes', 'bigint').execute()
  await db.schema
    .createTable('unnamed_text')
    .addColumn('sheet_id', 'text', (column) => column.notNull().references('sheet.id'))
    .addColumn('text_id', 'text', (column) => column.notNull())
    .addColumn('nth', 'integer', (column) => column.notNull())
    .addColumn('since_ms', 'bigint', (column) => column.notNull())
    .addPrimaryKeyConstraint('unnamed_text_of_sheet', ['sheet_id', 'text_id', 'nth'])
    .execute()
}
