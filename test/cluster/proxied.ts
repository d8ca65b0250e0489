import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { Agent, request } from 'node:https'
import { connect, createServer, type Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { openWorkshop } from '../../src/assemble/open-workshop.ts'
import { startServer } from '../../src/assemble/start-server.ts'
import type { Workshop } from '../../src/assemble/workshop.ts'
import { systemClock } from '../../src/clock.ts'
import { type Config, parseConfig } from '../../src/config.ts'
import { locateFile } from '../../src/providers/file/file-location.ts'
import { EventStream } from '../changes/event-stream-client.ts'
import { done } from '../harness.ts'
import { freshPlace, type RunningServer } from '../process/running.ts'
import { freePort } from '../servers/free-port.ts'
import { startNginx } from '../servers/nginx.ts'
import { startPostgres } from '../servers/postgres.ts'
import { startRedis } from '../servers/redis.ts'

/** Two instances that keep their ports over a restart, as the configuration of a proxy needs them. */
export interface ProxiedInstances {
  instances: [Instance, Instance]
  apiKey: string
  /** A sheet of one column, `name`; answers with its path. */
  connectSheet(slug: string, names: readonly string[]): Promise<string>
  /** One more, as a process of its own that can be killed. */
  startProcess(t: Test): Promise<RunningServer>
  /** How many writes to this sheet the journal holds as sent and not settled. */
  sendingTo(slug: string): Promise<number>
}

export interface Instance {
  port: number
  workshop: Workshop
  /** Requests to the API that it has answered. */
  answered: number
  end(): Promise<void>
  /** Ends as at SIGTERM, `unreadyMs` after it was announced, and starts again. */
  restart(unreadyMs: number): Promise<void>
}

interface Test {
  after(work: () => Promise<void>): void
}

export async function startProxiedInstances(
  t: Test,
  settings: Record<string, string>,
): Promise<ProxiedInstances> {
  const folder = await mkdtemp(join(tmpdir(), 'rowport-proxied-'))
  const [postgres, redis] = await Promise.all([startPostgres({ fsync: false }), startRedis()])
  const env = {
    ROWPORT_DATA: folder,
    ROWPORT_SECRET: 'the secret behind the proxy',
    DATABASE_URL: postgres.url,
    REDIS_URL: redis.url,
    ...settings,
  }
  const instances = await Promise.all([startInstance(env), startInstance(env)])
  t.after(async () => {
    await Promise.all(instances.map((instance) => instance.end()))
    await Promise.all([postgres.stop(), redis.stop()])
    await rm(folder, { recursive: true, force: true })
  })
  const [{ workshop }] = instances
  done(await workshop.accounts.create('acme', 'enterprise'))
  const wish = { accountSlug: 'acme', sheetSlug: null, name: 'k', mode: 'live', scope: 'read-write' } as const
  return {
    instances,
    apiKey: done(await workshop.keys.create(wish)).value,
    async connectSheet(sheetSlug, names) {
      const file = join(folder, `${sheetSlug}.csv`)
      await writeFile(file, ['name', ...names, ''].join('\n'))
      const asked = { accountSlug: 'acme', sheetSlug, access: 'private', provider: 'file' } as const
      done(await instances[0].workshop.sheets.connect({ ...asked, ...locateFile(file, null) }))
      return `/api/sheets/acme/${sheetSlug}`
    },
    startProcess: async (ofTest) => (await freshPlace(ofTest)).start({ env }),
    async sendingTo(slug) {
      const { store } = instances[0].workshop
      const sheets = await store.sheetsOf((await store.findAccount('acme'))?.id ?? '')
      const source = sheets.find((sheet) => sheet.slug === slug)?.source
      if (source === undefined) throw new Error(`There is no sheet ${slug}`)
      return (await store.sendingOperations(source)).length
    },
  }
}

/** As `src/main.ts` has it: what is cut off sooner would be sent again while it is still being done. */
const drainMs = 10_000

async function startInstance(env: Record<string, string>): Promise<Instance> {
  const config = configOf({ ...env, PORT: `${await freePort()}` })
  let running = await start()
  const instance: Instance = {
    port: config.port,
    workshop: running.workshop,
    answered: 0,
    async end() {
      await running.server.close(drainMs)
      await running.workshop.close()
    },
    async restart(unreadyMs) {
      running.server.announceEnd()
      await new Promise((resolve) => setTimeout(resolve, unreadyMs))
      await instance.end()
      running = await start()
      instance.workshop = running.workshop
    },
  }
  return instance

  async function start() {
    const workshop = await openWorkshop(config, systemClock, ({ event }) => {
      if (event === 'request_answered') instance.answered++
    })
    return { workshop, server: await startServer(config, workshop, systemClock) }
  }
}

function configOf(env: Record<string, string>): Config {
  const config = parseConfig(env, false)
  if ('problems' in config) throw new Error(config.problems.join('; '))
  return config
}

export interface Asked {
  method?: string
  body?: string
  headers?: Record<string, string>
  /** The address that the client has. */
  from?: string
  /** Leaves the answer lying for so long before it is read. */
  readsAfterMs?: number
}

export interface Answer {
  status: number
  headers: Record<string, string | string[] | undefined>
  text: string
}

export interface Proxy {
  ask(path: string, asked?: Asked): Promise<Answer>
  log(): string
  /** A stream of events, as it comes out of the proxy. */
  stream(path: string, headers: Record<string, string>): Promise<EventStream>
}

/** nginx with this site, and a client that trusts its certificate. */
export async function startProxy(t: Test, siteFile: string, ports: readonly number[]): Promise<Proxy> {
  const nginx = await startNginx(siteFile, ports)
  const agent = new Agent({ keepAlive: true, ca: nginx.certificate, servername: 'localhost' })
  t.after(async () => {
    agent.destroy()
    await nginx.stop()
  })
  return {
    log: nginx.log,
    stream: (path, headers) =>
      EventStream.of(request({ host: '127.0.0.1', port: nginx.port, agent, path, headers })),
    ask: (path, { method = 'GET', body, headers = {}, from, readsAfterMs = 0 }: Asked = {}) =>
      new Promise((resolve, reject) => {
        const place = { host: '127.0.0.1', port: nginx.port, agent, ...(from && { localAddress: from }) }
        const sent = request({ ...place, path, method, headers }, async (answer) => {
          const chunks: Buffer[] = []
          try {
            await new Promise((read) => setTimeout(read, readsAfterMs))
            for await (const chunk of answer) chunks.push(chunk as Buffer)
            const text = Buffer.concat(chunks).toString()
            resolve({ status: answer.statusCode ?? 0, headers: answer.headers, text })
          } catch (error) {
            reject(error)
          }
        })
        sent.on('error', reject)
        sent.end(body)
      }),
  }
}

/** What happens on the way between nginx and the instances. */
export interface Way {
  /** So many of the next answers reach nobody. */
  answersToLose: number
  lostAnswers: number
}

/** Passes everything on to `port`, until the way loses an answer; answers with its own port. */
export async function startRelay(t: Test, port: number, way: Way): Promise<number> {
  const open = new Set<Socket>()
  const relay = createServer((near) => {
    const far = connect(port, '127.0.0.1')
    for (const socket of [near, far]) {
      open.add(socket)
      socket.on('error', () => {})
      socket.on('close', () => {
        open.delete(socket)
        near.destroy()
        far.destroy()
      })
    }
    near.pipe(far)
    far.on('data', (answer) => {
      if (way.answersToLose === 0) return void near.write(answer)
      way.answersToLose--
      way.lostAnswers++
      near.destroy()
    })
  })
  await new Promise<void>((resolve) => relay.listen(0, '127.0.0.1', resolve))
  t.after(async () => {
    for (const socket of open) socket.destroy()
    relay.close()
  })
  const address = relay.address()
  return typeof address === 'object' && address ? address.port : 0
}
