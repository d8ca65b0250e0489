import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { rename, utimes, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { createVisitor, ownPage, type Visitor } from '../connect/visitor.ts'
import { freshPlace, type Place, type RunningServer } from '../process/running.ts'

/** Two accounts on one server, which is a process of its own, and one of them means the other no good. */
export interface Neighbours {
  server: RunningServer
  attacker: Tenant
  victim: Tenant
  /** The highest so far, by Linux. */
  peakResidentMb(): number
  /** What `/metrics` says of a name, with its labels. */
  metric(name: string): Promise<number>
}

export interface Tenant {
  slug: string
  owner: Visitor
  /** Uploads a file at the dashboard. */
  upload(name: string, content: string): Promise<void>
  preview(name: string): Promise<Timed>
  /** Connects a file of the operator's, which the server has not read yet. */
  connect(sheetSlug: string, content: string): Promise<TenantSheet>
}

export interface TenantSheet {
  path: string
  read(headers?: Record<string, string>): Promise<Timed>
  write(row: number, cells: object): Promise<Timed>
  /** Another file in its place, whole: the next look has to read it. */
  replace(content: string): Promise<void>
}

export interface Timed {
  status: number
  text: string
  headers: Headers
  tookMs: number
}

const anHourMs = 3_600_000

export async function startNeighbours(
  t: { after(work: () => Promise<void>): void },
  env: Record<string, string> = {},
): Promise<Neighbours> {
  const place = await freshPlace(t)
  const server = await place.start({ env: { MALLOC_MMAP_THRESHOLD_: '65536', ...env } })
  return {
    server,
    attacker: await newTenant(place, server, 'attacker', 'pro'),
    victim: await newTenant(place, server, 'victim', 'enterprise'),
    peakResidentMb() {
      const status = readFileSync(`/proc/${server.child.pid}/status`, 'utf8')
      return Number(/^VmHWM:\s+(\d+)/m.exec(status)?.[1]) / 1_024
    },
    async metric(name) {
      const text = await (await fetch(`${server.url}/metrics`)).text()
      const line = text.split('\n').find((one) => one.startsWith(`${name} `))
      return Number(line?.slice(name.length + 1) ?? 0)
    },
  }
}

async function newTenant(place: Place, server: RunningServer, slug: string, plan: string): Promise<Tenant> {
  const command = async (...words: string[]) => {
    const { code, stdout, stderr } = await place.rowportHere(words)
    assert.equal(code, 0, stderr)
    return stdout
  }
  await command('account', 'create', slug, '--plan', plan)
  const made = await command('key', 'create', slug, '--name', 'k', '--scope', 'read-write', '--json')
  const { key } = JSON.parse(made) as { key: string }
  const owner = createVisitor(server)
  const token = /token=([\w-]{43})/.exec(await command('account', 'link', slug))?.[1]
  assert.equal((await owner.call('POST', '/sign-in-link', { token })).status, 200)
  const authorised = { Authorization: `Bearer ${key}` }

  return {
    slug,
    owner,
    async upload(name, content) {
      const answer = await ask(server, `/dashboard/api/files?name=${name}`, {
        method: 'POST',
        body: content,
        headers: { Cookie: owner.cookie, ...ownPage },
      })
      assert.equal(answer.status, 201, answer.text)
    },
    preview: (path) =>
      ask(server, '/dashboard/api/preview', {
        method: 'POST',
        body: JSON.stringify({ provider: 'file', path, tab: null }),
        headers: { Cookie: owner.cookie, 'Content-Type': 'application/json', ...ownPage },
      }),
    async connect(sheetSlug, content) {
      const path = join(place.folder, `${slug}-${sheetSlug}.csv`)
      const address = `/api/sheets/${slug}/${sheetSlug}`
      const replace = async (next: string) => {
        const draft = `${path}.draft`
        await writeFile(draft, next)
        // What was written just now may still be being written, and is waited for.
        const before = new Date(Date.now() - anHourMs)
        await utimes(draft, before, before)
        await rename(draft, path)
      }
      await replace(content)
      await command('sheet', 'connect', `${slug}/${sheetSlug}`, '--file', path)
      return {
        path,
        replace,
        read: (headers = {}) => ask(server, address, { headers: { ...authorised, ...headers } }),
        write: (row, cells) =>
          ask(server, `${address}/${row}`, {
            method: 'PUT',
            body: JSON.stringify(cells),
            headers: { ...authorised, 'Content-Type': 'application/json' },
          }),
      }
    },
  }
}

async function ask(server: RunningServer, path: string, wish: RequestInit): Promise<Timed> {
  const begunMs = performance.now()
  const answer = await fetch(server.url + path, wish)
  const text = await answer.text()
  return { status: answer.status, text, headers: answer.headers, tookMs: performance.now() - begunMs }
}

/** A table of ten columns, about so many megabytes. */
export function largeCsv(megabytes: number, seed = 0): string {
  const columns = Array.from({ length: 10 }, (_, at) => `column ${at}`)
  const row = (n: number) =>
    columns.map((_, at) => (at % 2 === 0 ? `text ${n} ${at}` : String(n * 7 + at + seed))).join(',')
  const rowBytes = 115
  const rows = Math.round((megabytes * 1_000_000) / rowBytes)
  return `${columns.join(',')}\n${Array.from({ length: rows }, (_, n) => row(n)).join('\n')}\n`
}

/** Asks again and again until `isOver`, one at a time, and tells how long each took. */
export async function probe(
  isOver: () => boolean,
  pauseMs: number,
  once: () => Promise<Timed>,
): Promise<number[]> {
  const tookMs: number[] = []
  while (!isOver()) {
    const answer = await once()
    assert.equal(answer.status, 200, answer.text)
    tookMs.push(answer.tookMs)
    await new Promise((resolve) => setTimeout(resolve, pauseMs))
  }
  return tookMs
}

export function quantile(values: readonly number[], share: number): number {
  const sorted = values.toSorted((one, other) => one - other)
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? Number.NaN
}

export function figures(values: readonly number[]): string {
  const [p50, p99, most] = [0.5, 0.99, 1].map((share) => quantile(values, share).toFixed(0))
  return `p50 ${p50}, p99 ${p99}, most ${most} ms (${values.length} times)`
}
