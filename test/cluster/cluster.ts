import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before } from 'node:test'
import { openWorkshop } from '../../src/assemble/open-workshop.ts'
import { startServer } from '../../src/assemble/start-server.ts'
import type { Workshop } from '../../src/assemble/workshop.ts'
import { type Clock, systemClock } from '../../src/clock.ts'
import { type Config, type GoogleSetting, parseConfig } from '../../src/config.ts'
import { locateFile } from '../../src/providers/file/file-location.ts'
import type { Observation } from '../../src/reporting/observe.ts'
import { done } from '../harness.ts'
import { findPostgres, type PostgresServer, startPostgres } from '../servers/postgres.ts'
import { findRedis, type RedisServer, startRedis } from '../servers/redis.ts'

export const skipCluster =
  findPostgres() && findRedis() ? false : 'PostgreSQL or Redis is not on this machine'

/** Several instances of the whole product on one PostgreSQL and one Redis, all of their own. */
export interface Cluster {
  instances: Instance[]
  postgres: PostgresServer
  redis: RedisServer
  folder: string
  /** Of the first instance. */
  workshop: Workshop
  connectFile(slug: string, csv: string, account?: string): Promise<{ id: string; file: string }>
  createKey(account?: string): Promise<string>
  ask(instance: number, path: string, wish: AskWish): Promise<Response>
  /** `clock`: one that goes wrong. */
  startAnother(clock?: Clock): Promise<Instance>
}

export interface Instance {
  url: string
  port: number
  workshop: Workshop
  seen: Observation[]
  close(): Promise<void>
}

export interface AskWish {
  key: string
  method?: string
  body?: unknown
  headers?: Record<string, string>
}

interface ClusterWish {
  instances?: number
  plan?: string
  fsync?: boolean
  google?: GoogleSetting
  /** False: PostgreSQL counts all the time. */
  withRedis?: boolean
  env?: Record<string, string>
}

export const clusterSecret = 'the secret of the cluster'

/** One for all tests of a file, each with sheets of its own: starting takes longer than most of them. */
export function clusterOfThisFile(): () => Cluster {
  let cluster: Cluster | null = null
  const endings: (() => Promise<void>)[] = []
  before(async () => {
    if (!skipCluster) cluster = await startCluster({ after: (end) => void endings.push(end) })
  })
  after(async () => {
    for (const end of endings) await end()
  })
  return () => {
    if (!cluster) throw new Error('It is there when the tests begin')
    return cluster
  }
}

export async function startCluster(
  t: { after(work: () => Promise<void>): void },
  {
    instances: count = 2,
    plan = 'enterprise',
    fsync = false,
    google,
    withRedis = true,
    env = {},
  }: ClusterWish = {},
): Promise<Cluster> {
  const folder = await mkdtemp(join(tmpdir(), 'rowport-cluster-'))
  const [postgres, redis] = await Promise.all([startPostgres({ fsync }), startRedis()])
  const instances: Instance[] = []
  t.after(async () => {
    // One that fails to close must not leave the others running: the test's process would never end.
    const closed = await Promise.allSettled(instances.map((instance) => instance.close()))
    await Promise.all([postgres.stop(), redis.stop()])
    await rm(folder, { recursive: true, force: true })
    for (const end of closed) if (end.status === 'rejected') throw end.reason
  })

  async function startAnother(clock = systemClock): Promise<Instance> {
    const redisUrl = withRedis ? redis.url : ''
    const places = { DATABASE_URL: postgres.url, REDIS_URL: redisUrl, ROWPORT_DATA: folder }
    const instance = await startInstance(configOf({ ...places, ...env }, google ?? null), clock)
    instances.push(instance)
    return instance
  }

  // At once, as a deployment does: one migrates and the others wait for it.
  await Promise.all(Array.from({ length: count }, () => startAnother()))
  const workshop = instances[0]?.workshop
  if (!workshop) throw new Error('There is no instance')
  done(await workshop.accounts.create('acme', plan))

  return {
    instances,
    postgres,
    redis,
    folder,
    workshop,
    startAnother,
    async connectFile(slug, csv, account = 'acme') {
      const file = join(folder, `${account}-${slug}.csv`)
      await writeFile(file, csv)
      const asked = { accountSlug: account, sheetSlug: slug, access: 'private', provider: 'file' } as const
      const { id } = done(await workshop.sheets.connect({ ...asked, ...locateFile(file, null) }))
      return { id, file }
    },
    async createKey(account = 'acme') {
      const wish = {
        accountSlug: account,
        sheetSlug: null,
        name: 'test',
        mode: 'live',
        scope: 'read-write',
      } as const
      return done(await workshop.keys.create(wish)).value
    },
    ask(instance, path, { key, method = 'GET', body, headers }) {
      return fetch(`${instances[instance]?.url}${path}`, {
        method,
        headers: { Authorization: `Bearer ${key}`, ...headers },
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      })
    },
  }
}

function configOf(env: Record<string, string>, google: GoogleSetting | null): Config {
  const config = parseConfig(
    {
      PORT: '0',
      BASE_URL: 'http://rowport.test',
      ROWPORT_SECRET: clusterSecret,
      ROWPORT_REFUSALS_PER_MINUTE: '1000000',
      ...env,
    },
    false,
  )
  if ('problems' in config) throw new Error(config.problems.join('; '))
  return google ? { ...config, google } : config
}

async function startInstance(config: Config, clock: Clock): Promise<Instance> {
  const seen: Observation[] = []
  const workshop = await openWorkshop(config, clock, (observation) => seen.push(observation))
  const server = await startServer(config, workshop, clock)
  let isOpen = true
  return {
    url: `http://127.0.0.1:${server.port}`,
    port: server.port,
    workshop,
    seen,
    async close() {
      if (!isOpen) return
      isOpen = false
      await server.close(1_000).finally(() => workshop.close())
    },
  }
}
