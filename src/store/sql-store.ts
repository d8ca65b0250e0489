import type { Clock } from '../clock.ts'
import { createAccountQueries } from './account-queries.ts'
import { createKeyQueries } from './key-queries.ts'
import { createLookUps } from './look-ups.ts'
import { createSheetQueries } from './sheet-queries.ts'
import type { SqlDatabase } from './sql-database.ts'
import type { Store } from './store.ts'
import { createUsageQueries } from './usage-queries.ts'

/** The store over any SQL engine: all it asks of one is in `SqlDatabase`. */
export function createSqlStore(database: SqlDatabase, clock: Clock): Store {
  return {
    ...createLookUps(database),
    ...createAccountQueries(database, clock),
    ...createSheetQueries(database, clock),
    ...createKeyQueries(database, clock),
    ...createUsageQueries(database),
    async ping() {
      await database.kysely.selectFrom('migration').select('number').limit(1).execute()
    },
    close: () => database.close(),
  }
}
