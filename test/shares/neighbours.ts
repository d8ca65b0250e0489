import assert from 'node:assert/strict'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { utimes, writeFile } from 'node:fs/promises'
import { request } from 'node:http'
import { join } from 'node:path'
import type { TestContext } from 'node:test'
import { Worker } from 'node:worker_threads'
import { mainThreadOf } from '../process/main-thread.ts'
import { freshPlace, type Place, type RunningServer } from '../process/running.ts'
import type { Probed, ProbeWish } from './probe-worker.ts'

/** A server as it is run, and two accounts on it that have nothing to do with each other. */
export interface Neighbours {
  place: Place
  server: RunningServer
  attacker: Neighbour
  victim: Neighbour
  /** Of the server's process. */
  residentMb(): number
}

export interface Neighbour {
  apiKey: string
  /** Makes a file and connects it. */
  connect(slug: string, csv: string): Promise<ConnectedFile>
  ask(path: string, more?: Partial<Asked>): Promise<Answer>
}

export interface ConnectedFile {
  path: string
  formA: string
}

interface Asked {
  method: string
  headers: Record<string, string>
  body: string | Buffer
}

export interface Answer {
  status: number
  headers: Record<string, string | undefined>
  body: Buffer
  tookMs: number
}

export async function startNeighbours(t: TestContext): Promise<Neighbours> {
  const place = await freshPlace(t)
  const server = await place.start({ env: { ROWPORT_LOG_LEVEL: 'info' } })
  const neighbour = async (account: string): Promise<Neighbour> => {
    await rowport(['account', 'create', account, '--plan', 'enterprise'])
    const made = await rowport(['key', 'create', account, '--name', 'test', '--scope', 'read-write'])
    const { key: apiKey } = made as { key: string }
    return {
      apiKey,
      async connect(slug, csv) {
        const path = join(place.folder, `${account}-${slug}.csv`)
        await writeQuietly(path, csv)
        await rowport(['sheet', 'connect', `${account}/${slug}`, '--file', path])
        return { path, formA: `/api/sheets/${account}/${slug}` }
      },
      ask: (path, { headers, ...more } = {}) =>
        exchange(server.port, path, { ...more, headers: { Authorization: `Bearer ${apiKey}`, ...headers } }),
    }
  }
  const [attacker, victim] = [await neighbour('attacker'), await neighbour('victim')]
  return { place, server, attacker, victim, residentMb: () => residentMbOf(server.child.pid ?? 0) }

  async function rowport(words: readonly string[]): Promise<unknown> {
    const { code, stdout, stderr } = await place.rowportHere([...words, '--json'])
    assert.equal(code, 0, stderr)
    return JSON.parse(stdout)
  }
}

/** A file that has been there for a while: what was written just now may still be being written. */
export async function writeQuietly(path: string, content: string): Promise<void> {
  await writeFile(path, content)
  const anHourAgo = new Date(Date.now() - 60 * 60 * 1_000)
  await utimes(path, anHourAgo, anHourAgo)
}

export function exchange(port: number, path: string, asked: Partial<Asked> = {}): Promise<Answer> {
  const { method = 'GET', headers = {}, body } = asked
  const { promise, resolve, reject } = Promise.withResolvers<Answer>()
  const begunMs = performance.now()
  const sent = request({ host: '127.0.0.1', port, path, method, headers, agent: false }, async (answer) => {
    const chunks: Buffer[] = []
    for await (const chunk of answer) chunks.push(chunk as Buffer)
    resolve({
      status: answer.statusCode ?? 0,
      headers: answer.headers as Answer['headers'],
      body: Buffer.concat(chunks),
      tookMs: performance.now() - begunMs,
    })
  })
  sent.on('error', reject)
  sent.end(body)
  return promise
}

export interface Figures {
  requests: number
  /** Of the server's main thread, by its processor time: busy neighbours do not count. */
  mainThreadMs: number
  /** How long it could have gone on and had no processor: the machine was busy with other things. */
  starvedMs: number
  p50Ms: number
  p99Ms: number
  maxMs: number
}

/** What one who asks for little waits for while `attack` goes on. */
export async function victimDuring(
  { server, victim }: Pick<Neighbours, 'server' | 'victim'>,
  path: string,
  attack: () => Promise<unknown>,
): Promise<Figures> {
  const wish: ProbeWish = { port: server.port, path, apiKey: victim.apiKey }
  const worker = new Worker(new URL('./probe-worker.ts', import.meta.url), { workerData: wish })
  await once(worker, 'message')
  const before = mainThreadOf(server)
  const answered = once(worker, 'message')
  try {
    await attack()
  } finally {
    worker.postMessage('stop')
  }
  const [{ tookMs, statuses }] = (await answered) as [Probed]
  const after = mainThreadOf(server)
  assert.ok(
    statuses.every((status) => status === 200),
    'the victim is answered',
  )
  const sorted = tookMs.toSorted((one, other) => one - other)
  const at = (share: number) => sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? 0
  return {
    requests: sorted.length,
    mainThreadMs: after.usedMs - before.usedMs,
    starvedMs: after.starvedMs - before.starvedMs,
    p50Ms: at(0.5),
    p99Ms: at(0.99),
    maxMs: sorted.at(-1) ?? 0,
  }
}

export function inWords({ requests, mainThreadMs, starvedMs, p50Ms, p99Ms, maxMs }: Figures): string {
  const ms = (value: number) => value.toFixed(1)
  return (
    `victim p50 ${ms(p50Ms)} p99 ${ms(p99Ms)} max ${ms(maxMs)} ms (${requests} requests); ` +
    `main thread ${ms(mainThreadMs)} ms in all, and ${ms(starvedMs)} ms without a processor`
  )
}

/**
 * What each of so many requests of the attacker took of the main thread, without what the victim's took: as much as each of them
 * does on this machine while nobody attacks.
 */
export function mainThreadMsEach({ mainThreadMs, requests }: Figures, asked: number, idle: Figures): number {
  return (mainThreadMs - (requests * idle.mainThreadMs) / idle.requests) / asked
}

/**
 * What the victim noticed, in words with the figures, or null. On a machine that is busy with other things nobody can tell who it
 * is that the victim waits for.
 */
export function hurtIn(figures: Figures): string | null {
  const { p99Ms, mainThreadMs, starvedMs } = figures
  return p99Ms > 50 && starvedMs < mainThreadMs / 10 ? inWords(figures) : null
}

function residentMbOf(pid: number): number {
  return Number(/^VmRSS:\s+(\d+)/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]) / 1_024
}
