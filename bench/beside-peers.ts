import assert from 'node:assert/strict'
import { mkdir, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { freePort } from '../test/servers/free-port.ts'
import { installPeers } from './peers/installed.ts'
import { ask, endProcess, type RunningProcess, startProcess, startRowport } from './processes.ts'
import { asCsv, productRows, writeJson, writeMockoon, writeSqlite } from './product-table.ts'
import type { LoadRow } from './row.ts'

type Rows = ReturnType<typeof productRows>

interface Peer {
  name: string
  speaks: 'jsonServer' | 'jsonServer0' | 'mockoon' | 'fastify'
  start(rows: Rows, apiKey: string): Promise<RunningProcess>
}

const peers: readonly Peer[] = [
  { name: 'json-server', speaks: 'jsonServer', start: startJsonServer },
  // What `npm install json-server` brings.
  { name: 'json-server 0.17', speaks: 'jsonServer0', start: startJsonServer0 },
  { name: 'Mockoon', speaks: 'mockoon', start: startMockoon },
  { name: 'Fastify + SQLite', speaks: 'fastify', start: startFastify },
]

/** What is asked of each, after the address of its list. */
interface Query extends Record<Peer['speaks'] | 'rowport', string> {
  name: string
  rowCount: number
}

const queries: readonly Query[] = [
  {
    name: 'whole list of 100 rows (20 KB)',
    rowCount: 100,
    rowport: '',
    jsonServer: '',
    jsonServer0: '',
    mockoon: '',
    fastify: '',
  },
  {
    name: 'filter, sort, first 50 of 10,000 rows',
    rowCount: 10_000,
    rowport: '?city=City%207&sort=-price&limit=50',
    jsonServer: '?city=City%207&_sort=-price&_page=1&_per_page=50',
    jsonServer0: '?city=City%207&_sort=price&_order=desc&_page=1&_limit=50',
    mockoon: '?city_eq=City%207&sort=price&order=desc&page=1&limit=50',
    fastify: '?city=City%207&limit=50',
  },
  {
    name: 'one of 10,000 rows',
    rowCount: 10_000,
    rowport: '/5002',
    jsonServer: '/p5000',
    jsonServer0: '/p5000',
    mockoon: '/p5000',
    fastify: '/p5000',
  },
]

/** The same data and queries, the same answers: what else somebody might put in front of a table. */
export const besidePeers: readonly LoadRow[] = queries.flatMap((query) =>
  peers.map((peer) => beside(peer, query)),
)

function beside(peer: Peer, query: Query): LoadRow {
  return {
    kind: 'load',
    name: `beside ${peer.name}: ${query.name}`,
    reference: peer.name,
    floor: 1,
    async start() {
      await installPeers((line) => process.stderr.write(`rowport: ${line}\n`))
      const rows = productRows(query.rowCount)
      const rowport = await startRowport(asCsv(rows))
      const headers = { Authorization: `Bearer ${rowport.apiKey}` }
      const started: RunningProcess[] = [rowport]
      const stop = async () => {
        for (const each of started) await each.stop()
      }
      try {
        const other = await peer.start(rows, rowport.apiKey)
        started.push(other)
        const subject = { url: rowport.url + rowport.sheetPath + query.rowport, headers, pid: rowport.pid }
        const reference = { url: `${other.url}/products${query[peer.speaks]}`, headers, pid: other.pid }
        assert.deepEqual(await rowsAt(subject.url, headers), await rowsAt(reference.url, headers))
        return { subject, reference, stop }
      } catch (error) {
        await stop()
        throw error
      }
    },
  }
}

async function rowsAt(url: string, headers: Record<string, string>): Promise<unknown> {
  const { status, body } = await ask(url, headers)
  assert.equal(status, 200, `${url}: ${body}`)
  const answer = JSON.parse(body.toString())
  // json-server puts a page into an object with the numbers of others.
  return answer.data ?? answer
}

/** In production it neither watches its file nor looks for static ones at each request, but wants a folder for them. */
function startJsonServer(rows: Rows): Promise<RunningProcess> {
  return inFolder(async (folder, port) => {
    const path = join(folder, 'db.json')
    await writeJson(path, rows)
    await mkdir(join(folder, 'public'))
    const program = join(import.meta.dirname, 'peers/node_modules/json-server/lib/bin.js')
    const env = { ...process.env, NODE_ENV: 'production' }
    return startProcess(
      [program, '--port', String(port), path],
      env,
      `http://127.0.0.1:${port}/products/p0`,
      {
        folder,
      },
    )
  })
}

function startJsonServer0(rows: Rows): Promise<RunningProcess> {
  return inFolder(async (folder, port) => {
    const path = join(folder, 'db.json')
    await writeJson(path, rows)
    const program = join(import.meta.dirname, 'peers/node_modules/json-server-0/lib/cli/bin.js')
    const env = { ...process.env, NODE_ENV: 'production' }
    const args = [program, '--quiet', '--port', String(port), path]
    return startProcess(args, env, `http://127.0.0.1:${port}/products/p0`, { folder })
  })
}

/** Without its record of what was asked; that it logs each request cannot be turned off. */
function startMockoon(rows: Rows): Promise<RunningProcess> {
  return inFolder(async (folder, port) => {
    const path = join(folder, 'mockoon.json')
    await writeMockoon(path, rows)
    const program = join(import.meta.dirname, 'peers/node_modules/@mockoon/cli/bin/run.js')
    const quiet = ['--disable-log-to-file', '--disable-admin-api']
    const args = [program, 'start', '--data', path, '--port', String(port), ...quiet]
    const env = { ...process.env, NODE_ENV: 'production' }
    return startProcess(args, env, `http://127.0.0.1:${port}/products/p0`, { folder })
  })
}

function startFastify(rows: Rows, apiKey: string): Promise<RunningProcess> {
  return inFolder(async (folder, port) => {
    const databasePath = join(folder, 'products.db')
    writeSqlite(databasePath, rows)
    const env = {
      ...process.env,
      NODE_ENV: 'production',
      PEER: JSON.stringify({ port, databasePath, apiKey }),
    }
    return startProcess(['bench/peers/fastify-sqlite.mjs'], env, `http://127.0.0.1:${port}/products/p0`)
  })
}

async function inFolder(
  start: (folder: string, port: number) => ReturnType<typeof startProcess>,
): Promise<RunningProcess> {
  const folder = await mkdtemp(join(tmpdir(), 'rowport-bench-'))
  const port = await freePort()
  const child = await start(folder, port)
  return {
    url: `http://127.0.0.1:${port}`,
    pid: child.pid ?? 0,
    async stop() {
      await endProcess(child)
      await rm(folder, { recursive: true })
    },
  }
}
