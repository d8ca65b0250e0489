import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { isAbsolute, join, relative } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { destination } from 'pino'
import packageJson from '../package.json' with { type: 'json' }
import { openWorkshop } from './assemble/open-workshop.ts'
import { bareRowportCommand, rowportCommand } from './assemble/rowport-command.ts'
import { startServer } from './assemble/start-server.ts'
import type { Workshop } from './assemble/workshop.ts'
import { systemClock } from './clock.ts'
import { type Config, parseConfig } from './config.ts'
import { StoreUnwritable } from './errors.ts'
import { filesScreen } from './first-start/files-screen.ts'
import { firstScreen } from './first-start/first-screen.ts'
import { createSample, findSampleFile, sampleAccount } from './first-start/sample.ts'
import { connectFiles, filesAccount, type ServedLinks } from './first-start/served-files.ts'
import { boundHeapGrowth, ownHeap } from './heap-growth.ts'
import { signInUrl } from './management/people/sign-in.ts'
import { Problem } from './management/problem.ts'
import { inPlainWords } from './plain-words.ts'
import { createLog } from './reporting/log.ts'
import type { Observe } from './reporting/observe.ts'
import { idleTimers } from './timers.ts'

/** Requests under way at SIGTERM get so long to finish. */
const drainMs = 10_000

const noLinks: ServedLinks = { links: [], keyFile: null }

/** What `rowport serve` is told besides the settings. */
export interface ServeWish {
  /** Each becomes a sheet. Without any, the server has what is in its store. */
  files: readonly string[]
  /** Spreadsheets elsewhere: each becomes a sheet as well. */
  links?: ServedLinks
  googleApiKey?: string | undefined
  port?: string | undefined
  dataFolder?: string | undefined
}

/** Resolves with the exit code when the server has stopped. */
export async function serve({
  files,
  links = noLinks,
  googleApiKey,
  port,
  dataFolder,
}: ServeWish): Promise<number> {
  const isTemporary =
    files.length + links.links.length > 0 &&
    !(dataFolder ?? process.env.ROWPORT_DATA) &&
    !process.env.DATABASE_URL
  if (!isTemporary) return serveFrom(dataFolder)
  const temporary = await mkdtemp(join(tmpdir(), 'rowport-'))
  try {
    return await serveFrom(temporary)
  } finally {
    await rm(temporary, { recursive: true, force: true })
  }

  /** Whoever gave an option has never heard of the setting that it stands for. */
  function asTyped(setting: string): string {
    if (setting === 'PORT' && port !== undefined) return '--port'
    return setting === 'GOOGLE_API_KEY' && googleApiKey !== undefined ? '--google-api-key' : setting
  }

  async function serveFrom(data: string | undefined): Promise<number> {
    const env = {
      ...process.env,
      ...(data !== undefined && { ROWPORT_DATA: data }),
      ...(googleApiKey !== undefined && { GOOGLE_API_KEY: googleApiKey }),
      ...(port !== undefined && { PORT: port }),
    }
    const config = parseConfig(env, process.stdout.isTTY)
    if ('problems' in config) {
      const problems = config.problems.map((problem) => problem.replace(/^\w+/, asTyped))
      process.stderr.write(`Rowport cannot start with these settings:\n  ${problems.join('\n  ')}\n`)
      return 1
    }
    try {
      await run(config, files, links, isTemporary)
      return 0
    } catch (error) {
      process.stderr.write(`Rowport could not start: ${inPlainWords(error, config)}\n`)
      return 1
    }
  }
}

/** The process: assemble → listen → say so → close in reverse. */
async function run(
  config: Config,
  files: readonly string[],
  links: ServedLinks,
  isTemporary: boolean,
): Promise<void> {
  const log = createLog(config.logLevel, destination({ dest: 2, sync: true }))
  const stopSignal = firstSignal()
  const workshop = await openWorkshop(config, systemClock, log)
  try {
    const server = await startServer(config, workshop, systemClock)
    const letGrow = boundHeapGrowth(ownHeap(), idleTimers)
    try {
      log({ event: 'server_listening', host: config.host, port: server.port, version: packageJson.version })
      process.stdout.write(
        files.length + links.links.length > 0
          ? await screenOfFiles(config, workshop, files, links, isTemporary)
          : await screen(config, workshop),
      )
      await tellUnwritableStore(workshop, log)
      log({ event: 'server_draining', signal: await stopSignal })
      server.announceEnd()
      await sleep(config.unreadyMs)
    } finally {
      letGrow()
      log({ event: 'server_stopped', ...(await server.close(drainMs)) })
    }
  } finally {
    await workshop.close()
  }
}

/** A server that can only read runs on, and whoever started it should not have to find out by a client. */
async function tellUnwritableStore({ store }: Workshop, log: Observe): Promise<void> {
  const problem = await store.ping().catch((error: unknown) => error)
  if (!(problem instanceof StoreUnwritable)) return
  log({ event: 'store_lost', cause: problem })
  process.stderr.write(
    `Rowport cannot write to its store: ${problem.reason}. Writes are refused until it can.\n`,
  )
}

/** Makes the sample only now that the server listens: a key made before a start that fails would never be seen. */
async function screen(config: Config, workshop: Workshop): Promise<string> {
  // The sample is a file of this machine: not for a store that others share.
  const isFirstStart = config.store.kind === 'sqlite' && (await workshop.store.countAccounts()) === 0
  const apiKey = isFirstStart ? await createSample(workshop, config.dataFolder) : null
  const sampleFile = await findSampleFile(workshop)
  const link = apiKey === null ? null : await workshop.signIn.createLink(sampleAccount)
  return firstScreen({
    version: packageJson.version,
    baseUrl: workshop.baseUrl,
    sampleFile: sampleFile && shortPath(sampleFile),
    apiKey,
    signInUrl: link === null || link instanceof Problem ? null : signInUrl(workshop.baseUrl, link),
    rowport: rowportCommand(config),
  })
}

async function screenOfFiles(
  config: Config,
  workshop: Workshop,
  files: readonly string[],
  links: ServedLinks,
  isTemporary: boolean,
): Promise<string> {
  const served = await connectFiles(workshop, files, links)
  if (served instanceof Problem) throw new Error(served.message)
  const link = await workshop.signIn.createLink(filesAccount)
  return filesScreen({
    ...served,
    version: packageJson.version,
    baseUrl: workshop.baseUrl,
    signInUrl: link instanceof Problem ? null : signInUrl(workshop.baseUrl, link),
    rowport: rowportCommand(config),
    bareRowport: bareRowportCommand(config.npxPackage),
    isTemporary,
    shortPath,
  })
}

function shortPath(path: string): string {
  if (!isAbsolute(path)) return path
  const fromHere = relative(process.cwd(), path)
  return fromHere.startsWith('..') ? path : `./${fromHere}`
}

/** The first signal asks for an end, the second insists. */
async function firstSignal(): Promise<string> {
  const signals = ['SIGINT', 'SIGTERM'] as const
  const first = await Promise.race(signals.map((signal) => once(process, signal).then(() => signal)))
  for (const signal of signals) process.once(signal, () => process.exit(1))
  return first
}

if (import.meta.main) {
  // What it makes is for its own user, whatever the umask of whoever starts it.
  process.umask(0o077)
  process.exitCode = await serve({ files: [] })
}
