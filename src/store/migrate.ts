import type { Kysely } from 'kysely'
import type { Observe } from '../observe.ts'
import { up as accountsSheetsKeys } from './migrations/001-accounts-sheets-keys.ts'
import { up as usage } from './migrations/002-usage.ts'
import type { SqlDatabase } from './sql-database.ts'

interface Migration {
  number: number
  name: string
  up(db: Kysely<unknown>): Promise<void>
}

/** In order, each run once. A landed migration is never edited: what it got wrong, the next one mends. */
const migrations: readonly Migration[] = [
  { number: 1, name: 'accounts-sheets-keys', up: accountsSheetsKeys },
  { number: 2, name: 'usage', up: usage },
]

/**
 * Brings the store to the newest number. Any number of processes may start at once: the lock lets one through, and
 * the others find nothing left to do. Either all that was missing is applied or nothing is.
 */
export async function migrate(database: SqlDatabase, nowMs: number, observe: Observe): Promise<void> {
  const applied = await database.inMigrationLock(async (transaction) => {
    await transaction.schema
      .createTable('migration')
      .ifNotExists()
      .addColumn('number', 'integer', (column) => column.primaryKey())
      .addColumn('name', 'text', (column) => column.notNull())
      .addColumn('applied_at_ms', 'bigint', (column) => column.notNull())
      .execute()
    const done = await transaction.selectFrom('migration').select('number').execute()
    const newest = Math.max(0, ...done.map((row) => row.number))
    const known = migrations.at(-1)?.number ?? 0
    if (newest > known) {
      throw new Error(`The store was made by a newer Rowport (migration ${newest}; this one knows ${known}).`)
    }
    const missing = migrations.filter((migration) => migration.number > newest)
    for (const { number, name, up } of missing) {
      await up(transaction as unknown as Kysely<unknown>)
      await transaction.insertInto('migration').values({ number, name, applied_at_ms: nowMs }).execute()
    }
    return missing
  })
  for (const { number, name } of applied) observe({ event: 'migration_applied', number, name })
}
