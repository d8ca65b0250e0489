import assert from 'node:assert/strict'
import { once } from 'node:events'
import { readFile } from 'node:fs/promises'
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import { type TestContext, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { readBody } from '../../src/api/request/body.ts'
import { systemClock } from '../../src/clock.ts'
import { ClientGone } from '../../src/http/client-gone.ts'
import { createMetrics } from '../../src/reporting/metrics.ts'
import type { Observation, Observe } from '../../src/reporting/observe.ts'
import { listen, type RunningServer } from '../../src/server/server.ts'
import { defaultShares } from '../../src/shares/shares.ts'
import { ownPage, signedIn } from '../connect/visitor.ts'
import { bearer } from '../harness.ts'
import { processorMs } from '../processor-time.ts'
import { assertRefusal, openSocket, parseAnswers, type RawAnswer, startWired } from './raw-client.ts'

/** The product's limits, thirty times as fast: 10 s for headers, 30 s for a request, looked at every second. */
const quick = { headersMs: 300, requestMs: 900, checkEveryMs: 30, keepAliveMs: 300, idleSocketMs: 1_800 }
/** How late a time-out may be noticed on a busy machine: still before the product's own limits would strike. */
const latenessMs = 8_000

test('a client that connects and says nothing is told 408 and closed', async (t) => {
  const wired = await startWired(t, quick)
  const begunMs = performance.now()
  const socket = await openSocket(t, wired.rowport.port)
  const { answers, closedMs } = await untilClosed(socket)
  assertRefusal(answers[0], 408, 'request_timeout', 'flat')
  assertAbout(closedMs - begunMs, quick.headersMs)
})

test('a client that sends its headers byte by byte is told 408 and closed, however busy it looks', async (t) => {
  const wired = await startWired(t, quick)
  const begunMs = performance.now()
  const socket = await openSocket(t, wired.rowport.port)
  const stop = dribble(
    socket,
    `GET ${wired.sheet.formA} HTTP/1.1\r\nHost: rowport.test\r\nX: ${'y'.repeat(999)}`,
  )
  const { answers, closedMs } = await untilClosed(socket)
  stop()
  assertRefusal(answers[0], 408, 'request_timeout', 'flat')
  assertAbout(closedMs - begunMs, quick.headersMs)
})

test('a head that breaks off is told 408, also on a connection that has just brought a file', async (t) => {
  const wired = await startWired(t, quick)
  const owner = await signedIn(wired.rowport)
  const socket = await openSocket(t, wired.rowport.port)
  const csv = 'a\n1\n'
  const own = Object.entries(ownPage).map(([name, value]) => `${name}: ${value}\r\n`)
  socket.write(
    `POST /dashboard/api/files?name=s.csv HTTP/1.1\r\nHost: rowport.test\r\nCookie: ${owner.cookie}\r\n${own.join('')}` +
      `Content-Type: application/octet-stream\r\nContent-Length: ${csv.length}\r\n\r\n${csv}`,
  )
  await once(socket, 'data')
  const begunMs = performance.now()
  const stop = dribble(
    socket,
    `GET ${wired.sheet.formA} HTTP/1.1\r\nHost: rowport.test\r\nX: ${'y'.repeat(999)}`,
  )
  const { closedMs } = await untilClosed(socket)
  stop()
  assertAbout(closedMs - begunMs, quick.headersMs)
})

test('a body that comes byte by byte is 408 in the form of its address, and nothing of it is written', async (t) => {
  const wired = await startWired(t, quick)
  for (const [path, form] of [
    [wired.sheet.formA, 'flat'],
    [wired.sheet.formB, 'nested'],
  ] as const) {
    const row = '{"name":"late"}'
    const begunMs = performance.now()
    const socket = await openSocket(t, wired.rowport.port, true)
    socket.write(
      `POST ${path} HTTP/1.1\r\n${wired.head}Content-Length: ${row.length}\r\n\r\n${row.slice(0, 5)}`,
    )
    const closed = untilClosed(socket)
    // Told that it is too late, it sends the rest all the same.
    socket.once('data', () => socket.write(row.slice(5)))
    const { answers, closedMs } = await closed
    assert.equal(answers.length, 1)
    assertRefusal(answers[0], 408, 'request_timeout', form)
    assert.equal(answers[0]?.headers.get('connection'), 'close')
    assertAbout(closedMs - begunMs, quick.requestMs)
  }
  assert.doesNotMatch(await readFile(wired.sheet.path, 'utf8'), /late/)
  await wired.assertUnharmed()
})

test('a client that was answered before its body came gets no second answer when the body does not', async (t) => {
  const wired = await startWired(t, quick)
  const socket = await openSocket(t, wired.rowport.port)
  socket.write(`POST ${wired.sheet.formB} HTTP/1.1\r\nHost: rowport.test\r\nContent-Length: 100\r\n\r\n{`)
  const { answers, rest } = await untilClosed(socket)
  assert.deepEqual(
    answers.map(({ status }) => status),
    [401],
  )
  assert.equal(rest, '')
})

test('a client that ignores the refusal and goes on is cut off', async (t) => {
  const wired = await startWired(t, quick)
  const begunMs = performance.now()
  const socket = await openSocket(t, wired.rowport.port, true)
  socket.resume()
  const stop = dribble(socket, `GET / HTTP/1.1\r\nX: ${'y'.repeat(9_999)}`)
  await new Promise((resolve) => socket.once('close', resolve))
  stop()
  // Half a second to read why, and not more.
  assertAbout(performance.now() - begunMs, quick.headersMs + 500)
})

test('a connection with nothing more to ask is closed without a word, and one that asks now and then is kept', async (t) => {
  const wired = await startWired(t, quick)
  const { clock, port } = wired.rowport
  const ask = `GET ${wired.sheet.formA} HTTP/1.1\r\n${wired.head}\r\n`
  const [silent, busy] = [await openSocket(t, port), await openSocket(t, port)]
  const [ofSilent, ofBusy] = [untilClosed(silent), untilClosed(busy)]
  const looksTaken = () => sleep(10 * quick.checkEveryMs)
  for (const socket of [silent, busy]) socket.write(ask)
  await looksTaken()
  // A second more, so that a client that reuses the connection in its last moment is still served.
  clock.advanceMs(quick.keepAliveMs + 900)
  await looksTaken()
  assert.equal(silent.readyState, 'open')
  busy.write(ask)
  await looksTaken()
  clock.advanceMs(200)
  const { answers, rest } = await ofSilent
  assert.deepEqual(
    answers.map(({ status, headers }) => [status, headers.get('keep-alive')]),
    [[200, 'timeout=65']],
  )
  assert.equal(rest, '')
  assert.equal(busy.readyState, 'open')
  clock.advanceMs(quick.keepAliveMs + 1_000)
  assert.equal((await ofBusy).answers.length, 2)
})

test('a request that has begun to come when its connection would be closed is answered', async (t) => {
  const wired = await startWired(t, { ...quick, headersMs: 20_000, requestMs: 20_000 })
  const { clock, port } = wired.rowport
  const socket = await openSocket(t, port)
  const closed = untilClosed(socket)
  const head = `GET ${wired.sheet.formA} HTTP/1.1\r\n${wired.head}`
  socket.write(`${head}\r\n${head}`)
  await sleep(10 * quick.checkEveryMs)
  clock.advanceMs(quick.keepAliveMs + 900)
  socket.write('X: y\r\n')
  await sleep(10 * quick.checkEveryMs)
  clock.advanceMs(200)
  await sleep(10 * quick.checkEveryMs)
  socket.write('Connection: close\r\n\r\n')
  assert.equal((await closed).answers.length, 2)
})

test('the handler of a body that never ends is let go', async (t) => {
  const ends = Promise.withResolvers<unknown>()
  const { port } = await listenAlone(t, async (request) =>
    ends.resolve(await readBody(request, () => undefined).catch((error) => error)),
  )
  const socket = await openSocket(t, port, true)
  socket.write('POST /api/x HTTP/1.1\r\nHost: rowport.test\r\nContent-Length: 10\r\n\r\n{')
  const { answers } = await untilClosed(socket)
  assertRefusal(answers[0], 408, 'request_timeout', 'flat')
  assert.ok((await ends.promise) instanceof ClientGone)
})

test('a client that never reads is closed, and what was kept for it let go', async (t) => {
  const closed = Promise.withResolvers<number>()
  const big = Buffer.alloc(64 * 1024 * 1024)
  const idleSocketMs = 400
  const { port } = await listenAlone(
    t,
    (_request, response) => {
      const begunMs = performance.now()
      response.once('close', () => closed.resolve(performance.now() - begunMs))
      response.end(big)
    },
    { ...quick, idleSocketMs },
  )
  const socket = await openSocket(t, port)
  socket.pause()
  socket.write('GET /api/x HTTP/1.1\r\nHost: rowport.test\r\n\r\n')
  assertAbout(await closed.promise, idleSocketMs)
})

test('a client that has read all there was is not closed for what the server takes to go on', async (t) => {
  const idleSocketMs = 100
  const { port } = await listenAlone(
    t,
    async (_request, response) => {
      response.write('begun, ')
      // What follows is sent by somebody else, as the changes of a stream are.
      setTimeout(() => response.end('done'), 10 * idleSocketMs)
    },
    { ...quick, idleSocketMs },
  )
  const answer = await fetch(`http://127.0.0.1:${port}/api/x`)
  assert.equal(await answer.text(), 'begun, done')
})

test('garbage that keeps coming while an earlier request is answered is refused once', async (t) => {
  const seen: Observation[] = []
  const { port } = await listenAlone(
    t,
    async (_request, response) => {
      await sleep(150)
      response.end('fine')
    },
    quick,
    (observation) => void seen.push(observation),
  )
  const socket = await openSocket(t, port)
  socket.write('GET /api/x HTTP/1.1\r\nHost: rowport.test\r\n\r\nGARBAGE\r\n\r\n')
  const stop = dribble(socket, '\x01')
  const { answers, rest } = await untilClosed(socket)
  stop()
  assert.deepEqual(
    answers.map(({ status }) => status),
    [200, 400],
  )
  assert.equal(rest, '')
  assert.equal(seen.length, 1, 'and counted once')
})

test('a server that closes waits for the work of clients that are gone', async (t) => {
  const begun = Promise.withResolvers<void>()
  let isDone = false
  const { port, close } = await listenAlone(t, async () => {
    begun.resolve()
    await sleep(200)
    isDone = true
  })
  const socket = await openSocket(t, port)
  socket.write('GET /api/x HTTP/1.1\r\nHost: rowport.test\r\n\r\n')
  await begun.promise
  socket.resetAndDestroy()
  await close(0)
  assert.ok(isDone)
})

test('a failure while answering closes the connection and nothing else', async (t) => {
  const { port } = await listenAlone(t, async (request, response) => {
    if (request.url === '/api/broken') throw new Error('made by this test')
    response.end('fine')
  })
  const broken = await openSocket(t, port)
  broken.write('GET /api/broken HTTP/1.1\r\nHost: rowport.test\r\n\r\n')
  assert.deepEqual((await untilClosed(broken)).answers, [])
  const after = await fetch(`http://127.0.0.1:${port}/api/x`)
  assert.equal(await after.text(), 'fine')
})

test('a thousand slow clients are all closed in time while others are served', async (t) => {
  // Less hurry than above: a thousand connections alone take a while to open.
  const limits = { headersMs: 1_000, requestMs: 1_500, checkEveryMs: 100 }
  const wired = await startWired(t, limits)
  // By the work that is done in the meantime: a machine that is busy with something else does not count.
  const ask = () =>
    processorMs(async () => {
      const answer = await wired.rowport.get(wired.sheet.formA, bearer(wired.key))
      assert.equal(answer.status, 200)
      await answer.text()
    })
  await ask()
  const aloneMs = await durations(ask, () => true, 100)

  const headers = `GET ${wired.sheet.formA} HTTP/1.1\r\nHost: rowport.test\r\nX: ${'y'.repeat(999)}`
  const body = `POST ${wired.sheet.formB} HTTP/1.1\r\n${wired.head}Content-Length: 999\r\n\r\n{`
  let isOver = false
  const slow = Array.from({ length: 1_000 }, async (_, at) => {
    const socket = await openSocket(t, wired.rowport.port)
    const begunMs = performance.now()
    if (at % 4 === 3) socket.write(body)
    const stop = at % 4 === 0 ? () => {} : dribble(socket, at % 4 === 3 ? 'x'.repeat(900) : headers, 400)
    const { answers, closedMs } = await untilClosed(socket)
    stop()
    assertRefusal(answers[0], 408, 'request_timeout', at % 4 === 3 ? 'nested' : 'flat')
    return closedMs - begunMs
  })
  const besideMs = durations(ask, () => !isOver)
  const tookMs = await Promise.all(slow)
  isOver = true
  const slowestMs = Math.max(...tookMs)
  const [alone, beside] = [percentile99(aloneMs), percentile99(await besideMs)]
  t.diagnostic(
    `1,000 slow clients: the last closed after ${Math.round(slowestMs)} ms of ${limits.requestMs} allowed; ` +
      `normal requests p99 ${beside.toFixed(1)} ms of work (${alone.toFixed(1)} ms alone), ${(await besideMs).length} served`,
  )
  // A thousand at once are a second of work, which a busy machine takes its time for.
  assert.ok(slowestMs < limits.requestMs + 2 * latenessMs, `${slowestMs} ms`)
  assert.ok((await besideMs).length > 20)
  assert.ok(beside < 1_000, `p99 ${beside} ms of work`)
  await wired.assertUnharmed()
})

/** Only the server, with one handler behind it. */
async function listenAlone(
  t: TestContext,
  api: (request: IncomingMessage, response: ServerResponse) => unknown,
  limits = quick,
  observe: Observe = () => {},
): Promise<RunningServer> {
  const parts = {
    api,
    openDashboard: async () => ({
      ...{ methodsAt: () => null, answer: async () => {}, answerNotFound: async () => {} },
    }),
    agents: async () => {},
    forms: async () => {},
    metrics: createMetrics(),
    observe,
    storeProblem: async () => null,
    drain: { isDraining: false },
    shares: defaultShares,
    trustedProxies: null,
    clock: systemClock,
  }
  const server = await listen(parts, { host: '127.0.0.1', port: 0 }, limits)
  t.after(() => server.close(0))
  return server
}

interface Closed {
  answers: RawAnswer[]
  rest: string
  closedMs: number
}

async function untilClosed(socket: Socket): Promise<Closed> {
  const chunks: Buffer[] = []
  socket.on('data', (chunk: Buffer) => chunks.push(chunk))
  socket.on('end', () => setTimeout(() => socket.end(), 50))
  await new Promise((resolve) => socket.once('close', resolve))
  return { ...parseAnswers(Buffer.concat(chunks)), closedMs: performance.now() }
}

/** One byte after the other, until told to stop. */
function dribble(socket: Socket, text: string, everyMs = 20): () => void {
  let at = 0
  const timer = setInterval(() => socket.write(text[at++ % text.length] ?? ''), everyMs)
  return () => clearInterval(timer)
}

async function durations(
  ask: () => Promise<number>,
  mayGoOn: () => boolean,
  atMost = 10_000,
): Promise<number[]> {
  const all: number[] = []
  while (mayGoOn() && all.length < atMost) {
    all.push(await ask())
    await sleep(1)
  }
  return all
}

function percentile99(numbers: readonly number[]): number {
  return numbers.toSorted((one, other) => one - other)[Math.floor(numbers.length * 0.99)] ?? 0
}

/** Counted from before the connection was there, so that it is never too little. */
function assertAbout(elapsedMs: number, limitMs: number): void {
  assert.ok(elapsedMs > limitMs * 0.7, `${elapsedMs} ms is before its time of ${limitMs} ms`)
  assert.ok(elapsedMs < limitMs + latenessMs, `${elapsedMs} ms is long after ${limitMs} ms`)
}
