import assert from 'node:assert/strict'
import type { TestContext } from 'node:test'
import type { MovableClock } from '../../src/clock.ts'
import type { Config, GoogleSetting } from '../../src/config.ts'
import { locateGoogleTab } from '../../src/providers/google/google-location.ts'
import { tokenIdentity } from '../../src/providers/remote/access-tokens.ts'
import type { Store } from '../../src/store/store.ts'
import { type LocalGoogle, startLocalGoogle } from '../emulator/harness.ts'
import { plenty } from '../google/writing-ground.ts'
import { bearer, done, type Rowport, startRowport } from '../harness.ts'

/** Rowport and a local Google behind it, with sheets that are read and written through the API alone. */
export interface GoogleGround {
  rowport: Rowport
  /** All of them, `rowport` first, on one data folder. */
  instances: Rowport[]
  local: LocalGoogle
  newSheet(slug: string, rows: readonly (readonly unknown[])[]): Promise<GoogleSheet>
}

export interface GoogleSheet {
  spreadsheetId: string
  /** A request on the sheet; `path` is what follows its address, such as `/5`. */
  ask(method: string, path?: string, wish?: AskWish): Promise<Asked>
  /** All rows as they lie at Google, the header among them. */
  cells(): Promise<unknown[][]>
  markers(): Promise<{ metadataId: number; metadataValue: string }[]>
  batchUpdate(...requests: object[]): Promise<void>
}

export interface AskWish {
  body?: unknown
  key?: string
  ifMatch?: string
  /** Which of the instances is asked; the first without it. */
  instance?: number
}

export interface Asked {
  status: number
  headers: Headers
  // biome-ignore lint/suspicious/noExplicitAny: a test knows what it asked for
  body: any
}

export const owner = 'ada@example.com'
export const scope = 'https://www.googleapis.com/auth/spreadsheets'
export const googleClient = { clientId: 'client', clientSecret: 'secret', scope: 'spreadsheets' } as const

/** As a server's settings have it. */
export function googleAt(endpoint: string): GoogleSetting {
  const { scope, ...client } = googleClient
  return { client, apiKey: null, areWritesOff: false, endpoint, scope }
}

export async function startGoogleGround(
  t: TestContext,
  {
    rations = plenty,
    speed = 1,
    instances: count = 1,
    settings = {},
  }: { rations?: typeof plenty; speed?: number; instances?: number; settings?: Partial<Config> } = {},
): Promise<GoogleGround> {
  const local = await startLocalGoogle(t)
  // Its own kind of setting has no rations: everyone has the same, but for a test without time to wait.
  const google = { ...googleAt(local.url), rations }
  const rowport = await startRowport(t, { settings: { google, ...settings } })
  const instances = [rowport]
  while (instances.length < count)
    instances.push(await startRowport(t, { settings: { google, ...settings }, beside: rowport }))
  runClock(t, rowport.clock, speed)
  const { store, sealing, accounts } = rowport.workshop
  const { refresh_token, access_token } = await local.tokens(owner, [scope])
  const account = done(await accounts.find('acme'))
  const credentialId = await connectOwner(store, sealing, account.id, refresh_token)
  const headers = bearer(await rowport.createKey())

  return {
    rowport,
    instances,
    local,
    async newSheet(slug, rows) {
      const made = await local.control('POST', 'spreadsheets', {
        title: slug,
        owner,
        tabs: [{ title: 'Items' }],
      })
      const spreadsheetId = String(made.spreadsheetId)
      const call = async (method: string, path: string, body?: unknown) => {
        const answer = await local.api(access_token, method, `/v4/spreadsheets/${spreadsheetId}${path}`, body)
        const parsed = (await answer.json()) as Record<string, unknown>
        assert.equal(answer.status, 200, JSON.stringify(parsed))
        return parsed
      }
      await call('PUT', '/values/Items!A1?valueInputOption=RAW', { values: rows })
      const place = locateGoogleTab({ spreadsheetId, tabId: await tabIdOf(call) })
      const asked = { accountSlug: 'acme', sheetSlug: slug, access: 'private', provider: 'google' } as const
      done(await rowport.workshop.sheets.connect({ ...asked, credentialId, ...place }))
      return {
        spreadsheetId,
        async ask(method, path = '', { body, key, ifMatch, instance = 0 } = {}) {
          const answer = await fetch(`${instances[instance]?.url}/api/sheets/acme/${slug}${path}`, {
            method,
            headers: {
              ...headers,
              ...(key === undefined ? {} : { 'Idempotency-Key': key }),
              ...(ifMatch === undefined ? {} : { 'If-Match': ifMatch }),
            },
            ...(body === undefined ? {} : { body: JSON.stringify(body) }),
          })
          return { status: answer.status, headers: answer.headers, body: await answer.json() }
        },
        async cells() {
          const read = await call('GET', '/values/Items?valueRenderOption=UNFORMATTED_VALUE')
          return (read.values ?? []) as unknown[][]
        },
        async markers() {
          const lookup = { developerMetadataLookup: { metadataKey: 'rowport' } }
          const found = await call('POST', '/developerMetadata:search', { dataFilters: [lookup] })
          return ((found.matchedDeveloperMetadata ?? []) as { developerMetadata: never }[]).map(
            ({ developerMetadata }) => developerMetadata,
          )
        },
        async batchUpdate(...requests) {
          await call('POST', ':batchUpdate', { requests })
        },
      }
    },
  }
}

export async function connectOwner(
  store: Store,
  sealing: Rowport['workshop']['sealing'],
  accountId: string,
  refreshToken: string,
): Promise<string> {
  const { id } = await store.saveCredential({
    accountId,
    provider: 'google',
    subject: owner,
    label: owner,
    scopes: scope,
    seal: (identity) => ({
      sealedToken: sealing.seal(refreshToken, tokenIdentity(identity)),
      keyId: sealing.keyId,
    }),
  })
  return id
}

async function tabIdOf(call: (method: string, path: string) => Promise<Record<string, unknown>>) {
  const { sheets } = await call('GET', '?fields=sheets.properties')
  return (sheets as { properties: { sheetId?: number } }[])[0]?.properties.sheetId ?? 0
}

/** Time passes, only faster: what a ration or a pause is for is not what these tests are about. */
function runClock(t: TestContext, clock: MovableClock, speed: number): void {
  let lastMs = performance.now()
  const timer = setInterval(() => {
    const nowMs = performance.now()
    clock.advanceMs((nowMs - lastMs) * speed)
    lastMs = nowMs
  }, 2)
  t.after(() => clearInterval(timer))
}
