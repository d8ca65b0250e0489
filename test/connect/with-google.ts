import assert from 'node:assert/strict'
import type { TestContext } from 'node:test'
import type { Config, GoogleScope } from '../../src/config.ts'
import type { OwnerConnection } from '../../src/management/connections/owner-connection.ts'
import { type LocalGoogle, startLocalGoogle } from '../emulator/harness.ts'
import { type Rowport, startRowport } from '../harness.ts'
import type { Seen, Visitor } from './visitor.ts'

/** Rowport and a local Google that know each other. */
export interface Together {
  rowport: Rowport
  google: LocalGoogle
  /** From the button to where Google sends the owner back to, without going there. */
  askGoogle(visitor: Visitor): Promise<URL>
  /** The whole way: button, consent (as the emulator is told to decide), and back. */
  connect(visitor: Visitor, consent?: Consent): Promise<Seen>
  createSpreadsheet(title: string, more?: Partial<NewSpreadsheet>): Promise<string>
}

interface Consent {
  user?: string
  scopes?: string[]
  deny?: boolean
  /** What is chosen at Google on the way: all, or by title or id. */
  pick?: boolean | string[]
}

interface NewSpreadsheet {
  owner: string
  tabs: { title: string; values: unknown[][] }[]
  pickedBy: boolean
}

export const ada = 'ada@example.com'
export const grace = 'grace@example.com'
const client = { clientId: '123456789012-demo.apps.googleusercontent.com', clientSecret: 'demo secret' }
export const items = [
  ['name', 'price', 'in stock'],
  ['Oak table', 420, true],
  ['Desk lamp', 59.9, false],
]

/** The accounts' connections to Google, as commands and dashboard have them. */
export function googleOf({ workshop }: Pick<Rowport, 'workshop'>): OwnerConnection {
  const google = workshop.connections.find('google')
  assert.ok(google)
  return google
}

interface Wish extends Partial<Config> {
  scope?: GoogleScope
  /** Whether the operator has registered an app at Google. */
  isRegistered?: boolean
  apiKey?: string | null
}

export async function startTogether(
  t: TestContext,
  { scope = 'drive.file', isRegistered = true, apiKey = null, ...settings }: Wish = {},
): Promise<Together> {
  const google = await startLocalGoogle(t)
  const rowport = await startRowport(t, {
    settings: {
      baseUrl: 'http://127.0.0.1:0',
      google: {
        client: isRegistered ? client : null,
        apiKey,
        areWritesOff: false,
        endpoint: google.url,
        scope,
      },
      ...settings,
    },
  })
  // Real Google knows each client's redirect addresses to the letter.
  await google.control('POST', 'clients', {
    ...client,
    redirectUris: [`${rowport.workshop.baseUrl}/connect/google/callback`],
  })

  async function askGoogle(visitor: Visitor): Promise<URL> {
    const toGoogle = await visitor.call<{ url: string }>('POST', '/google/connect', { returnTo: '/connect' })
    assert.equal(toGoogle.status, 200, toGoogle.text)
    const answer = await fetch(toGoogle.json.url, { redirect: 'manual' })
    const back = answer.headers.get('location')
    assert.ok(back, `Google did not send anybody back: ${await answer.text()}`)
    return new URL(back)
  }

  return {
    rowport,
    google,
    askGoogle,
    async connect(visitor, { user = ada, ...consent } = {}) {
      await google.control('POST', 'settings', { autoConsent: { user, ...consent } })
      const { pathname, search } = await askGoogle(visitor)
      return visitor.get(pathname + search)
    },
    async createSpreadsheet(
      title,
      { owner = ada, tabs = [{ title: 'Items', values: items }], ...more } = {},
    ) {
      const made = await google.control('POST', 'spreadsheets', { title, owner, tabs, ...more })
      return String(made.spreadsheetId)
    },
  }
}
