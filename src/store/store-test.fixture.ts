import type { MovableClock } from '../clock.ts'
import type { SqlDatabase } from './sql/sql-database.ts'
import type { Store } from './store.ts'

/** Each check has a store and a clock of its own. */
export type StoreTest = (
  title: string,
  check: (store: Store, clock: MovableClock, database: SqlDatabase) => Promise<void>,
) => void
