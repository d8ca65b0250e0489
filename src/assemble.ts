import { createAdmission } from './admission/admit.ts'
import { createIpGuard } from './admission/ip-guard.ts'
import { createKeyUse } from './admission/key-use.ts'
import { defaultPlans, type Plans } from './admission/plans.ts'
import { createQuota } from './admission/quota.ts'
import { trustProxies } from './api/client-address.ts'
import { createApi } from './api/door.ts'
import type { Clock } from './clock.ts'
import type { Config } from './config.ts'
import { createWelcome } from './dashboard/welcome.ts'
import { type Accounts, createAccounts } from './management/accounts.ts'
import { createKeys, type Keys } from './management/keys.ts'
import { createSheets, type Sheets } from './management/sheets.ts'
import { createMetrics } from './metrics.ts'
import { type Observe, observeAll } from './observe.ts'
import { type Drain, listen, type RunningServer, type TimeLimits } from './server.ts'
import { createMemoryRateWindows } from './shared-state/memory-rate-windows.ts'
import { createDecoding, type Decoding } from './sheets/decoding.ts'
import { createFileProvider } from './sheets/file/file-provider.ts'
import type { Provider } from './sheets/provider.ts'
import { createReading } from './sheets/reading.ts'
import { createWriting } from './sheets/writing.ts'
import { migrate } from './store/migrate.ts'
import { createSqlStore } from './store/sql-store.ts'
import { openSqlite } from './store/sqlite/sqlite-database.ts'
import type { Store } from './store/store.ts'

/**
 * The only file that names adapters. It comes in two sizes: what every command needs to change things, and the
 * server on top of it.
 */
export interface Workshop {
  store: Store
  plans: Plans
  accounts: Accounts
  sheets: Sheets
  keys: Keys
  providers: ReadonlyMap<string, Provider>
  decoding: Decoding
  close(): Promise<void>
}

export async function openWorkshop(config: Config, clock: Clock, observe: Observe): Promise<Workshop> {
  const database = openSqlite(config.store.path)
  await migrate(database, clock.nowMs(), observe)
  const store = createSqlStore(database, clock)
  const plans: Plans = new Map([...defaultPlans, ...Object.entries(config.plans)])
  const accounts = createAccounts(store, plans)
  const sheets = createSheets(store, accounts)
  const keys = createKeys(store, accounts, sheets)
  const providers = new Map([['file', createFileProvider()]])
  const decoding = createDecoding(observe)
  return {
    store,
    plans,
    accounts,
    sheets,
    keys,
    providers,
    decoding,
    async close() {
      await decoding.close()
      await store.close()
    },
  }
}

export async function startServer(
  config: Config,
  workshop: Workshop,
  clock: Clock,
  log: Observe,
  timeLimits: Partial<TimeLimits> = {},
): Promise<RunningServer> {
  const { store, plans, providers, decoding } = workshop
  const metrics = createMetrics()
  const observe = observeAll([log, metrics.observe])
  const maxHeldBytes = config.maxSnapshotBytes
  const reading = createReading({ store, providers, decoding, clock, observe, maxHeldBytes })
  const writing = createWriting({ store, providers, reading, clock, observe })
  const windows = createMemoryRateWindows(clock)
  const quota = createQuota(store, clock)
  const keyUse = createKeyUse(store, clock)
  const admission = createAdmission({ store, plans, windows, quota, keyUse, clock })
  const ipGuard = createIpGuard(windows, config.refusalsPerMinute)
  const trustedProxies = trustProxies(config.trustedProxies)
  const drain: Drain = { isDraining: false }
  const isDraining = () => drain.isDraining
  const api = createApi({ admission, ipGuard, trustedProxies, reading, writing, clock, observe, isDraining })
  const isStoreReachable = () =>
    store.ping().then(
      () => true,
      () => false,
    )
  const dashboard = createWelcome(config.baseUrl)
  const server = await listen(
    { api, dashboard, metrics, observe, isStoreReachable, drain },
    config,
    timeLimits,
  )
  return {
    port: server.port,
    async close(drainMs) {
      const ended = await server.close(drainMs)
      await quota.close()
      await keyUse.close()
      return ended
    },
  }
}
