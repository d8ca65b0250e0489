import { type Kysely, PostgresAdapter, sql } from 'kysely'

export async function up(db: Kysely<unknown>): Promise<void> {
  await db.schema
    .createTable('rate_window')
    .addColumn('name', 'text', (column) => column.primaryKey())
    .addColumn('count', 'bigint', (column) => column.notNull())
    // By the last statement: it cannot tell what the count was before.
    .addColumn('granted', 'bigint', (column) => column.notNull())
    .addColumn('ends_at_ms', 'bigint', (column) => column.notNull())
    .execute()
  // A window lives for a minute: it is not worth a flush to disk for each request, nor a place in a back-up.
  if (db.getExecutor().adapter instanceof PostgresAdapter) {
    await sql`alter table rate_window set unlogged`.execute(db)
  }
}
