import { writeFile } from 'node:fs/promises'
import { Agent, type IncomingMessage, request } from 'node:http'
import { constants, setPriority } from 'node:os'
import { join } from 'node:path'
import { ownPage } from '../connect/visitor.ts'
import { type GoogleProcess, startGoogleProcess } from '../google/google-process.ts'
import { freshPlace, type Place, type RunningServer } from '../process/running.ts'
import { startPostgres } from '../servers/postgres.ts'
import { startRedis } from '../servers/redis.ts'

export type StoreKind = 'embedded' | 'PostgreSQL and Redis'

/** A server as an operator runs it, and two accounts on it that know nothing of each other. */
export interface Neighbourhood {
  server: RunningServer
  folder: string
  /** A local Google, where owners cannot bring files. */
  google: GoogleProcess | null
  attacker: Attacker
  /** All whose attack it is, `attacker` first. */
  attackers: readonly Attacker[]
  victim: Victim
  /** One more who knows nothing of the others, from the attacker's address. */
  newAttacker(account: string): Promise<Attacker>
  /** The operator connects a file of an account. */
  connectFile(
    account: string,
    slug: string,
    content: string | Uint8Array,
    more?: readonly string[],
  ): Promise<ConnectedFile>
  /** A command of the operator's; what it prints. */
  operate(words: readonly string[]): Promise<string>
}

export interface ConnectedFile {
  file: string
  /** Of its rows, at the API. */
  path: string
}

/** Other people's addresses, as far as a server on this machine can tell. */
export const attackerAddress = '127.0.0.66'

export interface Victim {
  apiKey: string
  /** Held in memory for an hour, and never touched. */
  cachedPath: string
  /** Of a file that its owner saves again and again. */
  movingPath: string
  movingFile: string
}

export interface Attacker {
  account: string
  apiKey: string
  cookie: string
  ask(asked: Asked): Promise<Answered>
  /** The same at the owner's API, signed in. */
  call(
    method: string,
    path: string,
    body?: string | Buffer,
    how?: Pick<Asked, 'leavesAfterMs'>,
  ): Promise<Answered>
  /** Cuts all connections; whatever is under way is answered with 0. Who asks again opens others. */
  leave(): void
}

export interface Answered {
  /** 0 for a connection that broke. */
  status: number
  /** With which it came, also where the connection broke later. */
  begunWith: number
  coding: string | null
  /** Of a write. */
  operationId: string | null
  /** As much of it as tells what it is. */
  body: string
}

/** What whoever was not answered has. */
export const nothing: Answered = { status: 0, begunWith: 0, coding: null, operationId: null, body: '' }

export interface Asked {
  path: string
  method?: string
  headers?: Record<string, string>
  body?: string | Buffer
  /** Gone then, answered or not. */
  leavesAfterMs?: number
  /** Sends no more and reads on. */
  closesItsHalf?: boolean
  /** From there, on a connection of its own. */
  address?: string
}

interface Test {
  after(work: () => Promise<void>): void
}

export async function startNeighbourhood(t: Test, kind: StoreKind): Promise<Neighbourhood> {
  // Uploads are for the embedded store alone.
  const google = kind === 'embedded' ? null : await startGoogleElsewhere(t)
  const env = {
    ...(await storeSettings(t, kind)),
    ...dummyGoogle,
    ...(google && { GOOGLE_ENDPOINT: google.url }),
    ROWPORT_SECRET: 'the secret of the street',
    // So that webhooks may call who is on this machine.
    ROWPORT_WEBHOOK_ALLOW: '127.0.0.0/8',
  }
  // Its processes end before what they work on.
  const place = await freshPlace(t)
  // As `npm start` and the image set it.
  const memory = { MALLOC_MMAP_THRESHOLD_: '65536' }
  const server = await place.start({ env: { ...env, ...memory, HOST: '0.0.0.0' } })
  const rowport = createOperator(place, env)
  await rowport(['account', 'create', 'victim', '--plan', 'business'])
  await rowport([
    'account',
    'plan',
    'victim',
    'business',
    '--per-minute',
    '1000000',
    '--per-month',
    '100000000',
  ])
  const connectFile: Neighbourhood['connectFile'] = async (account, slug, content, more = []) => {
    const ending = typeof content === 'string' ? 'csv' : 'xlsx'
    const file = join(place.folder, `${account}-${slug}.${ending}`)
    await writeFile(file, content)
    await rowport(['sheet', 'connect', `${account}/${slug}`, '--file', file])
    if (more.length > 0) await rowport(['sheet', 'set', `${account}/${slug}`, ...more])
    return { file, path: `/api/sheets/${account}/${slug}` }
  }
  const newAttacker = async (account: string) => {
    await rowport(['account', 'create', account, '--plan', 'pro'])
    return createAttacker(server.port, account, await keyOf(account), await sessionOf(account))
  }
  const cached = await connectFile('victim', 'cached', smallCsv(), ['--cache-seconds', '3600'])
  const moving = await connectFile('victim', 'moving', smallCsv())
  const attacker = await newAttacker('attacker')
  return {
    ...{ server, folder: place.folder, google, connectFile, newAttacker, operate: rowport },
    attacker,
    attackers: [attacker],
    victim: {
      apiKey: await keyOf('victim'),
      cachedPath: cached.path,
      movingPath: moving.path,
      movingFile: moving.file,
    },
  }

  async function keyOf(account: string): Promise<string> {
    const words = ['key', 'create', account, '--name', 'street', '--scope', 'read-write', '--json']
    return (JSON.parse(await rowport(words)) as { key: string }).key
  }

  async function sessionOf(account: string): Promise<string> {
    const link = await rowport(['account', 'link', account])
    const token = /token=([\w-]+)/.exec(link)?.[1] ?? ''
    const answer = await fetch(`${server.url}/dashboard/api/sign-in-link`, {
      method: 'POST',
      headers: { ...ownPage, 'Content-Type': 'application/json' },
      body: JSON.stringify({ token }),
    })
    if (answer.status !== 200) throw new Error(`No session by ${link}: ${await answer.text()}`)
    return (answer.headers.get('set-cookie') ?? '').split(';', 1)[0] ?? ''
  }
}

/** Enough for the way to Google to be offered. */
const dummyGoogle = { GOOGLE_CLIENT_ID: 'id.apps.googleusercontent.com', GOOGLE_CLIENT_SECRET: 'none' }

/** It has machines of its own: what it takes here must not be taken from the server, or from the victim. */
async function startGoogleElsewhere(t: Test): Promise<GoogleProcess> {
  const google = await startGoogleProcess(t)
  setPriority(google.pid, constants.priority.PRIORITY_BELOW_NORMAL)
  return google
}

async function storeSettings(t: Test, kind: StoreKind): Promise<Record<string, string>> {
  if (kind === 'embedded') return {}
  const [postgres, redis] = await Promise.all([startPostgres({ fsync: false }), startRedis()])
  t.after(async () => {
    await Promise.all([postgres.stop(), redis.stop()])
  })
  return { DATABASE_URL: postgres.url, REDIS_URL: redis.url }
}

function createOperator(
  place: Place,
  env: Record<string, string>,
): (words: readonly string[]) => Promise<string> {
  return async (words) => {
    const { code, stdout, stderr } = await place.rowportHere(words, { env })
    if (code !== 0) throw new Error(`rowport ${words.join(' ')}: ${stderr}`)
    return stdout
  }
}

function createAttacker(port: number, account: string, apiKey: string, cookie: string): Attacker {
  const agent = new Agent({ keepAlive: true, localAddress: attackerAddress })
  const attacker: Attacker = {
    ...{ account, apiKey, cookie },
    ask({ path, method = 'GET', headers = {}, body, leavesAfterMs, closesItsHalf, address }) {
      const { promise, resolve } = Promise.withResolvers<Answered>()
      let begunWith = 0
      const broken = () => resolve({ ...nothing, begunWith })
      const from = address === undefined ? { agent } : { agent: false, localAddress: address }
      const options = { host: '127.0.0.1', port, path, method, headers, ...from }
      const sent = request(options, (answer: IncomingMessage) => {
        begunWith = answer.statusCode ?? 0
        const { 'content-encoding': coding = null, 'operation-id': operationId } = answer.headers
        const head = { status: begunWith, begunWith, coding, operationId: operationId?.toString() ?? null }
        let start = ''
        answer.on('data', (chunk: Buffer) => {
          if (start.length < 2_000) start += chunk.toString('latin1')
        })
        answer.once('end', () => resolve({ ...head, body: start }))
        answer.once('error', broken)
      })
      sent.once('error', broken)
      sent.once('close', broken)
      if (leavesAfterMs !== undefined) setTimeout(() => sent.destroy(), leavesAfterMs)
      if (closesItsHalf) sent.once('finish', () => sent.socket?.end())
      sent.end(body)
      return promise
    },
    call(method, path, body, how = {}) {
      const type = typeof body === 'string' ? { 'Content-Type': 'application/json' } : {}
      const headers = { ...ownPage, ...type, Cookie: cookie }
      const asked = { method, path: `/dashboard/api${path}`, headers, ...how }
      return attacker.ask(body === undefined ? asked : { ...asked, body })
    },
    leave() {
      agent.destroy()
    },
  }
  return attacker
}

export function smallCsv(rows = 300): string {
  const lines = Array.from({ length: rows }, (_, n) => `Item ${n},${n % 11},${(n * 7_919) % 10_000}\n`)
  return `name,stock,price\n${lines.join('')}`
}

/** Words and numbers of which no two rows are alike. */
export function largeCsv(megabytes: number, columns = 10): string {
  const names = Array.from({ length: columns }, (_, n) => `column ${n}`).join(',')
  const row = (n: number) =>
    Array.from({ length: columns }, (_, c) => (c % 2 ? (n * 31 + c) % 99_991 : `word ${(n * 7 + c) % 9_973}`))
  const lines: string[] = []
  let bytes = 0
  for (let n = 0; bytes < megabytes * 2 ** 20; n++) {
    const line = `${row(n).join(',')}\n`
    bytes += line.length
    lines.push(line)
  }
  return `${names}\n${lines.join('')}`
}
