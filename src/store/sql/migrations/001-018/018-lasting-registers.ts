import { type Kysely, PostgresAdapter, sql } from 'kysely'

/** What instances count together at Google outlives a crash of PostgreSQL: nobody else knows it. */
export async function up(db: Kysely<unknown>): Promise<void> {
  if (db.getExecutor().adapter instanceof PostgresAdapter) {
    await sql`alter table shared_cell set logged`.execute(db)
  }
}
