import { join } from 'node:path'
import { createAdmission } from './admission/admit.ts'
import { createIpGuard } from './admission/ip-guard.ts'
import { createKeyUse } from './admission/key-use.ts'
import { defaultPlans, type Plans } from './admission/plans.ts'
import { createQuota } from './admission/quota.ts'
import { trustProxies } from './api/client-address.ts'
import { createCompression } from './api/compression.ts'
import { createApi } from './api/door.ts'
import { createUnreadAnswers } from './api/unread-answers.ts'
import type { Clock } from './clock.ts'
import type { Config, StoreSetting } from './config.ts'
import { assembleDashboard } from './dashboard-assembly.ts'
import { StoreFailure, StoreUnwritable } from './errors.ts'
import { secretOf } from './kept-secret.ts'
import { createLoopTurns } from './loop-turns.ts'
import { type Accounts, createAccounts } from './management/accounts.ts'
import { type BySlug, createBySlug } from './management/by-slug.ts'
import { type Connecting, createConnecting } from './management/connecting.ts'
import { createGoogleConnection, type GoogleConnection } from './management/google-connection.ts'
import { createGoogleSpreadsheets, type GoogleSpreadsheets } from './management/google-spreadsheets.ts'
import { createKeys, type Keys } from './management/keys.ts'
import { Problem } from './management/problem.ts'
import { startResealing } from './management/resealing.ts'
import { createSheets, type Sheets } from './management/sheets.ts'
import { createSignIn, type SignIn } from './management/sign-in.ts'
import { createUploadRoom } from './management/upload-room.ts'
import { createUploads, type Uploads } from './management/uploads.ts'
import { createMetrics, type Metrics } from './metrics.ts'
import { type Observe, observeAll } from './observe.ts'
import { postgresProblem } from './plain-words.ts'
import { closeToOthers } from './private-data.ts'
import type { Drain, StoreProblem } from './router.ts'
import { createSealing, type Sealing } from './sealing.ts'
import { listen, type RunningServer, type TimeLimits } from './server.ts'
import { createCellValue } from './shared-state/cell-value.ts'
import { createFallOver, longestPatienceMs } from './shared-state/fall-over.ts'
import { createFallingOverCells } from './shared-state/falling-over-cells.ts'
import { createFallingOverWindows } from './shared-state/falling-over-windows.ts'
import { createLossRecord } from './shared-state/loss-record.ts'
import { createMemoryRateWindows } from './shared-state/memory-rate-windows.ts'
import type { RateWindows } from './shared-state/rate-windows.ts'
import { createLazyRedis, type LazyRedis } from './shared-state/redis/lazy-redis.ts'
import { createRedisCells } from './shared-state/redis/redis-cells.ts'
import { createRedisRateWindows } from './shared-state/redis/redis-rate-windows.ts'
import { createRedisSharedSnapshots } from './shared-state/redis/redis-shared-snapshots.ts'
import type { SharedCells } from './shared-state/shared-cells.ts'
import type { ShareValue } from './shared-state/shared-value.ts'
import { createDecoding, type Decoding } from './sheets/decoding.ts'
import { createFileProvider } from './sheets/file/file-provider.ts'
import { createGoogle } from './sheets/google/google.ts'
import { createSharedTokens } from './sheets/google/shared-tokens.ts'
import type { Provider } from './sheets/provider.ts'
import { createQuerying } from './sheets/query/querying.ts'
import { createReading } from './sheets/reading.ts'
import { createSnapshotSharing } from './sheets/snapshot-sharing.ts'
import { createWriting } from './sheets/writing.ts'
import { type CopiedTable, type CopyRefusal, copyStore } from './store/copy-store.ts'
import { beginInstanceLife } from './store/instance-life.ts'
import { migrate } from './store/migrate.ts'
import type { SqlDatabase } from './store/sql-database.ts'
import { createSqlStore } from './store/sql-store.ts'
import { openSqlite } from './store/sqlite/sqlite-database.ts'
import type { Store } from './store/store.ts'
import { createUnconfiguredProvider } from './unconfigured-provider.ts'
import { createUsage } from './usage/usage.ts'

/**
 * The only file that names adapters. It comes in two sizes: what every command needs to change things, and the
 * server on top of it.
 */
export interface Workshop {
  observe: Observe
  metrics: Metrics
  store: Store
  plans: Plans
  accounts: Accounts
  /** For whoever runs the server, who names accounts by their slugs. */
  sheets: BySlug['sheets']
  keys: BySlug['keys']
  /** For whoever is signed in: by the account's id. */
  ofOwner: { sheets: Sheets; keys: Keys; connecting: Connecting }
  signIn: SignIn
  /** null where files of this machine are not served. */
  uploads: Uploads | null
  google: GoogleConnection
  googleSpreadsheets: GoogleSpreadsheets
  sealing: Sealing
  shared: SharedState
  /** How people reach the server, without a slash at the end. With PORT=0 it is known when the server listens. */
  baseUrl: string
  providers: ReadonlyMap<string, Provider>
  decoding: Decoding
  /** Copies the embedded store into an empty PostgreSQL, all of it or nothing. */
  copyStoreTo(url: string): Promise<CopiedTable[] | Problem>
  close(): Promise<void>
}

export async function openWorkshop(config: Config, clock: Clock, log: Observe): Promise<Workshop> {
  const metrics = createMetrics()
  const observe = observeAll([log, metrics.observe])
  if (config.store.kind === 'sqlite') {
    const left = await closeToOthers(config.dataFolder)
    if (left.length > 0) observe({ event: 'data_open_to_others', entries: left.length })
  }
  const database = await openDatabase(config.store, clock, observe)
  try {
    const sealing = createSealing(await secretOf(config), config.formerSecrets, config.nextSecret)
    return furnish({ config, clock, observe, metrics, database, sealing })
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
}

function furnish({ config, clock, observe, metrics, database, sealing }: BareWorkshop): Workshop {
  const store = createSqlStore(database, clock)
  const plans: Plans = new Map([...defaultPlans, ...Object.entries(config.plans)])
  const accounts = createAccounts(store, plans)
  const { shares } = config
  const sheets = createSheets({ store, shares, observe })
  const keys = createKeys(store, sheets)
  const signIn = createSignIn(store, accounts, clock, shares.sessions)
  const sharedTokens = createSharedTokens({ store, sealing })
  const shared = createSharedState(config, store, clock, observe)
  const { share } = shared
  const atGoogle =
    config.google &&
    createGoogle({
      settings: config.google,
      store,
      sealing,
      clock,
      observe,
      sharedTokens,
      shares,
      ...(share && { share }),
    })
  const uploadFolder = join(config.dataFolder, 'files')
  // Files lie on one machine: where several serve, the others would not find them.
  const isEmbedded = config.store.kind === 'sqlite'
  const room = isEmbedded ? createUploadRoom(uploadFolder, config.shares, observe) : null
  const lengths = room && { problemWithLength: room.problemWithLength }
  const providers = new Map<string, Provider>([
    ['file', createFileProvider({ observe, clock, shares, ...lengths })],
    ['google', atGoogle?.provider ?? createUnconfiguredProvider('Google Sheets', googleMissing)],
  ])
  const decoding = createDecoding({ observe, clock, shares })
  const connecting = createConnecting(sheets, providers, decoding)
  const ofOwner = { sheets, keys, connecting }
  const google = createGoogleConnection({
    store,
    sealing,
    oauth: atGoogle?.oauth ?? null,
    consentOrigin: atGoogle?.consentOrigin ?? null,
    baseUrl: () => workshop.baseUrl,
  })
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
    google,
    googleSpreadsheets: createGoogleSpreadsheets(google, atGoogle?.files ?? null),
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
      await atGoogle?.close()
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
  const postgres = await import('./store/postgres/postgres-database.ts')
  return postgres.openPostgres(url, maxConnections)
}

function redisAt(url: string, observe: Observe, answerWithinMs?: number): LazyRedis {
  return createLazyRedis(async () => {
    const redis = await import('./shared-state/redis/redis.ts')
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

const googleMissing =
  'The operator sets GOOGLE_CLIENT_ID and GOOGLE_CLIENT_SECRET; docs/google-setup.md says how to get them.'

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
  const usage = createUsage(store, clock)
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
  const keyUse = createKeyUse(store, clock)
  const publicQuota = createQuota(
    { chargeAhead: store.chargePublicAhead, giveBack: store.givePublicBack },
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
  const turns = createLoopTurns(clock)
  const querying = createQuerying({ shares, turns, clock, observe })
  const compression = createCompression({ shares, clock, observe })
  const apiParts = { admission, reading, writing, querying, compression, turns, clock, observe }
  const unread = createUnreadAnswers((maxHeldBytes * shares.unread_percent) / 100, observe)
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
      () => life.leave(),
      () => redisForRows?.close(),
    ])
  const open = async () => {
    if (config.formerSecrets.length > 0) resealing = await startResealing(store, workshop.sealing)
    await Promise.all([workshop.shared.settled(), redisForRows?.settled()])
    const { shares } = config
    return listen(
      { api, dashboard, metrics, observe, storeProblem, drain, shares, trustedProxies },
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

/** What instances share beside what they remember. */
export interface SharedState {
  windows: RateWindows
  /** Null where there is nobody to share with. */
  share: ShareValue | null
  /** It can be reached, or has had its time for that. */
  settled(): Promise<void>
  close(): Promise<void>
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
  const windows: RateWindows = { take: store.takeWindow, look: store.lookWindow }
  const cells: SharedCells = { look: store.lookAtCell, swap: store.swapCell }
  const shareIn =
    (place: SharedCells): ShareValue =>
    (name, form) =>
      createCellValue({ name, form, cells: place, clock, random: Math.random })
  if (redisUrl === null) {
    const alone = { windows: createMemoryRateWindows(clock), share: null }
    const onStore = { windows, share: shareIn(cells) }
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
        take: store.takeWindowBefore,
        takeFromOpen: store.takeFromOpenWindow,
        look: store.lookWindow,
        countOfLast: store.countOfLastWindow,
      },
      cells,
      losses: createLossRecord({ cells, clock, life }),
      fallOver,
    }),
    share: shareIn(
      createFallingOverCells({ first: createRedisCells(redis), second: cells, fallOver, clock }),
    ),
    settled,
    async close() {
      fallOver.close()
      await redis.close()
    },
  }
}
