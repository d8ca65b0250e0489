import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { seededRandom } from '../../emulator/seeded-random.ts'
import { skipCluster } from '../cluster/cluster.ts'
import { startOnGoogle } from '../cluster/instances-on-google.ts'
import { patienceMs, times } from '../soak.ts'

const rounds = times(3, 20)
const answersWithinMs = 30_000
const tries = 30
/** So long it takes until others settle what a dead instance left, where nobody asks for it by its key. */
const settledAfterMs = 8_000

test('a write and its undo, with kills in between: the sheet is exactly what it was, or exactly what the write left', {
  skip: skipCluster,
  timeout: patienceMs,
}, async (t) => {
  const header = ['sku', 'name', 'price']
  const rows = Array.from({ length: 8 }, (_, n) => [`K-${n}`, `name ${n % 3}`, n])
  const { google, spreadsheetId, start, servers } = await startOnGoogle(t, [header, ...rows])
  const random = seededRandom(35)
  const below = (end: number) => Math.floor(random() * end)
  const instances = await Promise.all([start(), start()])
  const headers = { Authorization: `Bearer ${servers.apiKey}` }
  const figures = { rounds: 0, kills: 0, restored: 0, notDone: 0, replays: 0, lost: 0 }
  let made = 0
  await untilAnswered('GET', '', undefined, null)
  await google.control('POST', 'faults', { match: ':batchUpdate', kind: 'lost', rate: 0.15, seed: 7 })

  for (let round = 0; round < rounds; round++) {
    const before = await cellsNow()
    const { method, more, body } = anyWrite()
    const written = await untilAnswered(method, more, body, randomUUID())
    // Where no row fits, nothing was written.
    const after = await cellsNow()
    if (written?.status === 404 || JSON.stringify(after) === JSON.stringify(before)) continue
    const operation = written?.operation ?? assert.fail(`${method} ${more}: ${written?.text}`)

    // Without a key nobody can ask how it ended: then only all or nothing is certain.
    const key = round % 4 === 3 ? null : randomUUID()
    const at = below(2)
    const undoing = untilAnswered('POST', `/operations/${operation}/undo`, undefined, key, at)
    await sleep(below(450))
    instances[at]?.child.kill('SIGKILL')
    await instances[at]?.ended
    figures.kills++
    instances[at] = await start()
    const undone = await undoing
    if (undone === null) await sleep(settledAfterMs)
    const now = await cellsNow()
    const isRestored = JSON.stringify(now) === JSON.stringify(before)
    const isLeft = JSON.stringify(now) === JSON.stringify(after)
    const what = `${method} ${more} ${JSON.stringify(body)}, undo: ${undone?.status} ${undone?.text}`
    assert.ok(isRestored || isLeft, `${what}\n${JSON.stringify({ before, after, now }, null, 1)}`)
    if (undone?.ok) assert.ok(isRestored, what)
    if (key !== null) assert.ok(undone?.ok, what)
    figures.rounds++
    figures[isRestored ? 'restored' : 'notDone']++
    if (undone === null) figures.lost++
    if (undone?.isReplayed) figures.replays++

    // The log has the undo once, or not at all.
    const told = await changesOf(operation)
    assert.equal(told.length, isRestored ? 1 : 0, `${what}: undone by ${JSON.stringify(told)}`)
    process.stdout.write(`${what.split(' ').slice(0, 2).join(' ')}: ${JSON.stringify(figures)}\n`)
  }
  t.diagnostic(JSON.stringify(figures))

  function anyWrite(): { method: string; more: string; body?: unknown } {
    const row = () => ({ sku: `K-${100 + ++made}`, name: `new ${made}`, price: made })
    const number = 2 + below(6)
    switch (below(6)) {
      case 0:
        return { method: 'POST', more: '', body: [row(), row()] }
      case 1:
        return { method: 'PATCH', more: `/${number}`, body: { price: 1_000 + ++made } }
      case 2:
        return { method: 'DELETE', more: `/${number}` }
      case 3:
        return {
          method: 'POST',
          more: '?upsert=sku',
          body: [row(), { sku: `K-${below(8)}`, price: -++made }],
        }
      case 4:
        return { method: 'PATCH', more: '?price[lt]=4', body: { name: `many ${++made}` } }
      default:
        return { method: 'DELETE', more: '?price[lt]=3' }
    }
  }

  /** Once without a key, which is lost with the instance; with one until there is an answer, from whichever instance. */
  async function untilAnswered(method: string, more: string, body: unknown, key: string | null, firstAt = 0) {
    for (let tried = 0; tried < tries; tried++) {
      const answer = await ask(instances[(firstAt + tried) % 2]?.url ?? '', method, more, body, key)
      if (key === null && method !== 'GET') return answer
      if (answer && answer.status < 500 && answer.code !== 'idempotency_in_progress' && answer.status !== 429)
        return answer
      await sleep(500)
    }
    return assert.fail(`${method} ${more} has no answer`)
  }

  async function ask(url: string, method: string, more: string, body: unknown, key: string | null) {
    const own = key === null ? {} : { 'Idempotency-Key': key }
    const now = method === 'GET' ? { 'Cache-Control': 'no-cache' } : {}
    const answer = await fetch(`${url}/api/sheets/acme/items${more}`, {
      method,
      headers: { ...headers, ...own, ...now },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      signal: AbortSignal.timeout(answersWithinMs),
    }).catch(() => null)
    const text = await answer?.text().catch(() => null)
    if (!answer || text == null) return null
    return {
      status: answer.status,
      ok: answer.ok,
      text,
      code: /"code":"(\w+)"/.exec(text)?.[1],
      operation: answer.headers.get('Operation-Id'),
      isReplayed: answer.headers.has('Idempotent-Replayed'),
    }
  }

  /** All rows but blank ones at the end. */
  async function cellsNow(): Promise<unknown[][]> {
    const cells = await google.cells(spreadsheetId)
    return cells.slice(0, cells.findLastIndex((row) => row.some((cell) => cell !== '')) + 1)
  }

  /** The operations that the log says took this one back. */
  async function changesOf(operation: string): Promise<string[]> {
    const answer = await untilAnswered('GET', '/changes?since=earliest&limit=1000', undefined, null)
    assert.ok(answer?.ok)
    const changes = JSON.parse(answer.text) as { operation: string | null }[]
    const names = [...new Set(changes.flatMap(({ operation: name }) => name ?? []))]
    const from = names.indexOf(operation)
    return from === -1 ? [] : names.slice(from + 1)
  }
})
