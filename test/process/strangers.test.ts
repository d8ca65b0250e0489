import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { writeFile } from 'node:fs/promises'
import { Agent, type IncomingMessage, request } from 'node:http'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { generateApiKey } from '../../src/admission/api-key.ts'
import { defaultShares } from '../../src/shares/shares.ts'
import { holdsOfTwo } from '../measured-twice.ts'
import { patienceMs, times } from '../soak.ts'
import type { HoarderReport, HoarderWish } from './connection-hoarder.ts'
import { mainThreadOf } from './main-thread.ts'
import { freshPlace, type Place, type RunningServer } from './running.ts'

/*
 * What people who have no account can do to those who have one, on a server as it is run. They are told apart by their
 * address: every 127.x.y.z is one of this machine's.
 */

/**
 * What a victim's request may take while the places are fought for; on a busy machine some times what it takes in peace. It
 * is held against the middle of them: the slowest of some requests are those that had to wait for the machine.
 */
const mostMs = 50
const busyFactor = 5
const askings = times(100, 1_000)
/** Connections that the system has made and the server has not seen yet, or closed ones of which their owner does not know. */
const onTheirWay = 150

test('one address that tries to hold thousands of connections holds its share, and nobody else waits', {
  timeout: patienceMs,
}, async (t) => {
  const ground = await startGround(t)
  const aloneMs = await askOften(ground)
  const wanted = times(2_000, 10_000)
  const hoarder = await startHoarder(t, {
    port: ground.server.port,
    addresses: ['127.0.0.2'],
    connections: wanted,
    kinds: ['idle'],
    path: ground.small,
  })
  await hoarder.filled()
  const besideMs = await askQuickly(ground, aloneMs)
  const { opened, held } = await hoarder.report()
  tell(`one address, ${wanted} idle connections wanted, ${opened} opened, ${held} held`, aloneMs, besideMs)
  assert.ok(opened > wanted, 'it was closed some, and tried again')
  assert.ok(held <= defaultShares.connections_per_address + onTheirWay, `${held} are held`)
  assert.ok(held > defaultShares.connections_per_address / 2, `only ${held} are held: that is no attack`)
})

test('many addresses that fill all places, idle, silent, slow to ask and slow to read: others still get in', {
  timeout: patienceMs,
}, async (t) => {
  const shares = { connections: times(500, 10_000), connections_per_address: times(60, 512) }
  const ground = await startGround(t, { ROWPORT_SHARES: JSON.stringify(shares) })
  const aloneMs = await askOften(ground)
  const addresses = Array.from({ length: 24 }, (_, at) => `127.0.1.${at + 1}`)
  const wanted = addresses.length * shares.connections_per_address
  const hoarder = await startHoarder(t, {
    port: ground.server.port,
    addresses,
    connections: wanted,
    // The slow ones come seldom: each holds a whole answer in the machine's buffers.
    kinds: [...Array(6).fill('idle'), 'silent', 'slow-headers', ...Array(3).fill('idle'), 'slow-reader'],
    path: ground.large,
    headers: { Authorization: `Bearer ${ground.apiKey}` },
  })
  await hoarder.filled()
  const besideMs = await askQuickly(ground, aloneMs)
  const { opened, held } = await hoarder.report()
  tell(
    `${addresses.length} addresses, ${wanted} connections wanted, ${opened} opened, ${held} held`,
    aloneMs,
    besideMs,
  )
  assert.ok(held <= shares.connections + onTheirWay, `${held} are held`)
  assert.ok(held > shares.connections * 0.8, `only ${held} are held: that is no attack`)
})

test('slow readers from as many addresses as fill all places do not keep others out', {
  timeout: patienceMs,
}, async (t) => {
  const shares = { connections: 60, connections_per_address: 10 }
  const ground = await startGround(t, { ROWPORT_SHARES: JSON.stringify(shares) })
  const hoarder = await startHoarder(t, {
    port: ground.server.port,
    addresses: Array.from({ length: 8 }, (_, at) => `127.0.2.${at + 1}`),
    connections: 80,
    kinds: ['slow-reader'],
    path: ground.large,
    headers: { Authorization: `Bearer ${ground.apiKey}` },
  })
  await hoarder.filled()
  const besideMs = await askOften(ground, { askings: 50 })
  const { held, turnedAway } = await hoarder.report()
  process.stdout.write(
    `60 places full of slow readers of 8 addresses (${held} held, ${turnedAway} turned away): 50 of 50 others answered, ` +
      `p99 ${inMs(besideMs)}\n`,
  )
  assert.ok(held > 40, `only ${held} are held: that is no attack`)
})

test('a connection that finds all of its address busy is told why, and closed', async (t) => {
  const shares = { connections_per_address: 4 }
  const ground = await startGround(t, { ROWPORT_SHARES: JSON.stringify(shares) })
  const hoarder = await startHoarder(t, {
    port: ground.server.port,
    addresses: ['127.0.0.2'],
    connections: 4,
    kinds: ['slow-reader'],
    path: ground.large,
    headers: { Authorization: `Bearer ${ground.apiKey}` },
  })
  await hoarder.filled()
  const refused = await ask(ground, { from: '127.0.0.2' })
  assert.equal(refused.status, 429)
  assert.equal(refused.headers['retry-after'], '1')
  assert.equal(refused.headers.connection, 'close')
  assert.match(refused.text, /"code":"too_many_at_once","details":"Your IP address has /)
  assert.equal((await ask(ground, { from: '127.0.0.3' })).status, 200)
  const metrics = await (await fetch(`${ground.server.url}/metrics`)).text()
  assert.match(metrics, /rowport_shares_used_up_total\{share="connections_per_address"\} [1-9]/)
})

for (const path of ['/metrics', '/api/sheets/acme/nowhere']) {
  test(`one address that asks for ${path} without waiting for answers does not make others wait`, {
    timeout: patienceMs,
  }, async (t) => {
    await assertFastBeside(t, { kinds: ['unawaited'], path, connections: 20 })
  })
}

test('bodies in chunks of one byte, without end and to nowhere, do not make others wait', {
  timeout: patienceMs,
}, async (t) => {
  await assertFastBeside(t, { kinds: ['tiny-chunks'], path: '/api/sheets/acme/nowhere', connections: 20 })
})

test('behind a trusted proxy its clients are counted by what they have under way, and its connections stay', {
  timeout: patienceMs,
}, async (t) => {
  const shares = { connections_per_address: 30 }
  const ground = await startGround(t, {
    ROWPORT_SHARES: JSON.stringify(shares),
    ROWPORT_TRUSTED_PROXIES: '127.0.0.9',
  })
  const proxied = { port: ground.server.port, addresses: ['127.0.0.9'], path: ground.large }
  const pool = await startHoarder(t, { ...proxied, connections: 120, kinds: ['idle'] })
  await pool.filled()
  const attacker = { 'X-Forwarded-For': '192.0.2.1', Authorization: `Bearer ${ground.apiKey}` }
  const slow = await startHoarder(t, {
    ...proxied,
    connections: 40,
    kinds: ['slow-reader'],
    headers: attacker,
  })
  await slow.filled()
  const refused = await ask(ground, { from: '127.0.0.9', headers: { 'X-Forwarded-For': '192.0.2.1' } })
  assert.equal(refused.status, 429)
  assert.match(refused.text, /"too_many_at_once"/)
  assert.equal(refused.headers.connection, 'keep-alive', 'the connection is the proxy’s')
  const { turnedAway } = await slow.report()
  const besideMs = await askOften(ground, { from: '127.0.0.9', headers: { 'X-Forwarded-For': '192.0.2.2' } })
  const { opened, held } = await pool.report()
  process.stdout.write(
    `behind a proxy: of 40 requests that one client leaves lying ${turnedAway} were refused; ${askings} of ${askings} requests ` +
      `of another answered, p99 ${inMs(besideMs)}; ${held} of ${opened} idle connections of the proxy still open\n`,
  )
  assert.equal(turnedAway, 40 - shares.connections_per_address)
  assert.equal(held, 120)
  assert.equal(opened, 120, 'none was closed')
})

test('600 refusals at an address stop strangers there, and no valid key', async (t) => {
  const ground = await startGround(t, {
    ROWPORT_SHARES: JSON.stringify({ connections_per_address: 10_000 }),
  })
  const from = '127.0.0.5'
  const statuses = new Map<number, number>()
  for (let n = 0; n < 605; n++) {
    const { status } = await ask(ground, { from, apiKey: n % 2 === 0 ? generateApiKey('live') : '' })
    statuses.set(status, (statuses.get(status) ?? 0) + 1)
  }
  const passed: number[] = []
  for (let n = 0; n < 50; n++) passed.push((await ask(ground, { from })).status)
  const strangers = await Promise.all(
    ['', 'nonsense', generateApiKey('live'), `${ground.apiKey.slice(0, -1)}_`].map((apiKey) =>
      ask(ground, { from, apiKey }),
    ),
  )
  process.stdout.write(
    `605 strangers at one address: ${[...statuses].map(([status, count]) => `${count} × ${status}`).join(', ')}; then a valid ` +
      `key there: ${passed.filter((status) => status === 200).length} of 50 passed\n`,
  )
  assert.deepEqual([...statuses].sort(), [
    [401, 300],
    [403, 300],
    [429, 5],
  ])
  assert.deepEqual(new Set(passed), new Set([200]))
  assert.deepEqual(
    strangers.map(({ status, headers }) => [status, headers['x-ratelimit-limit']]),
    Array(4).fill([429, '600']),
  )
})

test('readers without a key use up their own minute, and none of the owner’s', async (t) => {
  const ground = await startGround(t)
  const { place } = ground
  await ran(place, ['account', 'plan', 'acme', 'free'])
  await ran(place, ['sheet', 'set', 'acme/small', '--access', 'public-read'])
  const ofStranger: number[] = []
  for (let n = 0; n < 150; n++) {
    ofStranger.push((await ask(ground, { from: `127.0.0.${2 + (n % 3)}`, apiKey: '' })).status)
  }
  const ofOwner: number[] = []
  for (let n = 0; n < 60; n++) ofOwner.push((await ask(ground)).status)
  const count = (of: readonly number[], status: number) => of.filter((each) => each === status).length
  process.stdout.write(
    `three strangers, 150 reads of a public sheet of a free account: ${count(ofStranger, 200)} × 200, ` +
      `${count(ofStranger, 429)} × 429; then the owner's 60 keyed ones: ${count(ofOwner, 200)} × 200\n`,
  )
  assert.equal(count(ofStranger, 200), 60)
  assert.equal(count(ofStranger, 429), 90)
  assert.equal(count(ofOwner, 200), 60)
})

interface Ground {
  place: Place
  server: RunningServer
  /** Of an account without limits. */
  apiKey: string
  small: string
  large: string
}

async function startGround(t: TestContext, env: Record<string, string> = {}): Promise<Ground> {
  const place = await freshPlace(t)
  const server = await place.start({ env })
  await ran(place, ['account', 'create', 'acme', '--plan', 'enterprise'])
  await writeFile(join(place.folder, 'small.csv'), 'name,price\nOak,1\n')
  // More than the buffers of two sockets take, so that a reader who stops reading holds its answer up.
  const lines = Array.from({ length: 60_000 }, (_, at) => `row ${at},${'x'.repeat(150)}\n`)
  await writeFile(join(place.folder, 'large.csv'), `name,text\n${lines.join('')}`)
  for (const name of ['small', 'large'])
    await ran(place, ['sheet', 'connect', `acme/${name}`, '--file', join(place.folder, `${name}.csv`)])
  const { key } = JSON.parse(
    await ran(place, ['key', 'create', 'acme', '--name', 'k', '--scope', 'read', '--json']),
  ) as { key: string }
  const ground = {
    place,
    server,
    apiKey: key,
    small: '/api/sheets/acme/small',
    large: '/api/sheets/acme/large',
  }
  for (const path of [ground.small, ground.large])
    assert.equal((await ask(ground, { path })).status, 200, 'it is in memory from now on')
  return ground
}

async function ran(place: Place, words: readonly string[]): Promise<string> {
  const { code, stdout, stderr } = await place.rowportHere(words)
  assert.equal(code, 0, stderr)
  return stdout
}

interface Asking {
  from?: string
  path?: string
  headers?: Record<string, string>
  /** '' for none. */
  apiKey?: string
}

interface Answer {
  status: number
  headers: IncomingMessage['headers']
  text: string
}

/** Each over a connection of its own: what has to get in is that. */
async function ask(ground: Ground, asking: Asking = {}): Promise<Answer> {
  const { from = '127.0.0.1', path = ground.small, apiKey = ground.apiKey } = asking
  const key = apiKey === '' ? {} : { Authorization: `Bearer ${apiKey}` }
  const agent = new Agent({ keepAlive: true, maxSockets: 1, localAddress: from })
  try {
    const asked = request({
      agent,
      host: '127.0.0.1',
      port: ground.server.port,
      path,
      headers: { ...key, ...asking.headers },
    })
    asked.end()
    const [response] = (await once(asked, 'response')) as [IncomingMessage]
    const chunks: Buffer[] = []
    for await (const chunk of response) chunks.push(chunk as Buffer)
    const { statusCode: status = 0, headers } = response
    return { status, headers, text: Buffer.concat(chunks).toString() }
  } finally {
    agent.destroy()
  }
}

/** How long each took, the shortest first. None may fail. */
async function askOften(ground: Ground, asking: Asking & { askings?: number } = {}): Promise<number[]> {
  const tookMs: number[] = []
  for (let n = 0; n < (asking.askings ?? askings); n++) {
    const begunMs = performance.now()
    const { status } = await ask(ground, asking)
    tookMs.push(performance.now() - begunMs)
    assert.equal(status, 200, `request ${n}`)
    await sleep(2)
  }
  return tookMs.sort((one, other) => one - other)
}

function percentile(sorted: readonly number[], share: number): number {
  return sorted[Math.floor(sorted.length * share)] ?? 0
}

function inMs(sorted: readonly number[]): string {
  return `${percentile(sorted, 0.99).toFixed(1)} ms, p50 ${percentile(sorted, 0.5).toFixed(1)} ms`
}

function tell(attack: string, aloneMs: readonly number[], besideMs: readonly number[]): void {
  const { length } = besideMs
  process.stdout.write(
    `${attack}: ${length} of ${length} requests of another address answered, p99 ${inMs(besideMs)} (${inMs(aloneMs)} before)\n`,
  )
}

/** While others do their worst. */
async function askQuickly(ground: Ground, aloneMs: readonly number[]): Promise<number[]> {
  const allowedMs = Math.max(mostMs, busyFactor * percentile(aloneMs, 0.5))
  const measure = async () => {
    const before = mainThreadOf(ground.server)
    const tookMs = await askOften(ground)
    const after = mainThreadOf(ground.server)
    const used = `${(after.usedMs - before.usedMs).toFixed(0)} ms of the main thread`
    const starved = `${(after.starvedMs - before.starvedMs).toFixed(0)} ms without a processor`
    return { tookMs, words: `p99 ${inMs(tookMs)} (${used}, ${starved})` }
  }
  const { tookMs } = await holdsOfTwo(measure, ({ tookMs, words }) =>
    percentile(tookMs, 0.5) <= allowedMs
      ? null
      : `more than ${allowedMs.toFixed(0)} ms: ${words}; before: p99 ${inMs(aloneMs)}`,
  )
  return tookMs
}

async function assertFastBeside(
  t: TestContext,
  wish: Pick<HoarderWish, 'kinds' | 'path' | 'connections'>,
): Promise<void> {
  const ground = await startGround(t)
  const aloneMs = await askOften(ground)
  const hoarder = await startHoarder(t, {
    port: ground.server.port,
    addresses: ['127.0.0.2'],
    ...wish,
  })
  await hoarder.filled()
  const besideMs = await askQuickly(ground, aloneMs)
  const { opened } = await hoarder.report()
  tell(`${wish.kinds} ${wish.path}, ${opened} connections opened`, aloneMs, besideMs)
}

interface Hoarder {
  report(): Promise<HoarderReport>
  /** It has tried to open all that it wants. */
  filled(): Promise<void>
}

async function startHoarder(t: TestContext, wish: HoarderWish): Promise<Hoarder> {
  const script = join(import.meta.dirname, 'connection-hoarder.ts')
  const child = spawn(process.execPath, [script, JSON.stringify(wish)], {
    stdio: ['pipe', 'pipe', 'inherit'],
  })
  child.stdout.setEncoding('utf8')
  t.after(async () => {
    child.stdin.end()
    if (child.exitCode === null) await once(child, 'exit')
  })
  async function report(): Promise<HoarderReport> {
    child.stdin.write('\n')
    const [line] = (await once(child.stdout, 'data')) as [string]
    return JSON.parse(line) as HoarderReport
  }
  return {
    report,
    async filled() {
      while ((await report()).opened < wish.connections) await sleep(100)
      // The last ones have to get through to the server, and slow ones to ask.
      await sleep(1_000)
    },
  }
}
