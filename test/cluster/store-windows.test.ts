import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, type TestContext } from 'node:test'
import { type Clock, createMovableClock } from '../../src/clock.ts'
import {
  fleetingWindowsContract,
  standInWindowsContract,
} from '../../src/shared-state/rate-windows/fleeting-windows.contract.ts'
import {
  type RateWindowsUnderTest,
  rateWindowsContract,
} from '../../src/shared-state/rate-windows/rate-windows.contract.ts'
import { passTime } from '../../src/store/leases/leases.contract.ts'
import { migrate } from '../../src/store/sql/migrate.ts'
import { openPostgres } from '../../src/store/sql/postgres/postgres-database.ts'
import type { SqlDatabase } from '../../src/store/sql/sql-database.ts'
import { createSqlStore } from '../../src/store/sql/sql-store.ts'
import { openSqlite } from '../../src/store/sql/sqlite/sqlite-database.ts'
import { findPostgres, startPostgres } from '../servers/postgres.ts'
import { createMemoryFleetingWindows, createMemoryStandInWindows } from './simulation/memory-windows.ts'

/** The windows that serve where there is no Redis, or while it is away. */

const skip = findPostgres() ? false : 'PostgreSQL is not on this machine'
let server: Awaited<ReturnType<typeof startPostgres>> | null = null

before(async () => {
  if (!skip) server = await startPostgres({ fsync: false })
})
after(() => server?.stop())

rateWindowsContract(
  "PostgreSQL's windows",
  (t) => windowsOn(t, () => openPostgres(server?.url ?? '', 4)),
  skip,
)

standInWindowsContract(
  "PostgreSQL's windows",
  (t) => standInsOn(t, () => openPostgres(server?.url ?? '', 4)),
  skip,
)

rateWindowsContract("SQLite's windows", async (t) => windowsOn(t, await freshSqlite(t)), false)

standInWindowsContract("SQLite's windows", async (t) => standInsOn(t, await freshSqlite(t)), false)

standInWindowsContract(
  "the simulation's windows",
  async () => {
    const clock = createMovableClock(Date.UTC(2026, 10, 15))
    const windows = createMemoryStandInWindows(clock)
    return { windows, nowMs: async () => clock.nowMs(), passMs: async (ms) => clock.advanceMs(ms) }
  },
  false,
)

fleetingWindowsContract(
  "the simulation's windows",
  async () => {
    const clock = createMovableClock(Date.UTC(2026, 10, 15))
    return { windows: createMemoryFleetingWindows(clock), passMs: async (ms) => clock.advanceMs(ms) }
  },
  false,
)

type OpenDatabase = (clock: Clock) => SqlDatabase

async function freshSqlite(t: TestContext): Promise<OpenDatabase> {
  const folder = await mkdtemp(join(tmpdir(), 'rowport-windows-'))
  t.after(() => rm(folder, { recursive: true, force: true }))
  return (clock) => openSqlite(join(folder, 'rowport.db'), clock)
}

async function windowsOn(t: TestContext, open: OpenDatabase): Promise<RateWindowsUnderTest> {
  const { store, ...rest } = await storeOn(t, open)
  return { windows: { takeFromWindow: store.takeWindow, readWindow: store.lookWindow }, ...rest }
}

async function standInsOn(t: TestContext, open: OpenDatabase) {
  const { store, ...rest } = await storeOn(t, open)
  const windows = {
    takeFromWindow: store.takeWindowBefore,
    takeFromOpen: store.takeFromOpenWindow,
    readWindow: store.lookWindow,
    countOfLast: store.countOfLastWindow,
  }
  return { windows, ...rest }
}

async function storeOn(t: TestContext, open: OpenDatabase) {
  const clock = createMovableClock(Date.UTC(2026, 10, 15))
  const database = open(clock)
  t.after(() => database.close())
  await migrate(database, 0, () => {})
  await database.kysely.deleteFrom('rate_window').execute()
  const store = createSqlStore(database, clock)
  return {
    store,
    nowMs: async () => (await store.lookWindow('nobody', 1, 1)).nowMs,
    passMs: (ms: number) => passTime(database, clock, ms),
  }
}
