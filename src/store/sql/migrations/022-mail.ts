import { type Kysely, sql } from 'kysely'

/** Mails that wait to be sent, links in them, and what an owner has been told already. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await db.schema
    .createTable('mail')
    .addColumn('id', 'text', (column) => column.primaryKey())
    .addColumn('account_id', 'text', (column) => column.notNull().references('account.id'))
    .addColumn('sealed', 'text', (column) => column.notNull())
    .addColumn('key_id', 'text', (column) => column.notNull())
    .addColumn('attempts', 'integer', (column) => column.notNull().defaultTo(0))
    .addColumn('due_at_ms', 'bigint', (column) => column.notNull())
    .addColumn('over_at_ms', 'bigint', (column) => column.notNull())
    .execute()
  await db.schema.createIndex('mail_by_time').on('mail').column('due_at_ms').execute()
  await db.schema.createIndex('mail_by_account').on('mail').column('account_id').execute()

  await db.schema
    .createTable('mail_link')
    .addColumn('hash', 'text', (column) => column.primaryKey())
    .addColumn('account_id', 'text', (column) => column.notNull().references('account.id'))
    .addColumn('kind', 'text', (column) => column.notNull())
    .addColumn('email', 'text', (column) => column.notNull())
    .addColumn('expires_at_ms', 'bigint', (column) => column.notNull())
    .execute()
  await db.schema.createIndex('mail_link_by_account').on('mail_link').column('account_id').execute()

  await db.schema.alterTable('owner').addColumn('email_verified_at_ms', 'bigint').execute()
  await db.schema
    .alterTable('owner')
    .addColumn('alerts', 'integer', (column) => column.notNull().defaultTo(1))
    .execute()

  await db.schema.alterTable('credential').addColumn('told_version', 'integer').execute()
  await db.schema
    .alterTable('sheet_activity')
    .addColumn('told_broken', 'integer', (column) => column.notNull().defaultTo(0))
    .execute()
  await db.schema.alterTable('sheet_activity').addColumn('told_at_ms', 'bigint').execute()
  for (const table of ['usage', 'public_usage']) {
    await db.schema
      .alterTable(table)
      .addColumn('told_percent', 'integer', (column) => column.notNull().defaultTo(0))
      .execute()
  }
  // Few sheets are broken at any time, and the others need not be looked through every few seconds.
  await sql`create index sheet_activity_to_tell on sheet_activity (sheet_id)
    where failure_reason is not null or told_broken = 1`.execute(db)
}
