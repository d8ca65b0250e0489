import { Agent, get } from 'node:http'
import { findPostgres, startPostgres } from '../test/servers/postgres.ts'
import { findRedis, startRedis } from '../test/servers/redis.ts'
import { twentyKilobytes } from './list-files.ts'
import { loadSlice, type Slice, type Target } from './load.ts'
import {
  ask,
  type RunningProcess,
  type RunningRowport,
  startAnother,
  startBare,
  startRowport,
} from './processes.ts'
import { type BenchRow, type LoadRow, type Measured, median, withEnds } from './row.ts'

/** The cached list once more, where every request asks PostgreSQL who may read and Redis how often. */
export const sharedStoreRows: readonly BenchRow[] = (
  [
    beside('cached 20 KB list, PostgreSQL + Redis', 'bare node:http, same bytes', bareBeside, 0.45),
    beside('cached 20 KB list, PostgreSQL + Redis, beside embedded', 'Rowport on SQLite', embeddedBeside, 0),
    {
      kind: 'figure',
      name: 'cached 20 KB list, PostgreSQL + Redis, two instances on one core',
      measure: twoInstances,
    },
    {
      kind: 'figure',
      name: 'PostgreSQL + Redis, added latency: cached 20 KB list, one request at a time',
      measure: addedLatency,
    },
  ] satisfies BenchRow[]
).map((row) => ({
  ...row,
  missing: [...(findPostgres() ? [] : ['PostgreSQL']), ...(findRedis() ? [] : ['Redis'])],
}))

interface Shared extends RunningRowport {
  settings: Record<string, string>
}

async function startShared(): Promise<Shared> {
  const [postgres, redis] = await Promise.all([startPostgres(), startRedis()])
  const settings = {
    DATABASE_URL: postgres.url,
    REDIS_URL: redis.url,
    ROWPORT_SECRET: 'the secret of the bench',
    ROWPORT_UNREADY_SECONDS: '0',
  }
  const rowport = await startRowport(twentyKilobytes(), undefined, 'one', settings)
  return {
    ...rowport,
    settings,
    async stop() {
      await rowport.stop()
      await Promise.all([postgres.stop(), redis.stop()])
    },
  }
}

interface Reference {
  url: string
  headers: Record<string, string>
  pid: number
  stop(): Promise<void>
}

function beside(
  name: string,
  reference: string,
  startReference: (of: Shared) => Promise<Reference>,
  floor: number,
): LoadRow {
  return {
    kind: 'load',
    name,
    reference,
    floor,
    async start() {
      const shared = await startShared()
      const other = await startReference(shared)
      return {
        subject: { url: shared.url + shared.sheetPath, headers: headersOf(shared), pid: shared.pid },
        reference: other,
        async stop() {
          await other.stop()
          await shared.stop()
        },
      }
    },
  }
}

async function bareBeside(shared: Shared): Promise<Reference> {
  const headers = headersOf(shared)
  const bare = await startBare(await ask(shared.url + shared.sheetPath, headers))
  return { ...bare, url: bare.url + shared.sheetPath, headers }
}

async function embeddedBeside(): Promise<Reference> {
  const embedded = await startRowport(twentyKilobytes())
  return { ...embedded, url: embedded.url + embedded.sheetPath, headers: headersOf(embedded) }
}

function headersOf({ apiKey }: RunningRowport): Record<string, string> {
  return { Authorization: `Bearer ${apiKey}` }
}

const rounds = 7
const sliceSeconds = 2

/** All servers share a core, so two of them cannot do more than one: this is what it costs that there are two. */
function twoInstances(): Promise<Measured> {
  return withEnds(async (after) => {
    const shared = await startShared()
    after(shared.stop)
    const second = await startAnother(shared.settings)
    after(second.stop)
    const bare = await bareBeside(shared)
    after(bare.stop)
    const headers = headersOf(shared)
    const target = ({ url, pid }: RunningProcess, connections: number): Target => ({
      url: url + shared.sheetPath,
      headers,
      pid,
      connections,
    })
    const both = async () => {
      const [one, other] = await Promise.all([
        loadSlice(target(shared, 32), sliceSeconds),
        loadSlice(target(second, 32), sliceSeconds),
      ])
      const requestsPerSecond = one.requestsPerSecond + other.requestsPerSecond
      const weighted = (slice: Slice) => slice.requestsPerSecond * Number(slice.cpuMicroseconds)
      return { requestsPerSecond, cpuMicroseconds: (weighted(one) + weighted(other)) / requestsPerSecond }
    }
    await both()
    await loadSlice(bare, sliceSeconds)
    const measured: Record<'one' | 'two' | 'bare', Slice[]> = { one: [], two: [], bare: [] }
    for (let round = 0; round < rounds; round++) {
      measured.two.push(await both())
      measured.one.push(await loadSlice(target(shared, 64), sliceSeconds))
      measured.bare.push(await loadSlice(bare, sliceSeconds))
    }
    const ratio = (to: 'one' | 'bare', of: keyof Slice) =>
      median(measured.two.map((slice, at) => Number(slice[of]) / Number(measured[to][at]?.[of]))).toFixed(2)
    const perSecond = (of: 'one' | 'two' | 'bare') =>
      median(measured[of].map(({ requestsPerSecond }) => requestsPerSecond)).toFixed(0)
    const said = [
      `per second   ${perSecond('two')} together, ${perSecond('one')} by one alone, ${perSecond('bare')} bare`,
      `ratio        ${ratio('bare', 'requestsPerSecond')} of bare node:http, ${ratio('one', 'requestsPerSecond')} of one instance`,
      `processor    ${ratio('bare', 'cpuMicroseconds')} times what bare node:http takes, ${ratio('one', 'cpuMicroseconds')} times one instance`,
    ].join('\n  ')
    return { said, floored: [] }
  })
}

const requests = 3_000
const warmUp = 500

async function addedLatency(): Promise<Measured> {
  const embedded = await startRowport(twentyKilobytes())
  const shared = await startShared()
  const second = await startAnother(shared.settings)
  try {
    const one = await latency([embedded.url], embedded)
    const onOne = await latency([shared.url], shared)
    const onTwo = await latency([shared.url, second.url], shared)
    const said = [
      `embedded ${inWords(one)}`,
      `PostgreSQL + Redis, 1 instance ${inWords(onOne)}, 2 instances in turn ${inWords(onTwo)}`,
      `added p50 ${(onOne.p50 - one.p50).toFixed(2)} ms, p99 ${(onOne.p99 - one.p99).toFixed(2)} ms`,
    ].join('; ')
    return { said, floored: [] }
  } finally {
    await second.stop()
    await shared.stop()
    await embedded.stop()
  }
}

interface Latency {
  p50: number
  p99: number
}

async function latency(urls: readonly string[], of: RunningRowport): Promise<Latency> {
  const agent = new Agent({ keepAlive: true })
  const takenMs: number[] = []
  for (let n = 0; n < requests + warmUp; n++) {
    const begunMs = performance.now()
    await read(`${urls[n % urls.length]}${of.sheetPath}`, headersOf(of), agent)
    if (n >= warmUp) takenMs.push(performance.now() - begunMs)
  }
  agent.destroy()
  takenMs.sort((one, other) => one - other)
  const at = (share: number) => takenMs[Math.floor(takenMs.length * share)] ?? Number.NaN
  return { p50: at(0.5), p99: at(0.99) }
}

function read(url: string, headers: Record<string, string>, agent: Agent): Promise<void> {
  const { promise, resolve, reject } = Promise.withResolvers<void>()
  get(url, { headers, agent }, (response) => {
    if (response.statusCode !== 200) reject(new Error(`${url} answered ${response.statusCode}`))
    response.resume()
    response.on('end', resolve)
  }).on('error', reject)
  return promise
}

function inWords({ p50, p99 }: Latency): string {
  return `p50 ${p50.toFixed(2)} ms p99 ${p99.toFixed(2)} ms`
}
