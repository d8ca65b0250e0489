import { type Kysely, sql } from 'kysely'

/**
 * The rows that a log knows stood in its own row, and SQLite read all of them whenever anything behind them was asked for. Whoever
 * still runs the version before fails loudly without the column: to find an old state there would be to tell wrong changes.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  await db.schema
    .createTable('change_state')
    .addColumn('sheet_id', 'text', (column) => column.notNull().references('sheet.id'))
    .addColumn('state_id', 'text', (column) => column.notNull())
    .addColumn('nth', 'integer', (column) => column.notNull())
    .addColumn('made_at_ms', 'bigint', (column) => column.notNull())
    .addColumn('piece', 'text', (column) => column.notNull())
    .addPrimaryKeyConstraint('change_state_of_sheet', ['sheet_id', 'state_id', 'nth'])
    .execute()
  await db.schema.alterTable('change_log').addColumn('state_id', 'text').execute()
  await db.schema
    .alterTable('change_log')
    .addColumn('state_bytes', 'bigint', (column) => column.notNull().defaultTo(0))
    .execute()
  await sql`insert into change_state (sheet_id, state_id, nth, made_at_ms, piece)
    select sheet_id, 'first', 0, 0, state from change_log where state is not null`.execute(db)
  await sql`update change_log set state_id = 'first', state_bytes = length(state) where state is not null`.execute(
    db,
  )
  await db.schema.alterTable('change_log').dropColumn('state').execute()
}
