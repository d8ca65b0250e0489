import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { openWorkshop, type Workshop } from '../src/assemble.ts'
import { systemClock } from '../src/clock.ts'
import { parseConfig } from '../src/config.ts'
import { Problem } from '../src/management/problem.ts'
import { locateFile } from '../src/sheets/file/file-location.ts'
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
}

const account = 'bench'
const sheet = 'list'
export const listAddress = { form: 'a', accountSlug: account, sheetSlug: sheet } as const
export const neverReached = 999_999_999

export async function startRowport(csv: string, requestsPerMinute = neverReached): Promise<RunningRowport> {
  const folder = await mkdtemp(join(tmpdir(), 'rowport-bench-'))
  const port = await freePort()
  const env = {
    ...process.env,
    ROWPORT_DATA: folder,
    PORT: String(port),
    ROWPORT_LOG_LEVEL: 'warn',
    // The guard would turn refusals into 429 after a while; here they are what is measured.
    ROWPORT_REFUSALS_PER_MINUTE: '1000000',
  }
  const config = parseConfig(env, true)
  if ('problems' in config) throw new Error(config.problems.join('; '))
  const workshop = await openWorkshop(config, systemClock, () => {})
  const apiKey = await connectSheet(workshop, folder, csv, requestsPerMinute)
  await workshop.close()
  const child = await start(['src/main.ts'], env, `http://127.0.0.1:${port}/healthz`)
  return {
    url: `http://127.0.0.1:${port}`,
    pid: child.pid ?? 0,
    apiKey,
    sheetPath: `/api/sheets/${account}/${sheet}`,
    async stop() {
      await end(child)
      await rm(folder, { recursive: true })
    },
  }
}

/** A bare `node:http` server that answers every request with the same status, headers and body. */
export async function startBare(answer: Response): Promise<RunningProcess> {
  const port = await freePort()
  const body = Buffer.from(await answer.arrayBuffer()).toString('base64')
  // Node adds these by itself.
  const headers = [...answer.headers]
    .filter(([name]) => !['date', 'connection', 'keep-alive'].includes(name))
    .flat()
  const env = { ...process.env, BARE: JSON.stringify({ port, status: answer.status, headers, body }) }
  const child = await start(['bench/bare-server.ts'], env, `http://127.0.0.1:${port}/`)
  return { url: `http://127.0.0.1:${port}`, pid: child.pid ?? 0, stop: () => end(child) }
}

/** The key for a sheet of these rows, with limits that are counted for every request. */
export async function connectSheet(
  workshop: Workshop,
  folder: string,
  csv: string,
  requestsPerMinute: number,
): Promise<string> {
  const path = join(folder, 'list.csv')
  await writeFile(path, csv)
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

function done<T>(outcome: T | Problem): T {
  if (outcome instanceof Problem) throw new Error(outcome.message)
  return outcome
}

async function start(args: string[], env: NodeJS.ProcessEnv, healthUrl: string): Promise<ChildProcess> {
  const [program = '', ...rest] = onServerCore([process.execPath, ...args])
  const child = spawn(program, rest, { env, stdio: ['ignore', 'ignore', 'inherit'] })
  for (let tries = 0; tries < 200 && child.exitCode === null; tries++) {
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

async function end(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null) return
  child.kill('SIGTERM')
  await once(child, 'exit')
}
