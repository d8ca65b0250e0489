import type { Kysely } from 'kysely'

/** By which column rows are named, and whether new ones get a name of their own. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await db.schema.alterTable('sheet').addColumn('key_column', 'text').execute()
  await db.schema
    .alterTable('sheet')
    .addColumn('auto_key', 'text', (column) => column.notNull().defaultTo('none'))
    .execute()
}
