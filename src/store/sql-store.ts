import type { Clock } from '../clock.ts'
import { createAccessTokenQueries } from './access-token-queries.ts'
import { createAccountQueries } from './account-queries.ts'
import { createCellQueries } from './cell-queries.ts'
import { createCredentialQueries } from './credential-queries.ts'
import { newInstanceId } from './instance-id.ts'
import { createKeyQueries } from './key-queries.ts'
import { createLeaseQueries } from './lease-queries.ts'
import { createLookUps } from './look-ups.ts'
import { createOperationQueries } from './operation-queries.ts'
import { createOwnerQueries } from './owner-queries.ts'
import { createSessionQueries } from './session-queries.ts'
import { createSheetQueries } from './sheet-queries.ts'
import type { SqlDatabase } from './sql-database.ts'
import type { Store } from './store.ts'
import { createUsageFigureQueries } from './usage-figure-queries.ts'
import { createUsageQueries } from './usage-queries.ts'
import { createWindowQueries } from './window-queries.ts'

/** The store over any SQL engine: all it asks of one is in `SqlDatabase`. */
export function createSqlStore(database: SqlDatabase, clock: Clock): Store {
  const instanceId = newInstanceId()
  return {
    ...createLookUps(database),
    ...createAccountQueries(database, clock),
    ...createSheetQueries(database, clock),
    ...createKeyQueries(database, clock),
    ...createUsageQueries(database),
    ...createCredentialQueries(database, clock),
    ...createSessionQueries(database),
    ...createOwnerQueries(database, clock),
    ...createUsageFigureQueries(database),
    ...createOperationQueries(database, instanceId),
    ...createAccessTokenQueries(database),
    ...createLeaseQueries(database, instanceId),
    ...createWindowQueries(database),
    ...createCellQueries(database),
    async ping() {
      await database.kysely.selectFrom('migration').select('number').limit(1).execute()
      await database.checkWritable()
    },
    close: () => database.close(),
  }
}
