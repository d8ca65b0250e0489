import type { Kysely } from 'kysely'

export async function up(db: Kysely<unknown>): Promise<void> {
  for (const column of ['captcha_sealed_secret', 'captcha_key_id'])
    await db.schema.alterTable('form').addColumn(column, 'text').execute()
}
