import assert from 'node:assert/strict'
import { join } from 'node:path'
import { after, type TestContext, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import type { ErrorForm } from '../../src/errors.ts'
import { done } from '../harness.ts'
import { findNginx } from '../servers/nginx.ts'
import { skipCluster } from './cluster.ts'
import {
  type Answer,
  type Asked,
  type ProxiedInstances,
  startProxiedInstances,
  startProxy,
  startRelay,
} from './proxied.ts'

/** deploy/nginx.conf as an operator gets it, before two instances. */

const siteFile = join(import.meta.dirname, '../../deploy/nginx.conf')
const skip = skipCluster || (findNginx() ? false : 'nginx is not on this machine')
const refusalsPerMinute = 10

const settings = {
  BASE_URL: 'https://localhost',
  ROWPORT_TRUSTED_PROXIES: '127.0.0.1',
  ROWPORT_REFUSALS_PER_MINUTE: `${refusalsPerMinute}`,
}
// Nobody asks for it where the tests are skipped.
const rowport = (skip ? null : await startProxiedInstances({ after }, settings)) as ProxiedInstances

test('requests are shared out, and each is judged by the address that nginx saw', { skip }, async (t) => {
  const { ask } = await proxy(t)
  const path = await rowport.connectSheet('shared', ['first'])
  const before = rowport.instances.map(({ answered }) => answered)
  for (let n = 0; n < 8; n++) assert.equal((await ask(path)).status, 200)
  const answered = rowport.instances.map(({ answered }, at) => answered - (before[at] ?? 0))
  assert.deepEqual(answered, [4, 4])

  const statuses = []
  for (let n = 0; n < 2 * refusalsPerMinute + 2; n++) {
    const headers = { Authorization: '', 'X-Forwarded-For': `192.0.2.${n}` }
    statuses.push((await ask(path, { from: '127.0.0.2', headers })).status)
  }
  assert.deepEqual(statuses.slice(-3), [401, 429, 429], 'whoever it says it is')
  const blaming = { 'X-Forwarded-For': '127.0.0.2' }
  assert.equal((await ask(path, { from: '127.0.0.3', headers: blaming })).status, 200)
})

test('a write whose answer is lost goes to the other instance as well, and is done once', {
  skip,
}, async (t) => {
  const way = { answersToLose: 0, lostAnswers: 0 }
  const relays = await Promise.all(rowport.instances.map(({ port }) => startRelay(t, port, way)))
  const { ask } = await proxy(t, relays)
  const path = await rowport.connectSheet('lost', ['a', 'b', 'c'])

  async function afterLoss(asked: Asked, row = ''): Promise<{ status: number; names: string[] }> {
    const lostBefore = way.lostAnswers
    way.answersToLose = 1
    const { status } = await ask(path + row, asked)
    assert.equal(way.lostAnswers, lostBefore + 1)
    const rows = JSON.parse((await ask(path)).text) as { name: string }[]
    return { status, names: rows.map(({ name }) => name) }
  }

  assert.deepEqual(await afterLoss({ method: 'DELETE' }, '/2'), { status: 200, names: ['b', 'c'] })
  const added = { method: 'POST', body: '{"name":"d"}' }
  assert.deepEqual(await afterLoss(added), { status: 201, names: ['b', 'c', 'd'] })
  const keyed = { method: 'POST', body: '{"name":"e"}', headers: { 'Idempotency-Key': 'of-the-client' } }
  assert.deepEqual(await afterLoss(keyed), { status: 201, names: ['b', 'c', 'd', 'e'] })
  assert.deepEqual((await ask(path, keyed)).headers['idempotent-replayed'], 'true', 'its own key went along')
  assert.deepEqual(await afterLoss({}), { status: 200, names: ['b', 'c', 'd', 'e'] })
})

test('a write whose answer is lost for good: nobody says that it was not done', { skip }, async (t) => {
  const way = { answersToLose: 0, lostAnswers: 0 }
  const relays = await Promise.all(rowport.instances.map(({ port }) => startRelay(t, port, way)))
  const { ask } = await proxy(t, relays)
  const path = await rowport.connectSheet('lost-for-good', ['a'])
  const keyed = { method: 'POST', body: '{"name":"b"}', headers: { 'Idempotency-Key': 'lost-for-good' } }
  way.answersToLose = 2
  assertGatewayError(await ask(path, keyed), 'flat')
  assert.equal(way.lostAnswers, 2, 'both instances were asked')
  assert.match((await ask(path)).text, /"b"/, 'it was done')
  const again = await ask(path, keyed)
  assert.deepEqual([again.status, again.headers['idempotent-replayed']], [201, 'true'])
  assert.equal((await ask(path)).headers['x-total-count'], '2', 'as the answer advised')
})

test('an instance is killed over a write: the other one settles it, and the row is there once or not at all', {
  skip,
}, async (t) => {
  const victim = await rowport.startProcess(t)
  const { ask } = await proxy(t, [victim.port, rowport.instances[0].port])
  const slug = 'killed'
  const path = await rowport.connectSheet(slug, ['first'])
  const names = async () => (JSON.parse((await ask(path)).text) as { name: string }[]).map(({ name }) => name)
  const add = (name: string) => ask(path, { method: 'POST', body: JSON.stringify({ name }) })

  const { written, open, answer } = await killedOverWrite()
  assert.equal(answer.status, 409, answer.text)
  assert.equal((JSON.parse(answer.text) as { code: string }).code, 'idempotency_in_progress')
  assert.equal(answer.headers['retry-after'], '1')
  const deadlineMs = performance.now() + 15_000
  while ((await rowport.sendingTo(slug)) > 0) {
    assert.ok(performance.now() < deadlineMs, 'nobody settles it')
    await sleep(50)
  }
  const found = await names()
  assert.deepEqual(
    found.filter((name) => name !== open),
    written,
  )
  assert.ok(found.length <= written.length + 1, 'done twice')
  // docs/operating.md: look, and repeat what is not there.
  if (!found.includes(open)) assert.equal((await add(open)).status, 201)
  assert.deepEqual(await names(), [...written, open])

  async function killedOverWrite() {
    const written = ['first']
    for (let n = 0; ; n++) {
      const open = `row ${n}`
      let isAnswered = false
      const answering = add(open).finally(() => {
        isAnswered = true
      })
      if (await wasStoppedWhileSending(() => isAnswered)) {
        victim.child.kill('SIGKILL')
        return { written, open, answer: await answering }
      }
      assert.equal((await answering).status, 201)
      written.push(open)
      // nginx takes turns: this is the other one's, and the next write the victim's again.
      assert.equal((await ask(path)).status, 200)
    }
  }

  /** Stopped, it cannot move on: what is still open a while later is what the kill will leave. */
  async function wasStoppedWhileSending(isAnswered: () => boolean): Promise<boolean> {
    while ((await rowport.sendingTo(slug)) === 0) if (isAnswered()) return false
    victim.child.kill('SIGSTOP')
    await sleep(100)
    if ((await rowport.sendingTo(slug)) > 0) return true
    victim.child.kill('SIGCONT')
    return false
  }
})

test('every instance is replaced under load, and no request fails', { skip }, async (t) => {
  const { ask } = await proxy(t)
  const path = await rowport.connectSheet('replaced', ['first'])
  const failed: string[] = []
  let sent = 0
  let added = 0
  let isOver = false
  async function client(): Promise<void> {
    while (!isOver) {
      const n = sent++
      const isWrite = n % 4 === 0
      const body = JSON.stringify({ name: `row ${n}` })
      const asked = isWrite ? { method: 'POST', body } : {}
      const { status, text } = await ask(path, asked).catch((error: unknown) => ({
        status: 0,
        text: String(error),
      }))
      if (status === 201) added++
      if (status !== (isWrite ? 201 : 200)) failed.push(`${asked.method ?? 'GET'}: ${status} ${text}`)
      await sleep(5)
    }
  }
  const clients = Array.from({ length: 8 }, client)
  for (const instance of rowport.instances) {
    // On a slow machine too, requests are under way when it is told to stop.
    const sentBefore = sent
    while (sent < sentBefore + 25) await sleep(5)
    await instance.restart(200)
  }
  isOver = true
  await Promise.all(clients)
  assert.deepEqual(failed, [])
  const total = (await ask(`${path}?limit=1`)).headers['x-total-count']
  assert.equal(total, `${1 + added}`, 'each row once')
})

test('streams come through as they are made, and go on where they were while every instance is replaced', {
  skip,
}, async (t) => {
  const { ask, stream } = await proxy(t)
  const path = await rowport.connectSheet('followed', ['first'])
  const first = await ask(path)
  const came: string[] = []
  const open = [1, 2, 3, 4].map(async () => {
    const seen: string[] = []
    let lastEventId = String(first.headers['x-change-cursor'])
    while (seen.at(-1) !== 'last') {
      const one = await stream(`${path}/changes`, { 'Last-Event-ID': lastEventId })
      assert.equal(one.response.statusCode, 200, one.text)
      await one.until(({ isEnded, changes }) => isEnded || changes.at(-1)?.after.name === 'last', 60_000)
      seen.push(...one.changes.map(({ after }) => after.name))
      lastEventId = one.lastEventId
      one.close()
      // As `retry` asks for, on a machine with more time.
      await sleep(100)
    }
    return seen
  })
  const add = async (name: string) => {
    const { status, text } = await ask(path, { method: 'POST', body: JSON.stringify({ name }) })
    assert.equal(status, 201, text)
    came.push(name)
  }
  for (const instance of rowport.instances) {
    const restarting = instance.restart(300)
    for (let n = 0; n < 5; n++) await add(`row ${came.length}`)
    await restarting
    await add(`row ${came.length}`)
  }
  await add('last')
  assert.deepEqual(await Promise.all(open), [came, came, came, came])
})

test('sizes: Rowport itself refuses what is too large, and long lists never lie on the disk', {
  skip,
}, async (t) => {
  const { ask, log } = await proxy(t)
  const names = Array.from({ length: 5_000 }, (_, n) => `${n} ${'x'.repeat(2_000)}`)
  const path = await rowport.connectSheet('long', names)
  const list = await ask(path, { readsAfterMs: 300 })
  assert.equal(list.status, 200)
  assert.ok(list.text.length > 10_000_000)
  assert.doesNotMatch(log(), /buffered to a temporary file/)

  const longQuery = await ask(`${path}?limit=1&offset=1&name%5Bne%5D=${'y'.repeat(7_000)}`)
  assert.equal(longQuery.status, 200)
  assert.match(String(longQuery.headers.link), /next.*prev/)
  const [largest, over, farOver] = [2, 2.9, 4].map((mebibytes) => ' '.repeat(mebibytes * 1024 * 1024))
  const post = (body = '') => ask(path, { method: 'POST', body })
  assert.equal((await post(largest)).status, 400, 'no JSON, but not too large')
  for (const body of [over, farOver]) {
    const { status, text } = await post(body)
    assert.equal(status, 413)
    assert.equal((JSON.parse(text) as { code: string }).code, 'payload_too_large')
  }
  const [manyLines, oneLine] = [
    Object.fromEntries(Array.from({ length: 3 }, (_, n) => [`X-Long-${n}`, 'y'.repeat(7_000)])),
    { 'X-Long': 'y'.repeat(17_000) },
  ]
  const tooLong = [
    await ask(path, { headers: manyLines }),
    await ask(path, { headers: oneLine }),
    await ask(`${path}?q=${'y'.repeat(17_000)}`),
  ]
  for (const { status, text, headers } of tooLong) {
    assert.equal(status, 431, text)
    const { error, code } = JSON.parse(text) as { error: string; code: string }
    assert.deepEqual([error, code], ['The request line and headers are too large.', 'headers_too_large'])
    assert.equal(headers['retry-after'], undefined, 'it would be too long again')
  }
  for (const [address, body] of [
    ['/api/%zz', { error: 'Malformed request.', code: 'bad_request' }],
    ['/v1/%zz', { error: { message: 'Malformed request.', code: 'bad_request' } }],
  ] as const) {
    const { status, text } = await ask(address)
    assert.equal(status, 400)
    assert.deepEqual(JSON.parse(text), body)
  }
  const upload = await ask('/dashboard/api/files?name=a.csv', { method: 'POST', body: farOver ?? '' })
  assert.notEqual(upload.status, 413, 'a file may be larger')
})

test('the dashboard is safe behind TLS that ends at nginx, and metrics stay inside', { skip }, async (t) => {
  const { ask } = await proxy(t)
  const page = await ask('/')
  assert.equal(page.status, 200)
  assert.match(String(page.headers['content-security-policy']), /default-src 'none'/)
  assert.match(String(page.headers['strict-transport-security']), /max-age/)
  const { token } = done(await rowport.instances[0].workshop.signIn.createLink('acme'))
  const { status, headers } = await ask('/dashboard/api/sign-in-link', {
    method: 'POST',
    body: JSON.stringify({ token }),
    headers: { 'Content-Type': 'application/json', 'X-Rowport-Dashboard': '1', Origin: 'https://localhost' },
  })
  assert.equal(status, 200)
  const cookie = headers['set-cookie']?.[0] ?? ''
  assert.match(cookie, /^__Host-rowport=.+; Secure/)
  const session = await ask('/dashboard/api/session', { headers: { Cookie: cookie.split(';', 1)[0] ?? '' } })
  assert.match(session.text, /"slug":"acme"/, 'on whichever instance')
  assert.equal((await ask('/metrics')).status, 404)
})

test('one client has so many requests under way at nginx; the next are told so, and others get in', {
  skip,
}, async (t) => {
  const { ask } = await proxy(t)
  const path = await rowport.connectSheet('shared-places', ['first'])
  const from = '127.0.0.4'
  // A body that never comes: nginx waits for it, and no instance hears of it.
  const stuck = { method: 'POST', body: '{', headers: { 'Content-Length': '10' }, from }
  const holding = { isOver: false }
  t.after(() => {
    holding.isOver = true
  })
  // On a busy machine the first may have been given up before the last one is there.
  const hold = async () => {
    while (!holding.isOver) {
      await ask(path, stuck).catch(() => {})
      await sleep(50)
    }
  }
  for (let n = 0; n < 256; n++) void hold()
  // Between two of them one of the others may have been given up, and left its place.
  let [refused, nested] = await askBoth()
  while (refused.status === 200 || nested.status === 401) {
    await sleep(50)
    ;[refused, nested] = await askBoth()
  }
  assert.deepEqual([refused.status, nested.status], [429, 429])
  assert.equal(refused.headers['retry-after'], '1')
  assert.equal((JSON.parse(refused.text) as { code: string }).code, 'too_many_at_once')
  assert.equal((JSON.parse(nested.text) as { error: { code: string } }).error.code, 'too_many_at_once')
  assert.equal((await ask(path, { from: '127.0.0.3' })).status, 200)

  async function askBoth(): Promise<[flat: Answer, nested: Answer]> {
    return [await ask(path, { from }), await ask('/v1/sheets', { from })]
  }
})

test('with no instance left, the answer is still JSON, nested where those of Rowport are', {
  skip,
}, async (t) => {
  const { ask } = await proxy(t, [1, 1])
  assertGatewayError(await ask('/api/sheets/acme/any'), 'flat')
  for (const path of ['/v1/sheets', '/v1?limit=1', '/dashboard/api/session']) {
    assertGatewayError(await ask(path), 'nested')
  }
})

/** docs/errors.md, "Proxies in front of Rowport". */
function assertGatewayError({ status, text, headers }: Answer, form: ErrorForm): void {
  assert.equal(status, 502)
  assert.equal(headers['retry-after'], '1')
  assert.equal(headers['access-control-allow-origin'], '*')
  const body = JSON.parse(text)
  const { code, message } = form === 'nested' ? body.error : { code: body.code, message: body.error }
  assert.equal(code, 'gateway_error')
  assert.match(message, /A write may have been done/)
}

/** With the key on every request that does not say otherwise. */
async function proxy(t: TestContext, ports = rowport.instances.map(({ port }) => port)) {
  const { ask, log, stream } = await startProxy(t, siteFile, ports)
  const authorized = { Authorization: `Bearer ${rowport.apiKey}` }
  return {
    log,
    stream: (path: string, headers: Record<string, string>) =>
      stream(path, { Accept: 'text/event-stream', ...authorized, ...headers }),
    ask: (path: string, asked: Asked = {}) =>
      ask(path, { ...asked, headers: { ...authorized, ...asked.headers } }),
  }
}

test('a form works behind nginx, and its visitors are counted by the addresses that nginx saw', {
  skip,
}, async (t) => {
  const { ask } = await proxy(t)
  const path = await rowport.connectSheet('guests', ['first'])
  const { forms, accounts } = rowport.instances[0].workshop
  const named = {
    column: 'name',
    label: 'Name',
    help: '',
    kind: 'text',
    isRequired: true,
    choices: [],
  } as const
  const settings = { fields: [named], entriesPerMinute: 2 }
  const account = done(await accounts.find('acme'))
  const made = done(await forms.create({ account, sheetSlug: 'guests', name: 'Party', settings }))
  const form = `/f/${made.id}`
  const page = await ask(form, { headers: { Authorization: '' } })
  assert.equal(page.status, 200)
  assert.match(page.text, new RegExp(`action="${form.slice('/f/'.length)}"`))
  const send = async (from: string, name: string, blamed: string) => {
    const headers = {
      ...{ Authorization: '', 'X-Forwarded-For': blamed },
      'Content-Type': 'application/x-www-form-urlencoded',
    }
    return (await ask(form, { method: 'POST', from, headers, body: `name=${name}` })).status
  }
  const statuses: number[] = []
  for (let n = 0; n < 4; n++) statuses.push(await send('127.0.0.4', `a${n}`, `192.0.2.${n}`))
  assert.deepEqual(statuses, [200, 200, 429, 429], 'whoever it says it is')
  assert.equal(await send('127.0.0.5', 'b', '127.0.0.4'), 200)
  const rows = JSON.parse((await ask(path)).text) as { name: string }[]
  assert.deepEqual(
    rows.map(({ name }) => name),
    ['first', 'a0', 'a1', 'b'],
  )
})
