import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Workshop } from '../../src/assemble/workshop.ts'
import { locateFile } from '../../src/providers/file/file-location.ts'
import { startPostgres } from '../../test/servers/postgres.ts'
import { startRedis } from '../../test/servers/redis.ts'
import { processorMs, processorMsOfFamily, residentBytes } from '../process-figures.ts'
import { done, inWorkshop, neverReached, type RunningProcess, startAnother } from '../processes.ts'
import type { Point, StoreKind } from './point.ts'

/** A store with a data folder, on which servers are started one after the other. */
export interface Ground {
  folder: string
  settings: Record<string, string>
  /** What an operator's commands do, while no server runs. */
  prepare<T>(work: (workshop: Workshop) => Promise<T>): Promise<T>
  /** Ends the one before it: each size is measured in a process of its own. */
  start(): Promise<RunningProcess>
  /** From now until what it gives is called; of the server that runs, or of another on the same store. */
  begin(pid?: number): (requests: number) => ProcessFigures
  /** From its start until now. */
  sinceStart(): ProcessFigures
}

type ProcessFigures = Pick<Point, 'perSecond' | 'cpuMicroseconds' | 'storeCpuMicroseconds' | 'residentMb'>

/** As `npm start` has it: without it, what was freed stays with the process. */
const asNpmStart = { MALLOC_MMAP_THRESHOLD_: '65536' }

export async function openGround(
  store: StoreKind,
  after: (end: () => Promise<void>) => void,
  ownSettings: Record<string, string> = {},
): Promise<Ground> {
  const folder = await mkdtemp(join(tmpdir(), 'rowport-growth-'))
  after(() => rm(folder, { recursive: true }))
  const settings: Record<string, string> = { ROWPORT_DATA: folder, ...asNpmStart, ...ownSettings }
  let storeMs: (() => number) | null = null
  if (store === 'shared') {
    const postgres = await startPostgres()
    after(postgres.stop)
    const redis = await startRedis()
    after(redis.stop)
    Object.assign(settings, {
      DATABASE_URL: postgres.url,
      REDIS_URL: redis.url,
      ROWPORT_SECRET: 'the secret of the bench',
      ROWPORT_UNREADY_SECONDS: '0',
    })
    storeMs = () => processorMsOfFamily(postgres.pid) + processorMs(redis.pid)
  }
  let server: RunningProcess | null = null
  let [startedMs, storeMsAtStart] = [0, 0]
  const stop = async () => {
    await server?.stop()
    server = null
  }
  after(stop)
  return {
    folder,
    settings,
    async prepare(work) {
      await stop()
      return inWorkshop(settings, work)
    },
    async start() {
      await stop()
      startedMs = performance.now()
      storeMsAtStart = storeMs?.() ?? 0
      server = await startAnother(settings)
      return server
    },
    begin(pid = server?.pid ?? 0) {
      return figuresSince(pid, performance.now(), processorMs(pid), storeMs?.() ?? 0)
    },
    sinceStart: () => figuresSince(server?.pid ?? 0, startedMs, 0, storeMsAtStart)(1),
  }

  function figuresSince(pid: number, begunMs: number, ownBeforeMs: number, storeBeforeMs: number) {
    return (requests: number): ProcessFigures => ({
      perSecond: requests / ((performance.now() - begunMs) / 1_000),
      cpuMicroseconds: ((processorMs(pid) - ownBeforeMs) * 1_000) / requests,
      storeCpuMicroseconds: storeMs ? ((storeMs() - storeBeforeMs) * 1_000) / requests : null,
      residentMb: residentBytes(pid) / 1024 / 1024,
    })
  }
}

export const account = 'bench'

/** An account with a key for all its sheets; its limits are counted for every request, and never reached. */
export async function createAccount({ accounts, keys }: Workshop, slug = account): Promise<string> {
  done(await accounts.create(slug, 'pro'))
  const own = { requestsPerMinute: neverReached, requestsPerMonth: neverReached }
  done(await accounts.setPlan(slug, 'pro', own))
  const wish = {
    accountSlug: slug,
    sheetSlug: null,
    name: 'bench',
    mode: 'live',
    scope: 'read-write',
  } as const
  return done(await keys.create(wish)).value
}

/** The path at which its rows are served. */
export async function connectFile(
  { sheets }: Workshop,
  folder: string,
  sheetSlug: string,
  csv: string | Buffer,
): Promise<string> {
  const path = join(folder, `${sheetSlug}.csv`)
  await writeFile(path, csv)
  const place = { provider: 'file', ...locateFile(path, null) }
  done(await sheets.connect({ accountSlug: account, sheetSlug, access: 'private', ...place }))
  return `/api/sheets/${account}/${sheetSlug}`
}
