// npm run dev: the server and a local Google with two people and a few spreadsheets, to click through and to work on
// the pages. Nothing outlives it: what the local Google has granted it forgets, so what was saved of it must go, too.
import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { destination } from 'pino'
import { createEmulator, type Emulator } from '../emulator/server.ts'
import packageJson from '../package.json' with { type: 'json' }
import { openWorkshop } from '../src/assemble/open-workshop.ts'
import { startServer } from '../src/assemble/start-server.ts'
import type { Workshop } from '../src/assemble/workshop.ts'
import { systemClock } from '../src/clock.ts'
import { type Config, parseConfig } from '../src/config.ts'
import { signInUrl } from '../src/management/people/sign-in.ts'
import { Problem } from '../src/management/problem.ts'
import { inPlainWords } from '../src/plain-words.ts'
import { createLog } from '../src/reporting/log.ts'
import { ada, demoSpreadsheets, grace } from './dev/demo-spreadsheets.ts'
import { devScreen } from './dev/dev-screen.ts'

const account = 'demo'
const usualGooglePort = 8085
const drainMs = 1_000

const stopSignal = Promise.race(['SIGINT', 'SIGTERM'].map((signal) => once(process, signal)))
const dataFolder = await mkdtemp(join(tmpdir(), 'rowport-dev-'))
try {
  const { emulator, spreadsheetId } = await startGoogle()
  try {
    process.exitCode = await serveUntilStopped(emulator, spreadsheetId)
  } finally {
    await emulator.close()
  }
} finally {
  await rm(dataFolder, { recursive: true, force: true })
}

/** `spreadsheetId`: of the first of its spreadsheets, the lamp shop's. */
async function startGoogle(): Promise<{ emulator: Emulator; spreadsheetId: string }> {
  const emulator = await createEmulator({ port: usualGooglePort }).catch(() => createEmulator())
  const [first] = demoSpreadsheets.map((spreadsheet) => emulator.world.createSpreadsheet(spreadsheet))
  return { emulator, spreadsheetId: first?.spreadsheetId ?? '' }
}

async function serveUntilStopped(emulator: Emulator, spreadsheetId: string): Promise<number> {
  const config = parseConfig(
    {
      // All doors are open: it is for whoever works on them.
      ROWPORT_SIGN_UP: 'on',
      ...process.env,
      ROWPORT_DATA: dataFolder,
      GOOGLE_CLIENT_ID: 'rowport-dev.apps.googleusercontent.com',
      GOOGLE_CLIENT_SECRET: 'not a secret here',
      GOOGLE_ENDPOINT: emulator.url,
    },
    true,
  )
  if ('problems' in config) {
    process.stderr.write(`Rowport cannot start with these settings:\n  ${config.problems.join('\n  ')}\n`)
    return 1
  }
  try {
    await run(config, emulator, spreadsheetId)
    return 0
  } catch (error) {
    process.stderr.write(`Rowport could not start: ${inPlainWords(error, config)}\n`)
    return 1
  }
}

async function run(config: Config, emulator: Emulator, spreadsheetId: string): Promise<void> {
  const log = createLog(config.logLevel, destination({ dest: 2, sync: true }))
  const workshop = await openWorkshop(config, systemClock, log)
  try {
    const server = await startServer(config, workshop, systemClock)
    try {
      process.stdout.write(await screen(workshop, emulator, spreadsheetId))
      await stopSignal
    } finally {
      await server.close(drainMs)
    }
  } finally {
    await workshop.close()
  }
}

async function screen(workshop: Workshop, emulator: Emulator, spreadsheetId: string): Promise<string> {
  const { accounts, keys, signIn, baseUrl } = workshop
  done(await accounts.create(account, 'pro'))
  const key = {
    accountSlug: account,
    sheetSlug: null,
    name: 'dev',
    mode: 'live',
    scope: 'read-write',
  } as const
  return devScreen({
    version: packageJson.version,
    signInUrl: signInUrl(baseUrl, done(await signIn.createLink(account))),
    baseUrl,
    apiKey: done(await keys.create(key)).value,
    account,
    googleUrl: emulator.url,
    spreadsheetId,
    people: [ada, grace],
    dataFolder,
  })
}

function done<T>(outcome: T | Problem): T {
  if (outcome instanceof Problem) throw new Error(outcome.message)
  return outcome
}
