import { createVisitor } from '../connect/visitor.ts'
import type { GoogleProcess } from '../google/google-process.ts'
import type { Attacker, Neighbourhood } from './neighbourhood.ts'

/** What the dashboard is told of where a table lies. */
type Source =
  | { provider: 'file'; path: string; tab: null }
  | { provider: 'google'; spreadsheetId: string; tabId: number }

const withGoogle = new WeakSet<Attacker>()
const sources = new WeakMap<Attacker, Map<string, Source>>()

/** A table as an owner brings it, without the operator: uploaded, or, where nobody uploads, at the owner's own Google. */
export async function bringTable(street: Neighbourhood, name: string, csv: string): Promise<void> {
  const { attacker } = street
  const brought = sources.get(attacker) ?? new Map<string, Source>()
  sources.set(attacker, brought.set(name, await bring(street, name, csv)))
}

export function askPreview(attacker: Attacker, table: string) {
  return attacker.call('POST', '/preview', JSON.stringify(sourceOf(attacker, table)))
}

export function leavePreview(attacker: Attacker, table: string, leavesAfterMs: number) {
  return attacker.call('POST', '/preview', JSON.stringify(sourceOf(attacker, table)), { leavesAfterMs })
}

export function askToConnect(attacker: Attacker, slug: string, table: string) {
  const wish = { slug, access: 'private', source: sourceOf(attacker, table) }
  return attacker.call('POST', '/sheets', JSON.stringify(wish))
}

function sourceOf(attacker: Attacker, table: string): Source {
  const source = sources.get(attacker)?.get(table)
  if (!source) throw new Error(`${attacker.account} has brought no ${table}`)
  return source
}

async function bring(
  { server, google, attacker }: Neighbourhood,
  name: string,
  csv: string,
): Promise<Source> {
  if (!google) return uploaded(attacker, `${name}.csv`, csv)
  await connectGoogle(google, server.port, attacker)
  const values = csv
    .trimEnd()
    .split('\n')
    .map((line) => line.split(',').map((cell) => (/^\d+$/.test(cell) ? Number(cell) : cell)))
  const owner = addressOf(attacker)
  const tabs = [{ title: 'Sheet1', values }]
  const { spreadsheetId } = await google.control('POST', 'spreadsheets', { title: name, owner, tabs })
  return { provider: 'google', spreadsheetId: String(spreadsheetId), tabId: 0 }
}

/** What is not there attacks nobody. */
async function uploaded(attacker: Attacker, path: string, content: string): Promise<Source> {
  const { status, body } = await attacker.call('POST', `/files?name=${path}`, Buffer.from(content))
  if (status !== 201) throw new Error(`${path} was not taken: ${status} ${body}`)
  return { provider: 'file', path, tab: null }
}

/** The way that a browser goes. */
async function connectGoogle(google: GoogleProcess, port: number, attacker: Attacker): Promise<void> {
  if (withGoogle.has(attacker)) return
  await google.control('POST', 'settings', { autoConsent: { user: addressOf(attacker) } })
  const browser = createVisitor({ port })
  browser.cookie = attacker.cookie
  const { json, text } = await browser.call<{ url?: string }>('POST', '/google/connect', {
    returnTo: '/connect',
  })
  const consented = await fetch(json.url ?? '', { redirect: 'manual' })
  const { pathname, search } = new URL(consented.headers.get('location') ?? '', json.url)
  const { location } = await browser.get(pathname + search)
  if (!location.includes('google=connected')) throw new Error(`Google was not connected: ${text} ${location}`)
  withGoogle.add(attacker)
}

function addressOf({ account }: Attacker): string {
  return `${account}@example.com`
}
