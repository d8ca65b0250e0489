import { type Kysely, PostgresAdapter, sql } from 'kysely'

export async function up(db: Kysely<unknown>): Promise<void> {
  await db.schema
    .createTable('shared_cell')
    .addColumn('name', 'text', (column) => column.primaryKey())
    .addColumn('version', 'text', (column) => column.notNull())
    .addColumn('text', 'text', (column) => column.notNull())
    .addColumn('ends_at_ms', 'bigint', (column) => column.notNull())
    .execute()
  // It matters for a few minutes, and the instances bring back what is lost: not worth a flush for each change.
  if (db.getExecutor().adapter instanceof PostgresAdapter) {
    await sql`alter table shared_cell set unlogged`.execute(db)
  }
}
