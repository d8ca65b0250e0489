import type { Kysely } from 'kysely'

/** A publishable key has a policy, and its value is kept: it stands in pages for everyone to see. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await db.schema.alterTable('api_key').addColumn('policy', 'text').execute()
  await db.schema.alterTable('api_key').addColumn('public_value', 'text').execute()
}
