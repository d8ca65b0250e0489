import type { Kysely } from 'kysely'

export async function up(db: Kysely<unknown>): Promise<void> {
  await db.schema
    .createTable('provider_proof')
    .addColumn('service', 'text', (column) => column.notNull())
    .addColumn('assumption', 'text', (column) => column.notNull())
    .addColumn('holds', 'integer', (column) => column.notNull())
    .addColumn('saw', 'text', (column) => column.notNull())
    .addColumn('tried_at_ms', 'bigint', (column) => column.notNull())
    .addPrimaryKeyConstraint('provider_proof_key', ['service', 'assumption'])
    .execute()
}
