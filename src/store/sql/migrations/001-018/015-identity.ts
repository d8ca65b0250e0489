import type { Kysely } from 'kysely'

export async function up(db: Kysely<unknown>): Promise<void> {
  // Without a reference: an address stays out of reach also when its account is gone.
  await db.schema
    .createTable('former_slug')
    .addColumn('slug', 'text', (column) => column.primaryKey())
    .addColumn('account_id', 'text')
    .addColumn('free_at_ms', 'bigint', (column) => column.notNull())
    .execute()
  await db.schema.createIndex('former_slug_by_account').on('former_slug').column('account_id').execute()

  await db.schema.alterTable('api_key').addColumn('session_hash', 'text').execute()
  await db.schema.createIndex('api_key_by_session').on('api_key').column('session_hash').execute()

  // An attempt to sign in with Google is sealed in the browser's cookie: strangers made rows here.
  await db.schema.dropTable('sign_in_attempt').execute()
}
