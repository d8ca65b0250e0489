import assert from 'node:assert/strict'
import { request } from 'node:http'
import { join } from 'node:path'
import { after, type TestContext, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { EventStream } from '../changes/event-stream-client.ts'
import { done } from '../harness.ts'
import { findCaddy, startCaddy } from '../servers/caddy.ts'
import { skipCluster } from './cluster.ts'
import { type ProxiedInstances, startProxiedInstances } from './proxied.ts'

/** deploy/Caddyfile as an operator gets it, before two instances. */

const file = join(import.meta.dirname, '../../deploy/Caddyfile')
const skip = skipCluster || (findCaddy() ? false : 'Caddy is not on this machine')
const settings = { BASE_URL: 'http://localhost', ROWPORT_TRUSTED_PROXIES: '127.0.0.1' }
// Nobody asks for it where the tests are skipped.
const rowport = (skip ? null : await startProxiedInstances({ after }, settings)) as ProxiedInstances

test('streams come through Caddy as they are made, and go on where they were while every instance is replaced', {
  skip,
}, async (t) => {
  const { url, ask } = await proxy(t)
  const path = await rowport.connectSheet('followed', ['first'])
  const first = await ask(path)
  const cursor = first.headers.get('X-Change-Cursor') ?? ''
  const came: string[] = []
  const open = [1, 2, 3].map(async () => {
    const seen: string[] = []
    for (let [lastEventId, tries] = [cursor, 0]; seen.at(-1) !== 'last'; tries++) {
      assert.ok(tries < 200, 'it does not come to an end')
      const one = await stream(`${url}${path}/changes`, lastEventId)
      if (one.response.statusCode === 200) {
        await one.until(({ isEnded, changes }) => isEnded || changes.at(-1)?.after.name === 'last', 60_000)
        seen.push(...one.changes.map(({ after }) => after.name))
        lastEventId = one.lastEventId || lastEventId
      }
      one.close()
      // As `retry` asks for, on a machine with more time.
      await sleep(100)
    }
    return seen
  })
  const add = async (name: string) => {
    const answer = await ask(path, { method: 'POST', body: JSON.stringify({ name }) })
    assert.equal(answer.status, 201, await answer.text())
    came.push(name)
  }
  for (const instance of rowport.instances) {
    // Caddy asks `/readyz` every second.
    const restarting = instance.restart(2_500)
    await sleep(2_000)
    for (let n = 0; n < 3; n++) await add(`row ${came.length}`)
    await restarting
    await sleep(2_000)
    await add(`row ${came.length}`)
  }
  await add('last')
  assert.deepEqual(await Promise.all(open), [came, came, came])
})

test('a change is at the end of a stream through Caddy at once, and a poll that waits is answered with it', {
  skip,
}, async (t) => {
  const { url, ask } = await proxy(t)
  const path = await rowport.connectSheet('at-once', ['first'])
  const cursor = (await ask(path)).headers.get('X-Change-Cursor') ?? ''
  const one = await stream(`${url}${path}/changes`, cursor)
  t.after(() => one.close())
  const poll = ask(`${path}/changes?since=${cursor}&wait=30`)
  const added = await ask(path, { method: 'POST', body: '{"name":"new"}' })
  assert.equal(added.status, 201)
  await one.until(({ changes }) => changes.length === 1, 5_000)
  const polled = (await (await poll).json()) as { after: { name: string } }[]
  assert.deepEqual([one.changes[0]?.after.name, polled[0]?.after.name], ['new', 'new'])
  assert.equal((await ask('/metrics')).status, 404, 'metrics stay inside')
})

test('a form works behind Caddy, and its visitors are counted by the addresses that Caddy saw', {
  skip,
}, async (t) => {
  const { url, ask } = await proxy(t)
  const path = await rowport.connectSheet('guests', ['first'])
  const { forms, accounts } = rowport.instances[0].workshop
  const text = { label: 'Name', help: '', kind: 'text', isRequired: true, choices: [] } as const
  const form = done(
    await forms.create({
      account: done(await accounts.find('acme')),
      sheetSlug: 'guests',
      name: 'Party',
      settings: { fields: [{ column: 'name', ...text }], entriesPerMinute: 2 },
    }),
  )
  const page = await fetch(`${url}/f/${form.id}`)
  assert.equal(page.status, 200)
  assert.match(await page.text(), new RegExp(`action="${form.id}"`))
  const send = (localAddress: string, name: string, blamed: string) =>
    new Promise<number>((resolve, reject) => {
      const headers = {
        'Content-Type': 'application/x-www-form-urlencoded',
        'X-Forwarded-For': blamed,
      }
      const sent = request(`${url}/f/${form.id}`, { method: 'POST', headers, localAddress, agent: false })
      sent.on('response', (answer) => resolve(answer.resume().statusCode ?? 0))
      sent.on('error', reject)
      sent.end(`name=${name}`)
    })
  const statuses: number[] = []
  for (let n = 0; n < 4; n++) statuses.push(await send('127.0.0.4', `a${n}`, `192.0.2.${n}`))
  assert.deepEqual(statuses, [200, 200, 429, 429], 'whoever it says it is')
  assert.equal(await send('127.0.0.5', 'b', '127.0.0.4'), 200)
  const rows = (await (await ask(path)).json()) as { name: string }[]
  assert.deepEqual(
    rows.map(({ name }) => name),
    ['first', 'a0', 'a1', 'b'],
  )
})

function stream(url: string, lastEventId: string): Promise<EventStream> {
  const headers = { ...authorized(), Accept: 'text/event-stream', 'Last-Event-ID': lastEventId }
  return EventStream.of(request(url, { headers, agent: false }))
}

async function proxy(t: TestContext) {
  const caddy = await startCaddy(
    file,
    rowport.instances.map(({ port }) => port),
  )
  t.after(() => caddy.stop())
  const ask = (path: string, init: RequestInit = {}) =>
    fetch(caddy.url + path, { ...init, headers: authorized(), signal: AbortSignal.timeout(30_000) })
  // Both instances are asked whether they are ready before the first request goes to one.
  for (let tries = 0; (await ask('/healthz')).status !== 200 && tries < 50; tries++) await sleep(100)
  return { url: caddy.url, ask }
}

function authorized(): Record<string, string> {
  return { Authorization: `Bearer ${rowport.apiKey}` }
}
