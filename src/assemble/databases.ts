import type { Clock } from '../clock.ts'
import type { StoreSetting } from '../config.ts'
import type { Observe } from '../reporting/observe.ts'
import { migrate } from '../store/sql/migrate.ts'
import type { SqlDatabase } from '../store/sql/sql-database.ts'
import { openSqlite } from '../store/sql/sqlite/sqlite-database.ts'

/** As many connections as keep a server of a few cores busy, beside the few for look-ups, which go together. */
const maxConnections = 10

/** The database, with every migration applied. */
export async function openDatabase(
  setting: StoreSetting,
  clock: Clock,
  observe: Observe,
): Promise<SqlDatabase> {
  const database =
    setting.kind === 'sqlite' ? openSqlite(setting.path, clock) : await openPostgres(setting.url)
  try {
    await migrate(database, clock.nowMs(), observe)
    return database
  } catch (error) {
    await database.close()
    throw error
  }
}

// What the embedded default has no use for is not loaded there.
async function openPostgres(url: string): Promise<SqlDatabase> {
  const postgres = await import('../store/sql/postgres/postgres-database.ts')
  return postgres.openPostgres(url, maxConnections)
}
