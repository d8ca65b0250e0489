import assert from 'node:assert/strict'
import { readFile, writeFile } from 'node:fs/promises'
import { type TestContext, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client'
import { bearer, configOf, type Rowport, startRowport } from '../harness.ts'

const csv = 'sku,name,price\nA-1,Lamp,59\nB-2,Table,420\n'

test('what a client writes and what a person types in the file are told', async (t) => {
  const { rowport, key, sheets } = await start(t)
  const [first, second] = sheets
  const { listen, told, until } = await connect(t, rowport, key)
  await listen([uriOf(first), uriOf(second)])
  const body = JSON.stringify({ sku: 'C-3' })
  await fetch(rowport.url + first.formA, { method: 'POST', headers: bearer(key), body })
  await until(() => told.includes(uriOf(first)))
  assert.ok(!told.includes(uriOf(second)), 'only what has changed')
  await writeFile(second.path, (await readFile(second.path, 'utf8')).replace('59', '60'))
  await until(() => told.includes(uriOf(second)))
})

test('a subscription ends cleanly when the server stops, and when the key is revoked', async (t) => {
  const { rowport, key, sheets } = await start(t)
  const other = await rowport.createKey()
  const kept = await (await connect(t, rowport, key)).listen([uriOf(sheets[0])])
  const ended = await (await connect(t, rowport, other)).listen([uriOf(sheets[0])])
  await rowport.workshop.keys.revoke(other.id)
  assert.equal(await within(ended.closed), 'graceful')
  const begunMs = performance.now()
  await rowport.stopServer()
  assert.equal(await within(kept.closed), 'graceful')
  assert.ok(performance.now() - begunMs < 10_000, 'the server waits for nobody who listens')
})

test('as many as other streams of an account, and those that ended or were refused hold no place', async (t) => {
  const { shares } = configOf('')
  const { rowport, key, sheets } = await start(t, { shares: { ...shares, following_at_once: 2 } })
  const [first, second, third] = sheets.map(uriOf)
  const { listen } = await connect(t, rowport, key)
  await assert.rejects(listen([first, second, third]), /too_many_at_once/)
  await assert.rejects(listen([first, 'rowport://sheets/sh_nothing']), /sheet_not_found/)
  await assert.rejects(listen([first, 'file:///etc/passwd']), /no resource/)
  for (let times = 0; times < 2; times++) {
    const both = await listen([first, second])
    await assert.rejects(listen([third]), /too_many_at_once/)
    await both.close()
    await untilFree()
  }
  const many = Array.from({ length: 21 }, (_, at) => `rowport://sheets/sh_${at}`)
  await assert.rejects(listen(many), /No more than 20/)
  // The headers do not fit the message, which is found after the streams were opened.
  const meta = {
    'io.modelcontextprotocol/protocolVersion': '2026-07-28',
    'io.modelcontextprotocol/clientCapabilities': {},
  }
  const params = { notifications: { resourceSubscriptions: [first, second] }, _meta: meta }
  const answer = await fetch(`${rowport.url}/mcp`, {
    method: 'POST',
    headers: {
      ...bearer(key),
      ...{ 'Content-Type': 'application/json', Accept: 'application/json, text/event-stream' },
      ...{ 'MCP-Protocol-Version': '2026-07-28', 'Mcp-Method': 'tools/list' },
    },
    body: JSON.stringify({ jsonrpc: '2.0', id: 'l', method: 'subscriptions/listen', params }),
  })
  assert.equal(answer.status, 400)
  await answer.text()
  await untilFree()

  /** The server hears of a closed connection a moment later, also of those that are opened here. */
  async function untilFree(): Promise<void> {
    for (let tries = 0; tries < 8; tries++) {
      await sleep(1_500)
      const stop = new AbortController()
      const answers = await Promise.all(
        [first, second].map((uri = '') =>
          fetch(`${rowport.url}/v1/sheets/${uri.slice('rowport://sheets/'.length)}/changes`, {
            headers: { ...bearer(key), Accept: 'text/event-stream' },
            signal: stop.signal,
          }),
        ),
      )
      const isFree = answers.every(({ status }) => status === 200)
      stop.abort()
      if (isFree) return void (await sleep(1_500))
    }
    assert.fail('a place is held by nobody')
  }
})

interface Connected {
  id: string
  path: string
  formA: string
}

function uriOf({ id }: Connected): string {
  return `rowport://sheets/${id}`
}

function within<T>(awaited: Promise<T>): Promise<T | 'too late'> {
  return Promise.race([awaited, sleep(20_000, 'too late' as const, { ref: false })])
}

async function connect(t: TestContext, rowport: Rowport, key: { value: string }) {
  const versionNegotiation = { mode: { pin: '2026-07-28' } } as const
  const client = new Client({ name: 'test', version: '1.0.0' }, { versionNegotiation })
  const requestInit = { headers: bearer(key) }
  await client.connect(new StreamableHTTPClientTransport(new URL(`${rowport.url}/mcp`), { requestInit }))
  t.after(() => client.close())
  const told: string[] = []
  client.setNotificationHandler('notifications/resources/updated', ({ params }) => void told.push(params.uri))
  return {
    told,
    listen: (uris: readonly (string | undefined)[]) =>
      client.listen({ resourceSubscriptions: uris.map(String) }),
    async until(isThere: () => boolean) {
      for (let tries = 0; tries < 400 && !isThere(); tries++) await sleep(50)
      assert.ok(isThere(), `told: ${told.join()}`)
    },
  }
}

async function start(t: TestContext, settings = {}) {
  const rowport = await startRowport(t, { settings, isTimePassing: true })
  const connected: Connected[] = []
  for (const slug of ['one', 'two', 'three'])
    connected.push(await rowport.connectFile(slug, `${slug}.csv`, csv))
  const sheets = connected as [Connected, Connected, Connected]
  const key = await rowport.createKey()
  // What is followed has been read: changes are told from there on.
  for (const { formA } of sheets) await (await rowport.get(formA, bearer(key))).text()
  return { rowport, key, sheets }
}
