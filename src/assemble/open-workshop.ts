import { join } from 'node:path'
import packageJson from '../../package.json' with { type: 'json' }
import { defaultPlans, type Plans } from '../admission/plans.ts'
import { filtersOf } from '../api/policy/key-view.ts'
import type { Clock } from '../clock.ts'
import type { Config } from '../config.ts'
import { errorTable, Refusal, StoreFailure } from '../errors.ts'
import { createAccountEnding } from '../management/accounts/account-ending.ts'
import { createAccounts } from '../management/accounts/accounts.ts'
import { createBySlug } from '../management/accounts/by-slug.ts'
import { createAuditLog } from '../management/audit/audit-log.ts'
import { createConnections } from '../management/connections/connections.ts'
import { createOwnerConnection } from '../management/connections/owner-connection.ts'
import { createForms } from '../management/forms/forms.ts'
import { createPolicyColumns } from '../management/keys/key-policy.ts'
import { createKeys } from '../management/keys/keys.ts'
import { createSignIn } from '../management/people/sign-in.ts'
import { Problem } from '../management/problem.ts'
import { createConnecting } from '../management/sheets/connecting.ts'
import { createEncodings } from '../management/sheets/encodings.ts'
import { createKeyColumns } from '../management/sheets/key-column.ts'
import { createSheets } from '../management/sheets/sheets.ts'
import { createUploadRoom } from '../management/uploads/upload-room.ts'
import { createUploads } from '../management/uploads/uploads.ts'
import { createWebhooks } from '../management/webhooks/webhooks.ts'
import { postgresProblem } from '../plain-words.ts'
import { createSharedTokens } from '../providers/remote/shared-tokens.ts'
import { createMetrics, type Metrics } from '../reporting/metrics.ts'
import { type Observe, observeAll } from '../reporting/observe.ts'
import { secretOf } from '../secrets/kept-secret.ts'
import { closeToOthers, hasUploads } from '../secrets/private-data.ts'
import { createSealing, type Sealing } from '../secrets/sealing.ts'
import { createLoopTurns } from '../shares/loop-turns.ts'
import type { Provider } from '../sheets/provider.ts'
import { createProviderKinds } from '../sheets/provider-kind.ts'
import { createDecoding } from '../sheets/reading/decoding.ts'
import type { Column } from '../sheets/rows/table.ts'
import { createThreadPool } from '../sheets/threads/thread-pool.ts'
import type { ThreadSource } from '../sheets/threads/threads.ts'
import { createTakerTurns } from '../sheets/writing/taker-turns.ts'
import { type CopiedTable, type CopyRefusal, copyStore } from '../store/sql/copy-store.ts'
import type { SqlDatabase } from '../store/sql/sql-database.ts'
import { createSqlStore } from '../store/sql/sql-store.ts'
import { createUsedUpShares, type UsedUpShares } from '../usage/used-up-shares.ts'
import { createPosting } from '../webhooks/posting.ts'
import { createSignedPost } from '../webhooks/signed-post.ts'
import { createTargets } from '../webhooks/targets.ts'
import { openDatabase } from './databases.ts'
import { createHomes, type Home, type HomeParts } from './homes.ts'
import { createSharedState } from './shared-state.ts'
import type { Workshop } from './workshop.ts'

/** What may be another than in a process of one server. */
export interface Surroundings {
  /** Builds providers beside those of the table. */
  createMore?(parts: HomeParts): readonly Home[]
  threadSource?: ThreadSource
}

export async function openWorkshop(
  config: Config,
  clock: Clock,
  log: Observe,
  surroundings: Surroundings = {},
): Promise<Workshop> {
  const metrics = createMetrics()
  const usedUpShares = createUsedUpShares(clock)
  const observe = observeAll([log, metrics.observe, usedUpShares.observe])
  // With a database elsewhere, a folder of that name may be anybody's.
  if (config.store.kind === 'sqlite' || (await hasUploads(config.dataFolder))) {
    const left = await closeToOthers(config.dataFolder)
    if (left.length > 0) observe({ event: 'data_open_to_others', entries: left.length })
  }
  const database = await openDatabase(config.store, clock, observe)
  try {
    const sealing = createSealing(await secretOf(config), config.formerSecrets, config.nextSecret)
    return buildWorkshop({ config, clock, observe, metrics, usedUpShares, database, sealing, surroundings })
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
  usedUpShares: UsedUpShares
  database: SqlDatabase
  sealing: Sealing
  surroundings: Surroundings
}

function buildWorkshop(bare: BareWorkshop): Workshop {
  const { config, clock, observe, metrics, usedUpShares, database, sealing, surroundings } = bare
  const store = createSqlStore(database, clock)
  const plans: Plans = new Map([...defaultPlans, ...Object.entries(config.plans)])
  const accounts = createAccounts(store, plans, config.defaultPlan)
  const { shares } = config
  const signIn = createSignIn(store, accounts, clock, shares.sessions, observe)
  const sharedTokens = createSharedTokens({ store, sealing })
  const shared = createSharedState(config, store, clock, observe)
  const uploadFolder = join(config.dataFolder, 'files')
  // Files lie on one machine: where several serve, the others would not find them.
  const isEmbedded = config.store.kind === 'sqlite'
  const room = isEmbedded ? createUploadRoom(uploadFolder, config.shares, observe) : null
  const threads = createThreadPool({ clock, observe, source: surroundings.threadSource })
  const turns = createLoopTurns(clock)
  const share = shared.share
  const homeParts = { config, store, sealing, clock, observe, sharedTokens, share, threads, turns, room }
  const homes = [...Object.values(createHomes(homeParts)), ...(surroundings.createMore?.(homeParts) ?? [])]
  const providers: ReadonlyMap<string, Provider> = new Map(
    homes.map(({ kind, provider }) => [kind.id, provider]),
  )
  const kinds = createProviderKinds(homes.map(({ kind }) => kind))
  const decoding = createDecoding({ observe, clock, shares, threads })
  const inTurns = <T>(accountId: string, steps: Generator<void, T>) =>
    createTakerTurns(accountId, turns)(steps)
  const keyColumns = createKeyColumns({ providers, kinds, decoding, inTurns })
  const encodings = createEncodings({ providers, kinds, decoding })
  const sheets = createSheets({ store, kinds, shares, keyColumns, encodings, observe })
  const policyColumns = createPolicyColumns({ providers, kinds, decoding, problemWithFilters })
  const keys = createKeys(store, sheets, policyColumns)
  const forms = createForms({ store, sheets, policyColumns, sealing })
  const connecting = createConnecting({ sheets, providers, kinds, decoding })
  const ofOwner = { sheets, keys, connecting }
  const targets = createTargets({ allowedNetworks: config.webhookNetworks })
  const posting = createPosting({ targets, clock })
  const postToWebhook = createSignedPost({ posting, sealing, clock, version: packageJson.version })
  const { windows } = shared
  const webhooks = createWebhooks({
    ...{ store, sheets, targets, post: postToWebhook, sealing, windows, shares, clock, observe },
  })
  const baseUrl = () => workshop.baseUrl
  const connections = createConnections(
    homes.flatMap(({ connection }) =>
      connection ? [createOwnerConnection({ store, sealing, connection, baseUrl })] : [],
    ),
  )
  const uploads = room && createUploads({ folder: uploadFolder, room, decoding, store, connecting, observe })
  const workshop: Workshop = {
    observe,
    metrics,
    usedUpShares,
    store,
    plans,
    accounts,
    ...createBySlug(accounts, ofOwner),
    ofOwner,
    forms,
    webhooks,
    postToWebhook,
    signIn,
    audit: createAuditLog(store, observe),
    endAccount: createAccountEnding(store, connections, uploads),
    uploads,
    kinds,
    connections,
    sealing,
    shared,
    baseUrl: config.baseUrl,
    providers,
    decoding,
    turns,
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
      await posting.close()
      await decoding.close()
      await shared.close()
      await store.close()
    },
  }
  return workshop
}

function problemWithFilters(where: string, columns: readonly Column[]): string | null {
  const filters = filtersOf(where, columns)
  return filters instanceof Refusal ? (filters.facts.details ?? errorTable[filters.code].message) : null
}

function inWords(outcome: CopiedTable[] | CopyRefusal): CopiedTable[] | Problem {
  if (Array.isArray(outcome)) return outcome
  if ('inUse' in outcome) return new Problem('A server is running on this store; stop it first.')
  if ('notEmpty' in outcome) {
    return new Problem(`The PostgreSQL database is not empty (${outcome.notEmpty}); name an empty one.`)
  }
  return new Problem(`What arrived in ${outcome.differs} is not what was sent; nothing was kept.`)
}
