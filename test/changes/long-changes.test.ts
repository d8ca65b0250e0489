import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import type { HistoryView } from '../../src/dashboard/contract.ts'
import { signedIn } from '../connect/visitor.ts'
import { bearer, done, startRowport } from '../harness.ts'
import { startReceiver, until } from '../webhooks/receiver.ts'

const columns = Array.from({ length: 40 }, (_, nth) => `c${nth}`)
const cell = `${'漢字 and 😀, "quoted" \\ \n'.repeat(1_000)}`
const row = { id: 'k', ...Object.fromEntries(columns.map((name, nth) => [name, `${nth} ${cell}`])) }
const changed = { ...row, c0: 'new' }

test('changes of very long rows are told as they are, wherever they are told', async (t) => {
  const { rowport, formA, formB, key, write } = await start(t)
  const added = await write('POST', '', { id: 'short' })
  const updated = await write('PATCH', '/2', { c0: 'new' })
  const get = async (path: string) => {
    const answer = await rowport.get(path, key)
    assert.equal(answer.status, 200)
    return { headers: answer.headers, json: await answer.json() }
  }
  const first = (await get(`${formB}/changes?since=earliest`)).json as Nested
  assert.deepEqual([first.data.length, first.data[0]?.operation, first.meta.more], [1, added, true])
  const place = first.meta.cursor
  const flat = await get(`${formA}/changes?since=${place}`)
  const nested = (await get(`${formB}/changes?since=${place}`)).json as Nested
  assert.deepEqual(flat.json, nested.data)
  const cursor = flat.headers.get('x-change-cursor') ?? ''
  assert.deepEqual(nested.meta, { count: 1, cursor, more: flat.headers.get('x-more-changes') === 'true' })
  const { at: _, by: __, ...told } = nested.data[0] ?? {}
  assert.deepEqual(told, {
    ...{ cursor, kind: 'updated', row: 2, key: null, before: row, after: changed, changed: ['c0'] },
    ...{ identity: 'position', source: 'api', operation: updated },
  })
  const behind = await get(`${formB}/changes?since=${place}&limit=1&row=2&wait=1`)
  assert.deepEqual((behind.json as Nested).data, nested.data)
  for (const filter of ['kind=deleted', 'source=outside', 'row=7', 'key=k'])
    assert.deepEqual(((await get(`${formB}/changes?since=earliest&${filter}`)).json as Nested).data, [])
  const head = await fetch(`${rowport.url}${formB}/changes?since=earliest`, { method: 'HEAD', headers: key })
  assert.deepEqual([head.status, await head.text()], [200, ''])
  const { json: end } = await get(`${formB}/changes?since=${cursor}`)
  assert.deepEqual((end as Nested).meta, { count: 0, cursor, more: false })
  const all = [...first.data, ...nested.data]
  assert.deepEqual(await eventsOf(`${rowport.url}${formB}/changes?since=earliest`, key, 2), all)

  const owner = await signedIn(rowport)
  const history = await owner.call<HistoryView>('GET', '/sheets/wide/history')
  const past = history.json.changes as unknown as Told[]
  assert.deepEqual([past[0]?.before, past[0]?.after, past[0]?.row, past.length], [row, changed, 2, 1])
  const exported = await owner.call<{ changes: { wide: Told[] } }>('GET', '/export')
  assert.deepEqual(exported.json.changes.wide, all)
  await write('POST', `/operations/${updated}/undo`)
  const { json: now } = await get(`${formB}?limit=1`)
  assert.deepEqual((now as Nested).data, [row])
})

test('a webhook is told of them without their rows, and which', async (t) => {
  const { rowport, write } = await start(t)
  const receiver = await startReceiver(t)
  const account = done(await rowport.workshop.accounts.find('acme'))
  const wish = { account, sheetSlug: 'wide', url: receiver.url, kinds: null, columns: ['c0'] }
  const { secret } = done(await rowport.workshop.webhooks.add(wish))
  receiver.secrets.unshift(secret)
  await write('PATCH', '/2', { c1: 'not of interest' })
  await write('PATCH', '/2', { c0: 'new' })
  await until('it came', () => receiver.taken().length === 1)
  const { before, after, changed, omitted } = receiver.taken()[0]?.data.changes[0] ?? {}
  assert.deepEqual([before, after, changed, omitted], [null, null, ['c0'], ['before', 'after']])
})

type Told = Record<string, unknown>

interface Nested {
  data: Told[]
  meta: { count: number; cursor: string; more: boolean }
}

async function start(t: TestContext) {
  const rowport = await startRowport(t, {
    isTimePassing: true,
    settings: { webhookNetworks: ['127.0.0.0/8'] },
  })
  const key = bearer(await rowport.createKey())
  const cells = Object.values(row).map((text) => `"${text.replaceAll('"', '""')}"`)
  const { formA, formB } = await rowport.connectFile(
    'wide',
    'w.csv',
    `id,${columns.join()}\n${cells.join()}\n`,
  )
  await (await rowport.get(formB, key)).arrayBuffer()
  return {
    ...{ rowport, formA, formB, key },
    async write(method: string, path: string, body: object = {}) {
      const headers = { ...key, 'Content-Type': 'application/json' }
      const sent = { method, headers, body: JSON.stringify(body) }
      const answer = await fetch(`${rowport.url}${formB}${path}`, sent)
      assert.ok(answer.ok, await answer.text())
      return answer.headers.get('Operation-Id') ?? ''
    },
  }
}

async function eventsOf(url: string, headers: Record<string, string>, count: number): Promise<unknown[]> {
  const answer = await fetch(url, { headers: { ...headers, Accept: 'text/event-stream' } })
  let text = ''
  const told = () => text.match(/^data: .*\n\n/gm) ?? []
  const decoder = new TextDecoder()
  for await (const piece of answer.body ?? []) {
    text += decoder.decode(piece, { stream: true })
    if (piece.at(-1) === 10 && told().length === count) break
  }
  return told().map((line) => JSON.parse(line.slice('data: '.length)))
}
