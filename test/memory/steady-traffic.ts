import { Agent, type IncomingMessage, request } from 'node:http'
import { setTimeout as sleep } from 'node:timers/promises'
import { seededRandom } from '../../emulator/seeded-random.ts'
import type { Slug, ThreeSheets } from './three-sheets.ts'

export interface SteadyTraffic {
  /** Answers so far by their status; 0 for a connection that broke. */
  statuses: ReadonlyMap<number, number>
  stop(): Promise<void>
}

export interface Wish {
  slug: Slug
  method: string
  /** What follows the sheet's address. */
  path: string
  headers?: Record<string, string>
  body?: unknown
}

/**
 * Google allows an owner 60 reads and 60 writes a minute, and a write takes three or four reads: a write every 6 s and a look
 * at the spreadsheet every 30 s stay below that, with what `cache_seconds` asks for.
 */
const googleWriteEveryMs = 6_000
const googleLookEveryMs = 30_000
const writesOfAll = 0.2
const looksOfAll = 0.1

/** Sends each request when it is due, however long the ones before take. */
export function startTraffic(
  { server, apiKey }: ThreeSheets,
  rows: number,
  perSecond: number,
): SteadyTraffic {
  const agent = new Agent({ keepAlive: true, maxSockets: 32 })
  const statuses = new Map<number, number>()
  const underWay = new Set<Promise<void>>()
  const nextWish = wishes(rows, perSecond)
  let isOver = false
  const sending = send()

  return {
    statuses,
    async stop() {
      isOver = true
      await sending
      await Promise.all(underWay)
      agent.destroy()
    },
  }

  async function send(): Promise<void> {
    const begunMs = performance.now()
    for (let sent = 0; !isOver; sent++) {
      const dueMs = begunMs + (sent * 1_000) / perSecond
      await sleep(Math.max(1, dueMs - performance.now()))
      const answered = ask(nextWish()).then((status) => {
        statuses.set(status, (statuses.get(status) ?? 0) + 1)
        underWay.delete(answered)
      })
      underWay.add(answered)
    }
  }

  function ask({ slug, method, path, headers, body }: Wish): Promise<number> {
    const { promise, resolve } = Promise.withResolvers<number>()
    const options = { agent, method, headers: { Authorization: `Bearer ${apiKey}`, ...headers } }
    const asked = request(
      `${server.url}/api/sheets/acme/${slug}${path}`,
      options,
      (answer: IncomingMessage) => {
        answer.resume()
        answer.once('end', () => resolve(answer.statusCode ?? 0))
      },
    )
    asked.once('error', () => resolve(0))
    asked.end(body === undefined ? undefined : JSON.stringify(body))
    return promise
  }
}

/** The same requests in each run; a row that is added is deleted again two writes later. */
export function wishes(rows: number, perSecond: number): () => Wish {
  const random = seededRandom(20_261_118)
  const below = (limit: number) => Math.floor(random() * limit)
  const pick = <T>(list: readonly T[]) => list[below(list.length)] as T
  const writes: Record<Slug, number> = { csv: 0, xlsx: 0, google: 0 }
  let asked = 0

  return () => {
    const isDue = (everyMs: number) => asked % Math.round((everyMs / 1_000) * perSecond) === 0
    asked++
    if (isDue(googleWriteEveryMs)) return write('google')
    if (isDue(googleLookEveryMs)) return look('google')
    const chance = random()
    if (chance < writesOfAll) return write(pick(['csv', 'xlsx']))
    if (chance < writesOfAll + looksOfAll) return look(pick(['csv', 'xlsx']))
    return read(pick(['csv', 'xlsx', 'google']))
  }

  function write(slug: Slug): Wish {
    const turn = writes[slug]++
    const row = { name: `Item ${turn}`, price: below(10_000) / 100, note: `Written ${turn}` }
    if (turn % 3 === 0) return { slug, method: 'POST', path: '', body: row }
    const path = `/${2 + below(rows)}`
    return turn % 3 === 1 ? { slug, method: 'PUT', path, body: row } : { slug, method: 'DELETE', path }
  }

  function look(slug: Slug): Wish {
    return { ...read(slug), headers: { 'Cache-Control': 'no-cache' } }
  }

  function read(slug: Slug): Wish {
    const path = pick([
      '',
      `/${2 + below(rows)}`,
      `?category=Category%20${below(7)}&sort=-price`,
      `?price[gte]=${below(100)}&sort=name&limit=20&offset=${below(5) * 20}`,
      `?q=number%20${below(rows)}`,
      '?fields=name,price&row_numbers=true',
      '?values=formatted&limit=50',
      '?format=csv',
      '?format=ndjson',
      '/schema',
      '/openapi.json',
    ])
    const coding = pick(['identity', 'gzip', 'br', 'zstd'])
    return { slug, method: 'GET', path, headers: { 'Accept-Encoding': coding } }
  }
}
