import type { Kysely } from 'kysely'

export async function up(db: Kysely<unknown>): Promise<void> {
  await db.schema
    .createTable('lease')
    .addColumn('name', 'text', (column) => column.primaryKey())
    .addColumn('holder', 'text', (column) => column.notNull())
    .addColumn('fence', 'bigint', (column) => column.notNull())
    .addColumn('expires_at_ms', 'bigint', (column) => column.notNull())
    .addColumn('wanted_by', 'text')
    .addColumn('wanted_until_ms', 'bigint', (column) => column.notNull())
    .execute()

  // null: recorded before instances had names, by a process that is gone.
  await db.schema.alterTable('operation').addColumn('instance_id', 'text').execute()
  await db.schema.createIndex('operation_by_source').on('operation').columns(['source', 'state']).execute()
}
