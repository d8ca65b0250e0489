import { join } from 'node:path'
import { createAdmission } from '../admission/admit.ts'
import { createIpGuard } from '../admission/ip-guard.ts'
import { createKeyUse } from '../admission/key-use.ts'
import { defaultPlans, type Plans } from '../admission/plans.ts'
import { createQuota } from '../admission/quota.ts'
import { createApi } from '../api/door.ts'
import type { Clock } from '../clock.ts'
import type { Config, StoreSetting } from '../config.ts'
import { StoreFailure, StoreUnwritable } from '../errors.ts'
import { trustProxies } from '../http/client-address.ts'
import { createCompression } from '../http/compression.ts'
import { createUnreadAnswers } from '../http/unread-answers.ts'
import { createAccounts } from '../management/accounts/accounts.ts'
import { createBySlug } from '../management/accounts/by-slug.ts'
import { createConnections } from '../management/connections/connections.ts'
import { createOwnerConnection } from '../management/connections/owner-connection.ts'
import { startResealing } from '../management/connections/resealing.ts'
import { createKeys } from '../management/keys/keys.ts'
import { createSignIn } from '../management/people/sign-in.ts'
import { Problem } from '../management/problem.ts'
import { createConnecting } from '../management/sheets/connecting.ts'
import { createSheets } from '../management/sheets/sheets.ts'
import { createUploadRoom } from '../management/uploads/upload-room.ts'
import { createUploads } from '../management/uploads/uploads.ts'
import { postgresProblem } from '../plain-words.ts'
import { createSharedTokens } from '../providers/remote/shared-tokens.ts'
import { createMetrics, type Metrics } from '../reporting/metrics.ts'
import { type Observe, observeAll } from '../reporting/observe.ts'
import { secretOf } from '../secrets/kept-secret.ts'
import { closeToOthers } from '../secrets/private-data.ts'
import { createSealing, type Sealing } from '../secrets/sealing.ts'
import type { StoreProblem } from '../server/router.ts'
import { listen, type RunningServer, type TimeLimits } from '../server/server.ts'
import type { Drain } from '../server/wire.ts'
import { createFallOver, longestPatienceMs } from '../shared-state/fall-over.ts'
import { createFallingOverWindows } from '../shared-state/rate-windows/falling-over-windows.ts'
import { createLossRecord } from '../shared-state/rate-windows/loss-record.ts'
import { createMemoryRateWindows } from '../shared-state/rate-windows/memory-rate-windows.ts'
import type { RateWindows } from '../shared-state/rate-windows/rate-windows.ts'
import { createLazyRedis, type LazyRedis } from '../shared-state/redis/lazy-redis.ts'
import { createRedisRateWindows } from '../shared-state/redis/redis-rate-windows.ts'
import { createRedisRegisters } from '../shared-state/redis/redis-registers.ts'
import { createRedisSharedSnapshots } from '../shared-state/redis/redis-shared-snapshots.ts'
import { createFallingOverRegisters } from '../shared-state/registers/falling-over-registers.ts'
import { createRegisterValue } from '../shared-state/registers/register-value.ts'
import type { SharedRegisters } from '../shared-state/registers/shared-registers.ts'
import type { ShareValue } from '../shared-state/registers/shared-value.ts'
import { createLoopTurns } from '../shares/loop-turns.ts'
import type { Provider } from '../sheets/provider.ts'
import { createProviderKinds } from '../sheets/provider-kind.ts'
import { createDecoding } from '../sheets/reading/decoding.ts'
import { createReading } from '../sheets/reading/reading.ts'
import { createSnapshotSharing } from '../sheets/reading/snapshot-sharing.ts'
import { createQuerying } from '../sheets/rows/query/querying.ts'
import { createWriting } from '../sheets/writing/writing.ts'
import { beginInstanceLife } from '../store/leases/instance-life.ts'
import { type CopiedTable, type CopyRefusal, copyStore } from '../store/sql/copy-store.ts'
import { migrate } from '../store/sql/migrate.ts'
import type { SqlDatabase } from '../store/sql/sql-database.ts'
import { createSqlStore } from '../store/sql/sql-store.ts'
import { openSqlite } from '../store/sql/sqlite/sqlite-database.ts'
import type { Store } from '../store/store.ts'
import { createUsage } from '../usage/usage.ts'
import { assembleDashboard } from './dashboard-assembly.ts'
import { createHomes, type Home, type HomeParts } from './homes.ts'
import type { SharedState, Workshop } from './workshop.ts'

/** `createMore`: builds providers beside those of the table. */
export async function openWorkshop(
  config: Config,
  clock: Clock,
  log: Observe,
  createMore: (parts: HomeParts) => readonly Home[] = () => [],
): Promise<Workshop> {
  const metrics = createMetrics()
  const observe = observeAll([log, metrics.observe])
  if (config.store.kind === 'sqlite') {
    const left = await closeToOthers(config.dataFolder)
    if (left.length > 0) observe({ event: 'data_open_to_others', entries: left.length })
  }
  const database = await openDatabase(config.store, clock, observe)
  try {
    const sealing = createSealing(await secretOf(config), config.formerSecrets, config.nextSecret)
    return buildWorkshop({ config, clock, observe, metrics, database, sealing, createMore })
  } catch (error) {
    await database.close()
    throw error
  }
}

interface BareWorkshop {
  config: Config
  clock: Clock
  observe: Observe
  metrics: Metrics
  database: SqlDatabase
  sealing: Sealing
  createMore(parts: HomeParts): readonly Home[]
}

function buildWorkshop(bare: BareWorkshop): Workshop {
  const { config, clock, observe, metrics, database, sealing } = bare
  const store = createSqlStore(database, clock)
  const plans: Plans = new Map([...defaultPlans, ...Object.entries(config.plans)])
  const accounts = createAccounts(store, plans)
  const { shares } = config
  const signIn = createSignIn(store, accounts, clock, shares.sessions)
  const sharedTokens = createSharedTokens({ store, sealing })
  const shared = createSharedState(config, store, clock, observe)
  const uploadFolder = join(config.dataFolder, 'files')
  // Files lie on one machine: where several serve, the others would not find them.
  const isEmbedded = config.store.kind === 'sqlite'
  const room = isEmbedded ? createUploadRoom(uploadFolder, config.shares, observe) : null
  const homeParts = { config, store, sealing, clock, observe, sharedTokens, share: shared.share, room }
  const homes = [...Object.values(createHomes(homeParts)), ...bare.createMore(homeParts)]
  const providers: ReadonlyMap<string, Provider> = new Map(
    homes.map(({ kind, provider }) => [kind.id, provider]),
  )
  const kinds = createProviderKinds(homes.map(({ kind }) => kind))
  const sheets = createSheets({ store, kinds, shares, observe })
  const keys = createKeys(store, sheets)
  const decoding = createDecoding({ observe, clock, shares })
  const connecting = createConnecting({ sheets, providers, kinds, decoding })
  const ofOwner = { sheets, keys, connecting }
  const baseUrl = () => workshop.baseUrl
  const connections = createConnections(
    homes.flatMap(({ connection }) =>
      connection ? [createOwnerConnection({ store, sealing, connection, baseUrl })] : [],
    ),
  )
  const workshop: Workshop = {
    observe,
    metrics,
    store,
    plans,
    accounts,
    ...createBySlug(accounts, ofOwner),
    ofOwner,
    signIn,
    uploads: room && createUploads({ folder: uploadFolder, room, decoding, store, connecting, observe }),
    kinds,
    connections,
    sealing,
    shared,
    baseUrl: config.baseUrl,
    providers,
    decoding,
    async copyStoreTo(url) {
      if (config.store.kind !== 'sqlite') return new Problem('The store is on PostgreSQL already.')
      try {
        const target = await openDatabase({ kind: 'postgres', url }, clock, observe)
        const outcome = await copyStore(database, target, clock).finally(() => target.close())
        return inWords(outcome)
      } catch (error) {
        if (!(error instanceof StoreFailure)) throw error
        return new Problem(postgresProblem(url, error))
      }
    },
    async close() {
      for (const home of homes) await home.close()
      await decoding.close()
      await shared.close()
      await store.close()
    },
  }
  return workshop
}

const mebibyte = 1024 * 1024

/** With as many connections as keep a server of a few cores busy; look-ups go together, so few are needed. */
const maxConnections = 10

/** Brought to the newest make. */
async function openDatabase(setting: StoreSetting, clock: Clock, observe: Observe): Promise<SqlDatabase> {
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

function redisAt(url: string, observe: Observe, answerWithinMs?: number): LazyRedis {
  return createLazyRedis(async () => {
    const redis = await import('../shared-state/redis/redis.ts')
    return redis.connectRedis(url, observe, answerWithinMs)
  })
}

function inWords(outcome: CopiedTable[] | CopyRefusal): CopiedTable[] | Problem {
  if (Array.isArray(outcome)) return outcome
  if ('inUse' in outcome) return new Problem('A server is running on this store; stop it first.')
  if ('notEmpty' in outcome) {
    return new Problem(`The PostgreSQL database is not empty (${outcome.notEmpty}); name an empty one.`)
  }
  return new Problem(`What arrived in ${outcome.differs} is not what was sent; nothing was kept.`)
}

/** Networks that are counted in memory: about ten megabytes at most, however many addresses somebody has. */
const mostStrangers = 50_000

export interface ServingInstance extends RunningServer {
  /** Says in /readyz that the end is near, and goes on as before: whoever shares requests out looks elsewhere. */
  announceEnd(): void
}

export async function startServer(
  config: Config,
  workshop: Workshop,
  clock: Clock,
  timeLimits: Partial<TimeLimits> = {},
): Promise<ServingInstance> {
  const { store, plans, providers, decoding } = workshop
  await store.endDeadNeighbours()
  const life = await beginInstanceLife(store, workshop.observe)
  const { metrics } = workshop
  const turns = createLoopTurns(clock)
  const usage = createUsage({ store, clock, turns })
  const observe = observeAll([workshop.observe, usage.observe])
  const { windows } = workshop.shared
  // Rows by the megabyte have a connection of their own: nobody's count waits behind them.
  const redisForRows = config.redisUrl === null ? null : redisAt(config.redisUrl, () => {})
  const maxHeldBytes = config.maxSnapshotBytes
  const { shares } = config
  const sharing = redisForRows && createSnapshotSharing(createRedisSharedSnapshots(redisForRows))
  const reading = createReading({ store, providers, decoding, clock, observe, maxHeldBytes, shares, sharing })
  const maxKeptBytes = shares.journal_mb * mebibyte
  const writing = createWriting({ store, providers, reading, clock, observe, maxKeptBytes })
  const quota = createQuota(store, clock)
  const keyUse = createKeyUse({ store, clock, turns })
  const publicQuota = createQuota(
    { chargeAhead: store.chargePublicAhead, refundCharge: store.refundPublicCharge },
    clock,
  )
  const isAlone = config.redisUrl === null && config.store.kind === 'sqlite'
  const publicReaders = {
    windows: isAlone ? createMemoryRateWindows(clock, mostStrangers) : windows,
    requestsPerMinute: config.shares.public_requests_per_minute,
    quota: publicQuota,
  }
  const admission = createAdmission({ store, plans, windows, quota, keyUse, publicReaders, observe })
  // Strangers are counted by each instance for itself: to count them must not cost a question to anyone else.
  const ipGuard = createIpGuard(createMemoryRateWindows(clock, mostStrangers), config.refusalsPerMinute)
  const trustedProxies = trustProxies(config.trustedProxies)
  const drain: Drain = { isDraining: false }
  const isDraining = () => drain.isDraining
  const querying = createQuerying({ shares, turns, clock, observe })
  const compression = createCompression({ shares, clock, observe })
  const apiParts = { admission, reading, writing, querying, compression, turns, clock, observe }
  const unread = createUnreadAnswers(
    {
      maxBytes: (maxHeldBytes * shares.unread_percent) / 100,
      maxTotalBytes: (maxHeldBytes * shares.unread_total_percent) / 100,
    },
    observe,
  )
  const api = createApi({ ...apiParts, ipGuard, trustedProxies, unread, isDraining })
  const storeProblem = () =>
    store.ping().then(
      () => null,
      (error: unknown): StoreProblem =>
        error instanceof StoreUnwritable
          ? { status: 'store cannot be written to', reason: error.reason }
          : { status: 'store unreachable' },
    )
  const { dashboard, close: closeDashboard } = assembleDashboard({
    config,
    workshop,
    windows,
    usage,
    api: apiParts,
    unread,
    trustedProxies,
  })
  let resealing: { stop(): void } | null = null
  const closeParts = () =>
    closeInOrder([
      () => writing.close(),
      () => quota.close(),
      () => publicQuota.close(),
      () => keyUse.close(),
      () => usage.close(),
      closeDashboard,
      () => resealing?.stop(),
      () => life.endLife(),
      () => redisForRows?.close(),
    ])
  const open = async () => {
    if (config.formerSecrets.length > 0) resealing = await startResealing(store, workshop.sealing)
    await Promise.all([workshop.shared.settled(), redisForRows?.settled()])
    const { shares } = config
    return listen(
      { api, dashboard, metrics, observe, storeProblem, drain, shares, trustedProxies, clock },
      config,
      timeLimits,
    )
  }
  const server = await open().catch(async (error: unknown) => {
    await closeParts()
    throw error
  })
  // With PORT=0 the system chooses.
  workshop.baseUrl = config.baseUrl.replace(/:0$/, `:${server.port}`)
  return {
    port: server.port,
    announceEnd() {
      drain.isDraining = true
    },
    async close(drainMs) {
      const ended = await server.close(drainMs)
      await closeParts()
      return ended
    },
  }
}

/** Also what comes after one that fails: a connection that is left open would keep the process from ending. */
async function closeInOrder(closings: readonly (() => unknown)[]): Promise<void> {
  const failures: unknown[] = []
  for (const close of closings) {
    try {
      await close()
    } catch (error) {
      failures.push(error)
    }
  }
  if (failures.length > 0) throw failures[0]
}

/**
 * Of this process alone on the embedded default; else in Redis, and in the store where there is none or it is away.
 * Redis is connected when it is first needed.
 */
function createSharedState(
  { redisUrl, store: { kind } }: Config,
  store: Store,
  clock: Clock,
  observe: Observe,
): SharedState {
  const windows: RateWindows = { takeFromWindow: store.takeWindow, readWindow: store.lookWindow }
  const registers: SharedRegisters = { readRegister: store.readRegister, swapRegister: store.swapRegister }
  const shareIn =
    (place: SharedRegisters): ShareValue =>
    (name, form) =>
      createRegisterValue({ name, form, registers: place, clock, random: Math.random })
  if (redisUrl === null) {
    const alone = { windows: createMemoryRateWindows(clock), share: null }
    const onStore = { windows, share: shareIn(registers) }
    return { ...(kind === 'sqlite' ? alone : onStore), async settled() {}, async close() {} }
  }
  // How long it is waited for here is decided by who falls over.
  const redis = redisAt(redisUrl, observe, 2 * longestPatienceMs)
  const { settled, ping, life } = redis
  const fallOver = createFallOver({ ping, settled, clock, observe })
  return {
    windows: createFallingOverWindows({
      first: createRedisRateWindows(redis),
      second: {
        takeFromWindow: store.takeWindowBefore,
        takeFromOpen: store.takeFromOpenWindow,
        readWindow: store.lookWindow,
        countOfLast: store.countOfLastWindow,
      },
      registers,
      losses: createLossRecord({ registers, clock, life }),
      fallOver,
    }),
    share: shareIn(
      createFallingOverRegisters({ first: createRedisRegisters(redis), second: registers, fallOver, clock }),
    ),
    settled,
    async close() {
      fallOver.close()
      await redis.close()
    },
  }
}
