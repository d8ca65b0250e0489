import type { Kysely } from 'kysely'

/** By it rows that are as they were are known again, without all that a log knows of them. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await db.schema.alterTable('change_log').addColumn('seen_hash', 'text').execute()
  await db.schema.alterTable('change_log').addColumn('seen_seq', 'bigint').execute()
}
