import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { Redis } from 'ioredis'
import { seededRandom } from '../../emulator/seeded-random.ts'
import { skipCluster } from '../cluster/cluster.ts'
import { startOnGoogle } from '../cluster/instances-on-google.ts'
import { patienceMs, times } from '../soak.ts'
import { type Change, Follower, type List } from './follower.ts'

const kills = times(3, 20)
const clients = 2
/** Google's rations are what they are: a write a second and a look every two are within them. */
const writeEveryMs = 1_500
const lookEveryMs = 2_000
/** Whoever takes a lane over needs some seconds for that: killed in a shorter time, nobody would write anything. */
const killEveryMs = times(3_000, 6_000)
/** A whole run of 20 takes three to four minutes; whoever waits longer for one answer waits in vain. */
const answersWithinMs = 30_000
const settlesWithinMs = 120_000

test('two instances on PostgreSQL, Redis and Google, killed again and again while clients and people write: the log has no gap, no double and no wrong before', {
  skip: skipCluster,
  timeout: patienceMs,
}, async (t) => {
  const rows = Array.from({ length: 12 }, (_, n) => [`K-${n}`, `name ${n % 3}`, n])
  const { google, spreadsheetId, start, servers } = await startOnGoogle(t, [
    ['sku', 'name', 'price'],
    ...rows,
  ])
  const random = seededRandom(19)
  const below = (end: number) => Math.floor(random() * end)
  const instances = await Promise.all([start(), start()])
  const path = '/api/sheets/acme/items'
  const headers = { Authorization: `Bearer ${servers.apiKey}` }
  const figures = {
    kills: 0,
    acknowledged: 0,
    edits: 0,
    lists: 0,
    without: 0,
    replays: 0,
    api: 0,
    outside: 0,
  }
  /** Tries of writes that came to nothing, by why. */
  const refused: Record<string, number> = {}
  /** What a client was told of each write: that it changed rows, or at least that it was done; and what it asked for. */
  const written = new Map<string, { what: 'changed' | 'done'; asked: string }>()
  const seen: List[] = []
  let made = 0
  let isOver = false
  t.after(() => {
    isOver = true
  })
  const first = await listWithCursor()
  for (const [kind, rate] of [
    ['lost', 0.15],
    ['late', 0.1],
  ])
    await google.control('POST', 'faults', { match: ':batchUpdate', kind, rate, seed: 7, delayMs: 300 })
  const begunAtMs = performance.now()
  const working = [...Array.from({ length: clients }, write), look(), person()]

  for (let kill = 0; kill < kills; kill++) {
    await sleep(killEveryMs)
    const at = below(2)
    instances[at]?.child.kill('SIGKILL')
    await instances[at]?.ended
    figures.kills++
    if (kill % 3 === 0) {
      const redis = new Redis(servers.redis.url)
      await redis.flushall()
      redis.disconnect()
    }
    if (kill % 3 === 1) await servers.postgres.restart()
    instances[at] = await start()
    tellProgress(`kill ${kill + 1} of ${kills}`)
  }
  await sleep(killEveryMs)
  isOver = true
  await Promise.all(working)
  tellProgress('all answers are there')
  await google.control('DELETE', 'faults')
  const last = await settledList()
  tellProgress('nothing is under way any more')

  const changes = await changesAfter(first.cursor)
  const follower = new Follower(first, false)
  const byCursor = Map.groupBy([...seen, last], ({ cursor }) => cursor)
  let number = numberOf(first.cursor)
  let checked = 0
  for (const change of changes) {
    assert.equal(numberOf(change.cursor), ++number, 'no gap, no double')
    follower.apply(change)
    figures[change.source]++
    for (const list of byCursor.get(change.cursor) ?? []) {
      follower.assertEquals(list, `rows of ${change.cursor}`)
      checked++
    }
  }
  assert.equal(last.cursor, changes.at(-1)?.cursor)
  const cells = (await google.cells(spreadsheetId)).slice(1).filter((row) => row.some((cell) => cell !== ''))
  assert.deepEqual(
    last.rows.map(({ _row, ...row }) => Object.values(row).map(textOf)),
    cells.map((row) => last.columns.map((_, at) => textOf(row[at]))),
    'every cell is what the spreadsheet has',
  )
  const told = Map.groupBy(changes, ({ operation }) => operation)
  const untold = [...written].filter(([operation, { what }]) => what === 'changed' && !told.has(operation))
  t.diagnostic(`${JSON.stringify(figures)}, ${checked} lists held against the log at their cursor`)
  assert.deepEqual(untold, [], 'each write that was acknowledged is told as its own')
  assert.ok(figures.api > 0 && figures.outside > 0 && checked > 0)

  function tellProgress(what: string): void {
    const seconds = Math.round((performance.now() - begunAtMs) / 1_000)
    process.stdout.write(`${seconds} s: ${what}, ${JSON.stringify({ ...figures, refused })}\n`)
  }

  function anyUrl(): string {
    return instances[below(2)]?.url ?? ''
  }

  async function ask(method: string, more: string, body?: unknown, key?: string): Promise<Response | null> {
    const own = key === undefined ? {} : { 'Idempotency-Key': key }
    const now = method === 'GET' ? { 'Cache-Control': 'no-cache' } : {}
    const sent = body === undefined ? {} : { body: JSON.stringify(body) }
    const signal = AbortSignal.timeout(answersWithinMs)
    return fetch(anyUrl() + path + more, {
      method,
      headers: { ...headers, ...own, ...now },
      ...sent,
      signal,
    }).catch(() => null)
  }

  async function write(): Promise<void> {
    while (!isOver) {
      await sleep(writeEveryMs)
      const { method, more, body, changes: what } = anyWrite()
      const key = randomUUID()
      for (let tries = 0; tries < 60; tries++) {
        const answer = await ask(method, more, body, key)
        const text = await answer?.text().catch(() => null)
        if (
          answer &&
          text !== null &&
          answer.status < 500 &&
          answer.status !== 409 &&
          answer.status !== 429
        ) {
          const operation = answer.headers.get('Operation-Id')
          if (answer.headers.has('Idempotent-Replayed')) figures.replays++
          assert.equal(operation !== null, answer.ok, `${method} ${more}: ${answer.status} ${text}`)
          if (operation)
            written.set(operation, { what, asked: `${method} ${more} ${JSON.stringify(body)} → ${text}` })
          if (operation) figures.acknowledged++
          break
        }
        const why = answer ? (/"code":"(\w+)"/.exec(text ?? '')?.[1] ?? String(answer.status)) : 'no answer'
        refused[why] = (refused[why] ?? 0) + 1
        await sleep(300)
      }
    }
  }

  function anyWrite(): { method: string; more: string; body?: unknown; changes: 'changed' | 'done' } {
    const row = { sku: `K-${100 + ++made}`, name: `new ${made}` }
    const known = `K-${below(12)}`
    switch (below(7)) {
      case 0:
      case 1:
        return { method: 'POST', more: '', body: [row], changes: 'changed' }
      case 2:
        return {
          method: 'PATCH',
          more: `/${2 + below(10)}`,
          body: { price: 1_000 + made },
          changes: 'changed',
        }
      case 3:
        return {
          method: 'PATCH',
          more: `/by/sku/${known}`,
          body: { price: 2_000 + made },
          changes: 'changed',
        }
      case 4:
        return {
          method: 'POST',
          more: '?upsert=sku',
          body: [row, { sku: known, price: made }],
          changes: 'changed',
        }
      case 5:
        return { method: 'DELETE', more: `/${2 + below(10)}`, changes: 'changed' }
      default:
        return { method: 'PATCH', more: '?price[lt]=4', body: { price: below(4) }, changes: 'done' }
    }
  }

  async function person(): Promise<void> {
    while (!isOver) {
      await sleep(700)
      const row = 2 + below(8)
      const edits = [
        { op: 'set', row, column: 2, value: `person ${++made}` },
        { op: 'insertRow', row, values: [`P-${++made}`, 'person'] },
        { op: 'deleteRow', row },
        { op: 'sort', column: 1 + below(2), descending: random() < 0.5 },
        { op: 'set', row, column: 3, value: below(9) },
        random() < 0.3
          ? { op: 'insertColumn', column: 4, header: `extra ${++made}` }
          : { op: 'set', row: 1, column: 4, value: `note ${++made}` },
      ]
      const edit = edits[below(edits.length)]
      await google.control('POST', 'edit', { spreadsheetId, tab: 'Items', ...edit })
      figures.edits++
    }
  }

  async function look(): Promise<void> {
    while (!isOver) {
      await sleep(lookEveryMs)
      const found = await list()
      if (!found) continue
      figures.lists++
      if (found === 'without') figures.without++
      else seen.push(found)
    }
  }

  async function list(): Promise<List | 'without' | null> {
    const answer = await ask('GET', '?row_numbers=true')
    if (answer?.status !== 200) return null
    const cursor = answer.headers.get('X-Change-Cursor')
    const rows = (await answer.json().catch(() => null)) as List['rows'] | null
    if (!rows) return null
    if (cursor === null) return 'without'
    const names = Object.keys(rows[0] ?? {}).filter((name) => name !== '_row')
    return { cursor, rows, columns: names }
  }

  async function listWithCursor(): Promise<List> {
    for (let tries = 0; tries < 60; tries++) {
      const found = await list()
      if (found && found !== 'without') return found
      await sleep(500)
    }
    return assert.fail('no list has a cursor')
  }

  /** What is late may still come. */
  async function settledList(): Promise<List> {
    await sleep(1_000)
    const endMs = performance.now() + settlesWithinMs
    for (let before = await listWithCursor(); performance.now() < endMs; ) {
      await sleep(1_500)
      const now = await listWithCursor()
      if (now.cursor === before.cursor) return now
      before = now
    }
    return assert.fail('the log goes on although nobody does anything')
  }

  async function changesAfter(since: string): Promise<Change[]> {
    const all: Change[] = []
    for (let cursor = since; ; ) {
      const answer = await ask('GET', `/changes?since=${cursor}&limit=1000`)
      assert.equal(answer?.status, 200, (await answer?.clone().text()) ?? 'no response')
      const some = (await answer?.json()) as Change[]
      if (some.length === 0) return all
      all.push(...some)
      cursor = some.at(-1)?.cursor ?? cursor
    }
  }
})

function textOf(cell: unknown): string {
  return cell == null ? '' : String(cell)
}

function numberOf(cursor: string): number {
  return Number(cursor.split('-')[1])
}
