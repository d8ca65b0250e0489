import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { TestContext } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { openWorkshop } from '../../src/assemble/open-workshop.ts'
import type { Workshop } from '../../src/assemble/workshop.ts'
import { systemClock } from '../../src/clock.ts'
import { parseConfig } from '../../src/config.ts'
import { locateFile } from '../../src/providers/file/file-location.ts'
import { done } from '../harness.ts'
import { freshPlace, type RunningServer } from '../process/running.ts'
import { type PostgresServer, startPostgres } from '../servers/postgres.ts'
import { type RedisServer, startRedis } from '../servers/redis.ts'
import { clusterSecret } from './cluster.ts'

/** Instances as processes of their own, to be ended and killed. */
export interface Processes {
  workshop: Workshop
  apiKey: string
  postgres: PostgresServer
  redis: RedisServer
  file: string
  path: string
  /** `more`: what this one is told beside what all are told. */
  start(more?: Record<string, string>): Promise<RunningServer>
}

export async function startProcesses(
  t: TestContext,
  settings: Record<string, string> = {},
): Promise<Processes> {
  const folder = await mkdtemp(join(tmpdir(), 'rowport-instances-'))
  const [postgres, redis] = await Promise.all([startPostgres(), startRedis()])
  t.after(async () => {
    await Promise.all([postgres.stop(), redis.stop()])
    await rm(folder, { recursive: true, force: true })
  })
  const env = {
    DATABASE_URL: postgres.url,
    REDIS_URL: redis.url,
    ROWPORT_SECRET: clusterSecret,
    ROWPORT_DATA: folder,
    ...settings,
  }
  const config = parseConfig(env, false)
  if ('problems' in config) throw new Error(config.problems.join('; '))
  const workshop = await openWorkshop(config, systemClock, () => {})
  t.after(() => workshop.close())
  // After the ones above, so that they end before what they work on.
  const place = await freshPlace(t)
  const file = join(folder, 'stock.csv')
  await writeFile(file, 'name\nfirst\n')
  done(await workshop.accounts.create('acme', 'enterprise'))
  const asked = { accountSlug: 'acme', sheetSlug: 'stock', access: 'private', provider: 'file' } as const
  done(await workshop.sheets.connect({ ...asked, ...locateFile(file, null) }))
  const wish = {
    accountSlug: 'acme',
    sheetSlug: null,
    name: 'test',
    mode: 'live',
    scope: 'read-write',
  } as const
  const { value: apiKey } = done(await workshop.keys.create(wish))
  return {
    workshop,
    apiKey,
    postgres,
    redis,
    file,
    path: '/api/sheets/acme/stock',
    async start(more) {
      const server = await place.start({ env: { ...env, ...more } })
      while ((await fetch(`${server.url}/readyz`)).status !== 200) await sleep(20)
      return server
    },
  }
}
