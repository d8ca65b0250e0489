import type { Kysely } from 'kysely'

/** Whoever deletes what others refer to looks for them: without an index in all that every account has. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await db.schema.createIndex('operation_by_sheet').on('operation').columns(['sheet_id', 'id']).execute()
  await db.schema.createIndex('api_key_by_sheet').on('api_key').column('sheet_id').execute()
  await db.schema.createIndex('sheet_by_credential').on('sheet').column('credential_id').execute()
  await db.schema.createIndex('sign_in_link_by_account').on('sign_in_link').column('account_id').execute()
  await db.schema
    .createIndex('connect_attempt_by_account')
    .on('connect_attempt')
    .column('account_id')
    .execute()
}
