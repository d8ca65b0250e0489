import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { get } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { openWorkshop } from '../src/assemble/open-workshop.ts'
import type { Workshop } from '../src/assemble/workshop.ts'
import { systemClock } from '../src/clock.ts'
import { parseConfig } from '../src/config.ts'
import { Problem } from '../src/management/problem.ts'
import { locateFile } from '../src/providers/file/file-location.ts'
import { freePort } from '../test/servers/free-port.ts'
import { onServerCore } from './load.ts'

export interface RunningProcess {
  url: string
  pid: number
  stop(): Promise<void>
}

/** Rowport as an operator runs it, with one sheet and one key on a data folder of its own. */
export interface RunningRowport extends RunningProcess {
  apiKey: string
  sheetPath: string
  /** The spreadsheet itself. */
  filePath: string
}

/** One, so that a server under load is compared and not how many threads it has; all, where those are its point. */
export type Cores = 'one' | 'all'

const account = 'bench'
const sheet = 'list'
/** Text is a CSV file, bytes are a workbook. */
export type ListContent = string | Uint8Array
const listFileOf = (content: ListContent) => (typeof content === 'string' ? 'list.csv' : 'list.xlsx')
export const listAddress = { form: 'a', accountSlug: account, sheetSlug: sheet } as const
export const neverReached = 999_999_999

/** `settings`: of the environment, beside the usual ones. */
export async function startRowport(
  content: ListContent,
  requestsPerMinute = neverReached,
  cores: Cores = 'one',
  settings: Record<string, string> = {},
): Promise<RunningRowport> {
  const folder = await mkdtemp(join(tmpdir(), 'rowport-bench-'))
  const own = { ROWPORT_DATA: folder, ...settings }
  const apiKey = await inWorkshop(own, (workshop) =>
    connectSheet(workshop, folder, content, requestsPerMinute),
  )
  const { stop, ...server } = await startAnother(own, cores)
  return {
    ...server,
    apiKey,
    sheetPath: `/api/sheets/${account}/${sheet}`,
    filePath: join(folder, listFileOf(content)),
    async stop() {
      await stop()
      await rm(folder, { recursive: true })
    },
  }
}

/** What an operator's commands do, on the store that these settings name. */
export async function inWorkshop<T>(
  settings: Record<string, string>,
  work: (workshop: Workshop) => Promise<T>,
): Promise<T> {
  const config = parseConfig({ ...usualSettings(), ...settings }, true)
  if ('problems' in config) throw new Error(config.problems.join('; '))
  const workshop = await openWorkshop(config, systemClock, () => {})
  try {
    return await work(workshop)
  } finally {
    await workshop.close()
  }
}

function usualSettings() {
  return {
    ...process.env,
    ROWPORT_LOG_LEVEL: 'warn',
    // The guard would turn refusals into 429 after a while; here they are what is measured.
    ROWPORT_REFUSALS_PER_MINUTE: '1000000',
  }
}

/** One more on the same store. */
export async function startAnother(
  settings: Record<string, string>,
  cores: Cores = 'one',
): Promise<RunningProcess> {
  const port = await freePort()
  const env = { ...usualSettings(), PORT: String(port), ...settings }
  const child = await startProcess(['src/main.ts'], env, `http://127.0.0.1:${port}/healthz`, { cores })
  return { url: `http://127.0.0.1:${port}`, pid: child.pid ?? 0, stop: () => endProcess(child) }
}

/** An answer as it came over the wire, compressed or not. */
export interface RawAnswer {
  status: number
  /** Names and values alternate. */
  headers: string[]
  body: Buffer
}

/** Not `fetch`: that asks for compression by itself, and undoes it. */
export function ask(url: string, headers: Record<string, string>): Promise<RawAnswer> {
  const { promise, resolve, reject } = Promise.withResolvers<RawAnswer>()
  get(url, { headers, agent: false }, async (response) => {
    const chunks: Buffer[] = []
    for await (const chunk of response) chunks.push(chunk as Buffer)
    resolve({ status: response.statusCode ?? 0, headers: response.rawHeaders, body: Buffer.concat(chunks) })
  }).on('error', reject)
  return promise
}

/** A bare `node:http` server that answers every request with the same status, headers and body. */
export async function startBare({ status, headers, body }: RawAnswer): Promise<RunningProcess> {
  const folder = await mkdtemp(join(tmpdir(), 'rowport-bench-'))
  const bodyPath = join(folder, 'body')
  await writeFile(bodyPath, body)
  const port = await freePort()
  // Node adds these by itself.
  const own = headers.filter((_, at) => {
    const name = headers[at - (at % 2)]?.toLowerCase() ?? ''
    return !['date', 'connection', 'keep-alive', 'transfer-encoding'].includes(name)
  })
  const env = { ...process.env, BARE: JSON.stringify({ port, status, headers: own, bodyPath }) }
  const child = await startProcess(['bench/bare-server.ts'], env, `http://127.0.0.1:${port}/`)
  return {
    url: `http://127.0.0.1:${port}`,
    pid: child.pid ?? 0,
    async stop() {
      await endProcess(child)
      await rm(folder, { recursive: true })
    },
  }
}

/** The key for a sheet of these rows, with limits that are counted for every request. */
export async function connectSheet(
  workshop: Workshop,
  folder: string,
  content: ListContent,
  requestsPerMinute: number,
): Promise<string> {
  const path = join(folder, listFileOf(content))
  await writeFile(path, content)
  done(await workshop.accounts.create(account, 'pro'))
  const own = { requestsPerMinute, requestsPerMonth: neverReached }
  done(await workshop.accounts.setPlan(account, 'pro', own))
  const place = { provider: 'file', ...locateFile(path, null) }
  done(await workshop.sheets.connect({ accountSlug: account, sheetSlug: sheet, access: 'private', ...place }))
  const wish = {
    accountSlug: account,
    sheetSlug: null,
    name: 'bench',
    mode: 'live',
    scope: 'read-write',
  } as const
  return done(await workshop.keys.create(wish)).value
}

export function done<T>(outcome: T | Problem): T {
  if (outcome instanceof Problem) throw new Error(outcome.message)
  return outcome
}

/** A start takes half a second; a crowded machine may take a hundred times as long. */
const upWithinMs = 60_000

/** A Node process that is there once `healthUrl` answers. */
export async function startProcess(
  args: string[],
  env: NodeJS.ProcessEnv,
  healthUrl: string,
  { cores = 'one', folder }: { cores?: Cores; folder?: string } = {},
): Promise<ChildProcess> {
  const command = [process.execPath, ...args]
  const [program = '', ...rest] = cores === 'one' ? onServerCore(command) : command
  const child = spawn(program, rest, { env, cwd: folder, stdio: ['ignore', 'ignore', 'inherit'] })
  const killWithUs = () => child.kill('SIGKILL')
  process.once('exit', killWithUs)
  child.once('exit', () => process.removeListener('exit', killWithUs))
  const endMs = performance.now() + upWithinMs
  while (performance.now() < endMs && child.exitCode === null) {
    const isUp = await fetch(healthUrl).then(
      (answer) => answer.arrayBuffer().then(() => true),
      () => false,
    )
    if (isUp) return child
    await new Promise((resolve) => setTimeout(resolve, 50))
  }
  child.kill('SIGKILL')
  throw new Error(`${args.join(' ')} did not come up`)
}

export async function endProcess(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null) return
  child.kill('SIGTERM')
  await once(child, 'exit')
}
