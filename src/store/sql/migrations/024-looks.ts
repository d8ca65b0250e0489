import type { Kysely } from 'kysely'

/** How often Rowport looks at a sheet by itself, who follows it, and when somebody last looked for them. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await db.schema
    .alterTable('sheet')
    .addColumn('watch_seconds', 'integer', (column) => column.notNull().defaultTo(0))
    .execute()
  await db.schema
    .createTable('sheet_look')
    .addColumn('sheet_id', 'text', (column) => column.primaryKey().references('sheet.id'))
    .addColumn('followed_until_ms', 'bigint', (column) => column.notNull())
    .addColumn('looked_at_ms', 'bigint', (column) => column.notNull())
    .execute()
}
