import packageJson from '../../package.json' with { type: 'json' }
import { createAdmission } from '../admission/admit.ts'
import { createIpGuard } from '../admission/ip-guard.ts'
import { createKeyUse } from '../admission/key-use.ts'
import { createQuota } from '../admission/quota.ts'
import { createAgentsDoor } from '../agents/agents-door.ts'
import { createApi } from '../api/door.ts'
import { createOpenStreams } from '../api/streams/open-streams.ts'
import { createChangeLog } from '../changes/change-log.ts'
import { createChangePages } from '../changes/change-pages.ts'
import { createFollowerPlaces } from '../changes/follower-places.ts'
import { createFollowing } from '../changes/following.ts'
import { createLogReads } from '../changes/log-reads.ts'
import { createLooking } from '../changes/looking.ts'
import { createReadingChanges } from '../changes/reading-changes.ts'
import { createRetention } from '../changes/retention.ts'
import type { Clock } from '../clock.ts'
import type { Config, MailSetting } from '../config.ts'
import { StoreUnwritable } from '../errors.ts'
import { createCaptchas } from '../forms/captcha.ts'
import { createFormsDoor } from '../forms/door.ts'
import { startReleasing } from '../forms/release-entries.ts'
import { trustProxies } from '../http/client-address.ts'
import { createCompression } from '../http/compression.ts'
import { createOwnAddress } from '../http/own-address.ts'
import { createUnreadAnswers } from '../http/unread-answers.ts'
import type { MailTransport } from '../mail/mail.ts'
import { openMailRoom } from '../mail/mail-room.ts'
import { startAlerts } from '../management/alerts/alerts.ts'
import { startResealing } from '../management/connections/resealing.ts'
import { createHeldEntries } from '../management/forms/held-entries.ts'
import { startAccountEvents } from '../management/webhooks/account-events.ts'
import { createTransport } from '../providers/remote/transport.ts'
import { observeAll } from '../reporting/observe.ts'
import type { StoreProblem } from '../server/router.ts'
import { listen, type RunningServer, type TimeLimits } from '../server/server.ts'
import type { Drain } from '../server/wire.ts'
import { createMemoryRateWindows } from '../shared-state/rate-windows/memory-rate-windows.ts'
import { createRedisSharedSnapshots } from '../shared-state/redis/redis-shared-snapshots.ts'
import { createReading } from '../sheets/reading/reading.ts'
import { createSnapshotSharing } from '../sheets/reading/snapshot-sharing.ts'
import { createViewing } from '../sheets/reading/viewing.ts'
import { createQuerying } from '../sheets/rows/query/querying.ts'
import { createWriting } from '../sheets/writing/writing.ts'
import { beginInstanceLife } from '../store/leases/instance-life.ts'
import { createUsage } from '../usage/usage.ts'
import { startWebhookDelivery } from '../webhooks/delivery.ts'
import { startNotingSheets } from '../webhooks/noted-sheets.ts'
import type { AssembledDashboard, DashboardNeeds } from './dashboard-assembly.ts'
import { redisAt } from './shared-state.ts'
import type { Workshop } from './workshop.ts'

const mebibyte = 1024 * 1024

/** Networks that are counted in memory: about ten megabytes at most, however many addresses somebody has. */
const mostStrangers = 50_000

/** What publishable keys see of sheets is held beside the sheets, in so much of the memory that those have. */
const shareOfViews = 1 / 8
/** What is asked there takes a line, and so does what is said. */
const captchaLimits = { silenceMs: 10_000, maxBodyBytes: 64 * 1024 }

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
  const { turns } = workshop
  const usage = createUsage({ store, clock, turns, shares: config.shares })
  const observe = observeAll([workshop.observe, usage.observe])
  const { windows } = workshop.shared
  // Rows by the megabyte have a connection of their own: nobody's count waits behind them.
  const redisForRows = config.redisUrl === null ? null : redisAt(config.redisUrl, () => {})
  const maxHeldBytes = config.maxSnapshotBytes
  const { shares } = config
  const sharing = redisForRows && createSnapshotSharing(createRedisSharedSnapshots(redisForRows))
  const following = createFollowing({ store })
  const retention = createRetention({ store, maxAccountBytes: shares.history_mb * mebibyte, observe })
  const webhooks = startWebhookDelivery({
    store,
    post: workshop.postToWebhook,
    deliveriesAtOnce: config.shares.deliveries_at_once,
    turns,
    clock,
    observe,
  })
  const noteChange = (sheetId: string) => {
    following.noteChange(sheetId)
    webhooks.noteChange(sheetId)
  }
  const log = createChangeLog({
    store,
    decoding,
    turns,
    clock,
    observe,
    following: { noteChange },
    retention,
  })
  const reading = createReading({
    ...{ store, providers, decoding, clock, observe, maxHeldBytes, shares, sharing, log },
  })
  const isRationed = (provider: string) => providers.get(provider)?.isTight !== undefined
  const looking = createLooking({ store, reading, following, isRationed, clock })
  const maxKeptBytes = shares.journal_mb * mebibyte
  const writing = createWriting({
    store,
    providers,
    reading,
    clock,
    observe,
    turns,
    maxKeptBytes,
    shares,
    log,
    nextLoopTurn: () => new Promise((resolve) => setImmediate(resolve)),
  })
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
  const viewing = createViewing({
    ...{ reading, decoding, querying, clock, observe, shares, maxHeldBytes: maxHeldBytes * shareOfViews },
  })
  const compression = createCompression({ shares, clock, observe })
  const ownAddress = createOwnAddress(() => workshop.baseUrl, config.isBaseUrlSet)
  const logReads = createLogReads({ shares, clock, observe })
  const changes = createReadingChanges({ store, following, clock, turns, logReads })
  const followerPlaces = createFollowerPlaces(shares, observe)
  const pages = createChangePages({ changes, following })
  const streams = createOpenStreams({ pages, admission })
  const apiParts = {
    changes,
    followerPlaces,
    streams,
    looking,
    admission,
    reading: viewing,
    writing,
    querying,
    compression,
    turns,
    clock,
    observe,
    ownAddress,
  }
  const unread = createUnreadAnswers(
    {
      maxBytes: (maxHeldBytes * shares.unread_percent) / 100,
      maxTotalBytes: (maxHeldBytes * shares.unread_total_percent) / 100,
    },
    observe,
  )
  const { handle: api, askInside } = createApi({
    ...apiParts,
    ...{ ipGuard, trustedProxies, unread, isDraining },
  })
  const agents = createAgentsDoor({
    ...{ askInside, isDraining, observe, clock, turns, trustedProxies },
    baseUrl: () => workshop.baseUrl,
    version: packageJson.version,
  })
  const heldEntries = createHeldEntries(store)
  const captchaTransport = createTransport(captchaLimits)
  const captchas = createCaptchas({
    ...{ transport: captchaTransport, sealing: workshop.sealing, config: config.captcha, clock, observe },
    askedAtOnce: shares.captchas_at_once,
  })
  const forms = createFormsDoor({
    ...{ forms: workshop.forms, entries: heldEntries, admission, writing, trustedProxies, clock, observe },
    captchas,
    turns,
    digest: workshop.sealing.digest,
  })
  const releasing = startReleasing({ entries: heldEntries, admission, writing, observe })
  const storeProblem = () =>
    store.ping().then(
      () => null,
      (error: unknown): StoreProblem =>
        error instanceof StoreUnwritable
          ? { status: 'store cannot be written to', reason: error.reason }
          : { status: 'store unreachable' },
    )
  const { sealing } = workshop
  const mailRoom =
    config.mail && openMailRoom({ store, sealing, observe, transport: await openSmtpTransport(config.mail) })
  let opened: Promise<AssembledDashboard> | null = null
  const openDashboard = async () => {
    opened ??= loadDashboard({
      ...{ config, workshop, windows, usage, api: apiParts, unread, trustedProxies, mailRoom },
    }).catch((error: unknown) => {
      // The next person may have more luck.
      opened = null
      throw error
    })
    return (await opened).dashboard
  }
  const { kinds } = workshop
  const baseUrl = () => workshop.baseUrl
  const alerts = mailRoom && startAlerts({ store, mailRoom, kinds, plans, clock, baseUrl })
  const accountEvents = startAccountEvents({ store, plans, clock })
  const notedSheets = startNotingSheets({ store })
  let resealing: { stop(): void } | null = null
  const closeParts = () =>
    closeInOrder([
      () => releasing.close(),
      () => captchaTransport.close(),
      () => writing.close(),
      () => looking.close(),
      () => notedSheets.close(),
      () => accountEvents.close(),
      () => webhooks.close(),
      () => following.close(),
      () => retention.close(),
      () => quota.close(),
      () => publicQuota.close(),
      () => keyUse.close(),
      () => usage.close(),
      async () => (await opened)?.close(),
      () => alerts?.close(),
      () => mailRoom?.close(),
      () => resealing?.stop(),
      () => life.endLife(),
      () => redisForRows?.close(),
    ])
  const open = async () => {
    if (config.formerSecrets.length > 0) resealing = await startResealing(store, workshop.sealing)
    await Promise.all([workshop.shared.settled(), redisForRows?.settled()])
    const { shares } = config
    return listen(
      {
        api,
        agents,
        openDashboard,
        forms,
        metrics,
        observe,
        storeProblem,
        drain,
        shares,
        trustedProxies,
        clock,
      },
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
      looking.close()
      following.close()
    },
    async close(drainMs) {
      // Whoever waits goes on elsewhere.
      following.close()
      const ended = await server.close(drainMs)
      await closeParts()
      return ended
    },
  }
}

/** Closes also what comes after one that fails: a connection that is left open would keep the process from ending. */
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

// When the first person comes: its many schemas take a tenth of a start (docs/decisions/041), and many a server has programs alone.
async function loadDashboard(needs: DashboardNeeds): Promise<AssembledDashboard> {
  const { assembleDashboard } = await import('./dashboard-assembly.ts')
  return assembleDashboard(needs)
}

// As with PostgreSQL: what a server has no use for is not loaded there (4 MB).
async function openSmtpTransport(setting: MailSetting): Promise<MailTransport> {
  const { createSmtpTransport } = await import('../mail/smtp/smtp-transport.ts')
  return createSmtpTransport(setting)
}
