import { execFile } from 'node:child_process'
import { join } from 'node:path'
import type { TestContext } from 'node:test'
import { promisify } from 'node:util'
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client'

/** What an agent's program can ask, whichever it is. */
export interface OthersClient {
  toolNames(): Promise<string[]>
  call(name: string, args?: Record<string, unknown>): Promise<Told>
  resourceUris(): Promise<string[]>
  read(uri: string): Promise<string>
}

export interface Told {
  text: string
  isError: boolean
}

export interface Reached {
  url: string
  key: string
  /** For what a program keeps. */
  folder: string
}

export type Connect = (t: TestContext, reached: Reached) => Promise<OthersClient>

export const othersClients: Record<string, Connect> = {
  'client 2.4.0, 2026-07-28': (t, reached) => connectSecond(t, reached, { pin: '2026-07-28' }),
  'client 2.4.0, as in 2025': (t, reached) => connectSecond(t, reached, 'legacy'),
  'sdk 1.32.2': connectFirst,
  'inspector 2.12.0 --cli': async (_, reached) => inspector(reached),
}

async function connectSecond(
  t: TestContext,
  { url, key }: Reached,
  mode: { pin: string } | 'legacy',
): Promise<OthersClient> {
  const client = new Client({ name: 'test', version: '1.0.0' }, { versionNegotiation: { mode } })
  const requestInit = { headers: { Authorization: `Bearer ${key}` } }
  await client.connect(new StreamableHTTPClientTransport(new URL(url), { requestInit }))
  t.after(() => client.close())
  return overClient(client)
}

async function connectFirst(t: TestContext, { url, key }: Reached): Promise<OthersClient> {
  const { Client: FirstClient } = await tool('@modelcontextprotocol/sdk/client/index.js')
  const { StreamableHTTPClientTransport: Transport } = await tool(
    '@modelcontextprotocol/sdk/client/streamableHttp.js',
  )
  const client = new FirstClient({ name: 'test', version: '1.0.0' })
  const requestInit = { headers: { Authorization: `Bearer ${key}` } }
  await client.connect(new Transport(new URL(url), { requestInit }))
  t.after(() => client.close())
  return overClient(client)
}

/** Both generations of the client have these methods. */
function overClient(
  client: Pick<Client, 'listTools' | 'callTool' | 'listResources' | 'readResource'>,
): OthersClient {
  return {
    toolNames: async () => (await client.listTools()).tools.map(({ name }) => name),
    call: async (name, args = {}) => toldIn(await client.callTool({ name, arguments: args })),
    resourceUris: async () => (await client.listResources()).resources.map(({ uri }) => uri),
    read: async (uri) => textIn((await client.readResource({ uri })).contents),
  }
}

/** Each call is a process: it connects, asks, prints, and ends. */
function inspector({ url, key, folder }: Reached): OthersClient {
  return {
    toolNames: async () =>
      (await ask(['--method', 'tools/list', '--strict'])).tools.map(({ name }: { name: string }) => name),
    call: async (name, args = {}) => {
      const given = ['--tool-name', name, '--tool-args-json', JSON.stringify(args)]
      return toldIn(await ask(['--method', 'tools/call', ...given]))
    },
    resourceUris: async () =>
      (await ask(['--method', 'resources/list'])).resources.map(({ uri }: { uri: string }) => uri),
    read: async (uri) => textIn((await ask(['--method', 'resources/read', '--uri', uri])).contents),
  }

  // biome-ignore lint/suspicious/noExplicitAny: It prints what the server said, whatever that was.
  async function ask(args: string[]): Promise<any> {
    const program = join(import.meta.dirname, 'node_modules/.bin/mcp-inspector')
    const where = ['--cli', '--server-url', url, '--transport', 'http', '--connect-timeout', '60000']
    const how = ['--header', `Authorization: Bearer ${key}`, '--format', 'json', '--quiet']
    const ran = promisify(execFile)(process.execPath, [program, ...where, ...how, ...args], {
      env: { ...process.env, HOME: folder },
      timeout: 90_000,
    })
    // A tool's refusal is printed like any answer, and told by how the program ends.
    const { stdout, stderr } = await ran.catch((error) => {
      if (error.code === endedByRefusal) return error
      throw new Error(`${args.join(' ')} ended with ${error.code}: ${error.stderr}`)
    })
    if (stdout === '') throw new Error(stderr)
    return JSON.parse(stdout).result
  }
}

const endedByRefusal = 5

function toldIn(result: Record<string, unknown>): Told {
  const { content, isError } = result as { content: { text: string }[]; isError?: boolean }
  return { text: textIn(content), isError: isError === true }
}

function textIn(parts: readonly unknown[]): string {
  return (parts as { text: string }[]).map(({ text }) => text).join('\n')
}

/** A package of this folder. Its types are not there before it is installed, so it has none here. */
// biome-ignore lint/suspicious/noExplicitAny: What others' packages export, their own types would say.
export function tool(name: string): Promise<any> {
  return import(name)
}
