import type { Kysely } from 'kysely'

/** What is too old is found without going through all that is kept. */
export async function up(db: Kysely<unknown>): Promise<void> {
  for (const table of ['usage_day', 'latency_day', 'provider_day']) {
    await db.schema.createIndex(`${table}_by_day`).on(table).columns(['day']).execute()
  }
}
