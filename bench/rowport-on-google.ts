import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { openWorkshop } from '../src/assemble/open-workshop.ts'
import { systemClock } from '../src/clock.ts'
import { parseConfig } from '../src/config.ts'
import { locateGoogleTab } from '../src/providers/google/google-location.ts'
import type { GoogleProcess } from '../test/google/google-process.ts'
import { done } from '../test/harness.ts'
import { freePort } from '../test/servers/free-port.ts'
import { connectOwner, googleClient, owner } from '../test/writing/google-ground.ts'
import { type Cores, endProcess, startProcess } from './processes.ts'

export interface RowportOnGoogle {
  url: string
  pid: number
  apiKey: string
  spreadsheetId: string
}

interface OnGoogleWish {
  values: unknown[][]
  /** Sheets of `acme` on that one tab. */
  slugs?: readonly string[]
  cacheSeconds?: number
  cores?: Cores
  /** Of the environment, beside the usual ones. */
  settings?: Record<string, string>
}

/** Rowport as an operator runs it, without limits, on one spreadsheet at a local Google. */
export async function startRowportOnGoogle(
  google: GoogleProcess,
  after: (end: () => Promise<void>) => void,
  { values, slugs = ['s'], cacheSeconds, cores = 'one', settings = {} }: OnGoogleWish,
): Promise<RowportOnGoogle> {
  const { spreadsheetId, refreshToken } = await google.newSpreadsheet(owner, values)
  const folder = await mkdtemp(join(tmpdir(), 'rowport-bench-'))
  after(() => rm(folder, { recursive: true }))
  const port = await freePort()
  const env = {
    ...process.env,
    ROWPORT_DATA: folder,
    PORT: String(port),
    ROWPORT_LOG_LEVEL: 'warn',
    GOOGLE_CLIENT_ID: googleClient.clientId,
    GOOGLE_CLIENT_SECRET: googleClient.clientSecret,
    GOOGLE_SCOPE: googleClient.scope,
    GOOGLE_ENDPOINT: google.url,
    ...settings,
  }
  const config = parseConfig(env, true)
  if ('problems' in config) throw new Error(config.problems.join('; '))
  const { store, sealing, accounts, sheets, keys, close } = await openWorkshop(config, systemClock, () => {})
  const account = done(await accounts.create('acme', 'enterprise'))
  const credentialId = await connectOwner(store, sealing, account.id, refreshToken)
  const tab = locateGoogleTab({ spreadsheetId, tabId: 0 })
  for (const sheetSlug of slugs) {
    const asked = { accountSlug: 'acme', sheetSlug, access: 'private', provider: 'google' } as const
    const { id } = done(await sheets.connect({ ...asked, credentialId, ...tab }))
    if (cacheSeconds !== undefined) await store.changeSheet(id, { cacheSeconds })
  }
  const wish = {
    accountSlug: 'acme',
    sheetSlug: null,
    name: 'bench',
    mode: 'live',
    scope: 'read-write',
  } as const
  const { value: apiKey } = done(await keys.create(wish))
  await close()
  const url = `http://127.0.0.1:${port}`
  const child = await startProcess(['src/main.ts'], env, `${url}/healthz`, { cores })
  after(() => endProcess(child))
  return { url, pid: child.pid ?? 0, apiKey, spreadsheetId }
}
