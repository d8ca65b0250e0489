import { mkdtemp, rm, utimes, writeFile } from 'node:fs/promises'
import { connect } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { TestContext } from 'node:test'
import type { Home, HomeParts } from '../src/assemble/homes.ts'
import { openWorkshop } from '../src/assemble/open-workshop.ts'
import { startServer } from '../src/assemble/start-server.ts'
import type { Workshop } from '../src/assemble/workshop.ts'
import { createMovableClock, type MovableClock } from '../src/clock.ts'
import type { Config } from '../src/config.ts'
import { Problem } from '../src/management/problem.ts'
import { locateFile } from '../src/providers/file/file-location.ts'
import type { Observation } from '../src/reporting/observe.ts'
import type { TimeLimits } from '../src/server/server.ts'
import { defaultShares } from '../src/shares/shares.ts'
import type { KeyMode, KeyScope, SheetAccess } from '../src/store/sql/schema.ts'
import { putMigratedStore } from './servers/migrated-store.ts'
import { usedThreads } from './used-threads.ts'

/** Every test's time begins here; nothing moves it but `clock.advanceMs`, unless the test wants it to pass. */
export const startMs = Date.UTC(2026, 10, 15, 9, 30)

/** The whole product in this process: real server, real SQLite, real files, a clock that the test moves. */
export interface Rowport {
  url: string
  port: number
  folder: string
  clock: MovableClock
  workshop: Workshop
  /** Everything reported since the start. */
  seen: Observation[]
  /** Writes a file into the test's folder and connects it as `acme/<slug>`. */
  connectFile(
    slug: string,
    fileName: string,
    content: string | Uint8Array,
    more?: ConnectWish,
  ): Promise<ConnectedSheet>
  createKey(more?: Partial<KeyWish>): Promise<{ value: string; id: string }>
  get(path: string, headers?: Record<string, string>): Promise<Response>
  /** The server alone; the store stays open to look at. */
  stopServer(): Promise<void>
  close(): Promise<void>
  /** Instances that were started beside this one. */
  others: Rowport[]
}

export interface ConnectedSheet {
  path: string
  id: string
  formA: string
  formB: string
}

interface ConnectWish {
  account?: string
  tab?: string
  access?: SheetAccess
  /** Files need none; for tests of what a credential's state does to its sheets. */
  credentialId?: string
}

interface KeyWish {
  account: string
  sheet: string
  mode: KeyMode
  scope: KeyScope
}

interface StartWish {
  /** What the account is called that there is from the start. */
  account?: string
  /** Of that account; without a wish it has no limits. */
  plan?: string
  timeLimits?: Partial<TimeLimits>
  settings?: Partial<Config>
  /** Time also passes by itself, as in production: for tests of how work is parted by how long it takes. */
  isTimePassing?: boolean
  /** Providers beside those of the table. */
  createMore?(parts: HomeParts): readonly Home[]
  /** Another instance on the same data folder, clock and account; it closes with the first. */
  beside?: Rowport
}

export async function startRowport(
  t: TestContext,
  {
    account = 'acme',
    plan = 'enterprise',
    timeLimits = {},
    settings = {},
    isTimePassing = false,
    createMore,
    beside,
  }: StartWish = {},
): Promise<Rowport> {
  const folder = beside?.folder ?? (await mkdtemp(join(tmpdir(), 'rowport-test-')))
  const clock = beside?.clock ?? createMovableClock(startMs, isTimePassing ? sinceNowMs() : undefined)
  const seen: Observation[] = []
  const observe = (observation: Observation) => void seen.push(observation)
  const config = configOf(folder, settings)
  if (!beside && config.store.kind === 'sqlite') await putMigratedStore(config.store.path)
  const workshop = await openWorkshop(config, clock, observe, {
    ...(createMore && { createMore }),
    threadSource: usedThreads,
  })
  const server = await startServer(config, workshop, clock, timeLimits)
  if (!beside) done(await workshop.accounts.create(account, plan))
  const url = `http://127.0.0.1:${server.port}`
  const others: Rowport[] = []
  let isOpen = true
  let stopping: Promise<unknown> | null = null
  async function stopServer() {
    stopping ??= server.close(0)
    await stopping
  }
  async function close() {
    if (!isOpen) return
    isOpen = false
    for (const other of others) await other.close()
    await stopServer()
    await workshop.close()
    if (!beside) await rm(folder, { recursive: true })
  }
  t.after(close)

  const rowport: Rowport = {
    url,
    port: server.port,
    folder,
    clock,
    workshop,
    seen,
    async connectFile(slug, fileName, content, more = {}) {
      const { account = 'acme', tab, access = 'private', credentialId = null } = more
      const path = join(folder, fileName)
      await writeFile(path, content)
      // It has been there for a while: what was written just now may still be being written.
      await utimes(path, anHourAgo(), anHourAgo())
      const place = locateFile(path, tab ?? null)
      const asked = {
        accountSlug: account,
        sheetSlug: slug,
        access,
        provider: 'file',
        credentialId,
        ...place,
      }
      const { id } = done(await workshop.sheets.connect(asked))
      return { path, id, formA: `/api/sheets/${account}/${slug}`, formB: `/v1/sheets/${id}` }
    },
    async createKey({ account = 'acme', sheet, mode = 'live', scope = 'read-write' } = {}) {
      const asked = { accountSlug: account, sheetSlug: sheet ?? null, name: 'test', mode, scope }
      const { value, record } = done(await workshop.keys.create(asked))
      return { value, id: record.id }
    },
    get: (path, headers = {}) => fetch(url + path, { headers }),
    stopServer,
    close,
    others,
  }
  beside?.others.push(rowport)
  return rowport
}

function sinceNowMs(): () => number {
  const begunMs = performance.now()
  return () => performance.now() - begunMs
}

/** By the file system's clock, which no test moves. */
function anHourAgo(): Date {
  return new Date(Date.now() - 60 * 60 * 1_000)
}

/** What every test's server has for settings, on the embedded store in `folder`. */
export function configOf(folder: string, settings: Partial<Config> = {}): Config {
  return {
    host: '127.0.0.1',
    port: 0,
    baseUrl: 'http://rowport.test',
    // Links in answers lead to the port that the test asked.
    isBaseUrlSet: false,
    npxPackage: null,
    dataFolder: folder,
    store: { kind: 'sqlite', path: join(folder, 'rowport.db') },
    redisUrl: null,
    logLevel: 'silent',
    maxSnapshotBytes: 64 * 1024 * 1024,
    plans: {},
    // All requests of a test come from one address.
    shares: { ...defaultShares, public_requests_per_minute: 1_000_000, connections_per_address: 10_000 },
    trustedProxies: [],
    refusalsPerMinute: 1_000_000,
    secret: 'the secret of the tests',
    formerSecrets: [],
    nextSecret: null,
    unreadyMs: 0,
    // Nobody in a test reaches Google itself.
    google: {
      client: null,
      apiKey: null,
      areWritesOff: false,
      endpoint: 'http://127.0.0.1:9',
      scope: 'drive.file',
    },
    signUpPlan: 'free',
    defaultPlan: 'free',
    mail: null,
    webhookNetworks: [],
    // Nor anybody who checks captchas.
    captcha: { endpoint: 'http://127.0.0.1:9', answerWithinMs: 5_000 },
    ...settings,
  }
}

export function bearer(key: { value: string }): Record<string, string> {
  return { Authorization: `Bearer ${key.value}` }
}

export function done<T>(outcome: T | Problem): T {
  if (outcome instanceof Problem) throw new Error(outcome.message)
  return outcome
}

/** Sends bytes as they are and returns all that came back until the server closed, or `withinMs` passed. */
export async function rawExchange(
  port: number,
  bytes: string | Uint8Array,
  withinMs = 5_000,
): Promise<RawAnswer> {
  const socket = connect({ port, host: '127.0.0.1' })
  const chunks: Buffer[] = []
  const closed = new Promise<boolean>((resolve) => {
    const timer = setTimeout(() => resolve(false), withinMs)
    socket.on('data', (chunk: Buffer) => chunks.push(chunk))
    socket.on('error', () => {})
    socket.on('close', () => {
      clearTimeout(timer)
      resolve(true)
    })
  })
  socket.write(bytes)
  const isClosed = await closed
  socket.destroy()
  const text = Buffer.concat(chunks).toString()
  const [head = '', ...rest] = text.split('\r\n\r\n')
  const status = Number(/^HTTP\/1\.1 (\d{3})/.exec(head)?.[1] ?? 0)
  return { status, head, body: rest.join('\r\n\r\n'), isClosed }
}

export interface RawAnswer {
  /** 0 when nothing came back. */
  status: number
  head: string
  body: string
  isClosed: boolean
}
