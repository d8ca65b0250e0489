import assert from 'node:assert/strict'
import diagnosticsChannel from 'node:diagnostics_channel'
import { once } from 'node:events'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { connect, type Socket } from 'node:net'
import { type TestContext, test } from 'node:test'
import { systemClock } from '../../src/clock.ts'
import { createMetrics } from '../../src/reporting/metrics.ts'
import { listen } from '../../src/server/server.ts'
import { defaultShares } from '../../src/shares/shares.ts'
import { parseAnswers } from './raw-client.ts'

const request = (path: string) => `GET ${path} HTTP/1.1\r\nHost: rowport.test\r\n\r\n`

test('a caller waits for some of the requests that another one sent at once, not for all of them', async (t) => {
  const handled: string[] = []
  const port = await listenAlone(t, ({ url = '' }, response) => {
    handled.push(url)
    keepThreadBusy(1)
    response.end('fine')
  })
  const greedy = await Promise.all(Array.from({ length: 20 }, () => open(t, port, '127.0.0.2')))
  const other = await open(t, port, '127.0.0.3')
  // The server takes a few new connections in between two looks at all others, so each has to be there first.
  for (const socket of [...greedy, other]) {
    socket.write(request('/api/first'))
    await answersOf(socket, 1)
  }
  handled.length = 0
  for (const socket of greedy) socket.write(request('/api/greedy').repeat(50))
  other.write(request('/api/other'))
  const answered = greedy.map((socket) => answersOf(socket, 50))
  await answersOf(other, 1)
  const before = handled.indexOf('/api/other')
  await Promise.all(answered)
  assert.equal(handled.length, 20 * 50 + 1, 'nothing was lost')
  t.diagnostic(`after ${before} of 1,000`)
  assert.ok(before <= 200, `it was answered after ${before} of 1,000 requests of another`)
})

test('what follows fifty requests without an answer is not even looked at', async (t) => {
  let begun = 0
  const port = await listenAlone(t, (_request, response) => {
    begun++
    setImmediate(() => response.end('fine'))
  })
  const parsed = countRequests(t)
  // Of the first packet of a network that has always waited, Node makes every request.
  await sendWithoutWaiting(1_400)
  assert.ok(begun <= 51, `${begun} were begun`)
  const parsedBefore = parsed()
  await sendWithoutWaiting(1_400)
  const parsedNow = parsed() - parsedBefore
  assert.ok(begun <= 102, `${begun} were begun`)
  assert.ok(parsedNow < 400, `Node made ${parsedNow} of the next 1,400 requests`)

  async function sendWithoutWaiting(requests: number): Promise<void> {
    const socket = await open(t, port, '127.0.0.2')
    socket.write(request('/api/x').repeat(requests))
    await new Promise((resolve) => socket.once('close', resolve))
  }
})

test('of all connections together so many requests wait for their answers, and who asks for more is cut off', async (t) => {
  const begun: string[] = []
  const port = await listenAlone(t, ({ url = '' }) => void begun.push(url))
  let cut = 0
  const sockets = await Promise.all(
    Array.from({ length: 130 }, async (_, n) => {
      const socket = await open(t, port, `127.0.1.${n + 1}`)
      socket.once('close', () => cut++)
      socket.write(request('/api/first').repeat(50))
      return socket
    }),
  )
  await until(() => cut > 0 && begun.length > 5_000)
  assert.ok(cut >= 25 && cut <= 35, `${cut} of 130 connections were cut off`)
  for (const socket of sockets) socket.resetAndDestroy()
  // There is room again, also that of those whose answers were never begun; when the server has heard that they left.
  for (let n = 0; begun.filter((url) => url === `/api/${n}`).length < 50; ) {
    assert.ok(++n < 100, 'there never was room again')
    const next = await open(t, port, '127.0.2.1')
    next.write(request(`/api/${n}`).repeat(50))
    await new Promise((resolve) => setTimeout(resolve, 200))
  }
})

test('whoever waits for answers is not behind the first requests of many networks that do not', async (t) => {
  const between = await handledBeforeAnother(t, { connections: 100, networks: 100, requestsEach: 40 })
  // The first of each connection has nobody before it.
  assert.ok(between <= 300, `it was answered after ${between} of 4,000 requests of others`)
})

test('of a crowd that asks in the same moment, whoever comes from elsewhere waits for a part', async (t) => {
  const between = await handledBeforeAnother(t, { connections: 1_000, networks: 4, requestsEach: 1 })
  assert.ok(between <= 400, `it was answered after ${between} of 1,000 requests of others`)
})

test('a newcomer waits for a few of those who came with it, not for each of them, while open connections keep the server busy', {
  skip: process.platform === 'linux' ? false : 'ports are shared between listeners on Linux',
}, async (t) => {
  let answered = 0
  const port = await listenAlone(t, (_request, response) => {
    answered++
    keepThreadBusy(5)
    response.end('fine')
  })
  const busy = await open(t, port, '127.0.0.2')
  let isOver = false
  const keptBusy = (async () => {
    while (!isOver) {
      busy.write(request('/api/busy'))
      await answersOf(busy, 1)
    }
  })()
  const before = answered
  await Promise.all(Array.from({ length: 150 }, (_, n) => open(t, port, `127.0.1.${n + 1}`)))
  const newcomer = await open(t, port, '127.0.0.3')
  newcomer.write(request('/api/newcomer'))
  await answersOf(newcomer, 1)
  isOver = true
  await keptBusy
  const waited = answered - before
  t.diagnostic(`after ${waited} requests of another`)
  assert.ok(waited < 40, `a newcomer behind 150 others was let in after ${waited} requests of another`)
})

test('a long body that nobody reads yet is read to its end, whatever others of its network do meanwhile', {
  timeout: 20_000,
}, async (t) => {
  const isBegun = Promise.withResolvers<void>()
  const isReleased = Promise.withResolvers<void>()
  const port = await listenAlone(t, async (asked, response) => {
    if (asked.method === 'POST') {
      isBegun.resolve()
      await isReleased.promise
    }
    let bytes = 0
    for await (const chunk of asked) bytes += (chunk as Buffer).length
    response.end(String(bytes))
  })
  const bodyBytes = 1_000_000
  const patient = await open(t, port, '127.0.0.2')
  patient.write(
    `POST /api/x HTTP/1.1\r\nHost: rowport.test\r\nContent-Length: ${bodyBytes}\r\n\r\n${'x'.repeat(bodyBytes)}`,
  )
  await isBegun.promise
  const hasty = await open(t, port, '127.0.0.2')
  hasty.write(request('/api/hasty').repeat(10))
  await answersOf(hasty, 10)
  const answer = answersOf(patient, 1)
  isReleased.resolve()
  assert.deepEqual(await answer, [String(bodyBytes)])
})

test('bodies that come in many pieces, and the end of what a client sends, keep their order behind others', async (t) => {
  const port = await listenAlone(t, async (asked, response) => {
    let bytes = 0
    for await (const chunk of asked) {
      bytes += (chunk as Buffer).length
      // Long enough that a round is over, and the rest has to wait.
      keepThreadBusy(2)
    }
    response.end(String(bytes))
  })
  const bodyBytes = 300_000
  const answers = await Promise.all(
    Array.from({ length: 6 }, async () => {
      const socket = await open(t, port, '127.0.0.2')
      socket.write(
        `POST /api/x HTTP/1.1\r\nHost: rowport.test\r\nContent-Length: ${bodyBytes}\r\n\r\n${'x'.repeat(bodyBytes)}`,
      )
      socket.end(`${request('/api/x')}${request('/api/x')}`)
      return answersOf(socket, 3)
    }),
  )
  for (const answer of answers) assert.deepEqual(answer, [String(bodyBytes), '0', '0'])
})

/** How many of the crowd's requests are handled before the one that another sends right after them. */
async function handledBeforeAnother(
  t: TestContext,
  crowd: { connections: number; networks: number; requestsEach: number },
): Promise<number> {
  let handled = 0
  const port = await listenAlone(t, (_request, response) => {
    handled++
    keepThreadBusy(0.2)
    response.end('fine')
  })
  const sockets: Socket[] = []
  for (let n = 0; n < crowd.connections; n++)
    sockets.push(await open(t, port, `127.0.1.${(n % crowd.networks) + 1}`))
  const other = await open(t, port, '127.0.0.3')
  other.write(request('/api/first'))
  await answersOf(other, 1)
  const before = handled
  for (const socket of sockets) socket.write(request('/api/crowd').repeat(crowd.requestsEach))
  const answered = sockets.map((socket) => answersOf(socket, crowd.requestsEach))
  other.write(request('/api/other'))
  await answersOf(other, 1)
  const between = handled - before
  await Promise.all(answered)
  const asked = crowd.connections * crowd.requestsEach
  assert.equal(handled - before, asked + 1, 'nothing was lost')
  t.diagnostic(`after ${between} of ${asked}`)
  return between
}

/** Work that nobody else can be served beside. */
function keepThreadBusy(forMs: number): void {
  const endMs = performance.now() + forMs
  while (performance.now() < endMs);
}

/** How many requests Node has read, whether or not anyone answered them. */
function countRequests(t: TestContext): () => number {
  let count = 0
  const seen = () => count++
  diagnosticsChannel.subscribe('http.server.request.start', seen)
  t.after(() => diagnosticsChannel.unsubscribe('http.server.request.start', seen))
  return () => count
}

async function listenAlone(
  t: TestContext,
  api: (request: IncomingMessage, response: ServerResponse) => unknown,
): Promise<number> {
  const parts = {
    api,
    openDashboard: async () => ({
      ...{ methodsAt: () => null, answer: async () => {}, answerNotFound: async () => {} },
    }),
    agents: async () => {},
    forms: async () => {},
    metrics: createMetrics(),
    observe: () => {},
    storeProblem: async () => null,
    drain: { isDraining: false },
    shares: defaultShares,
    trustedProxies: null,
    clock: systemClock,
  }
  const server = await listen(parts, { host: '127.0.0.1', port: 0 })
  t.after(() => server.close(0))
  return server.port
}

/** Every 127.x.y.z is an address of this machine. */
async function until(isSo: () => boolean): Promise<void> {
  const endMs = performance.now() + 20_000
  while (!isSo()) {
    assert.ok(performance.now() < endMs, 'it never became so')
    await new Promise((resolve) => setTimeout(resolve, 20))
  }
}

async function open(t: TestContext, port: number, localAddress: string): Promise<Socket> {
  const socket = connect({ port, host: '127.0.0.1', localAddress, allowHalfOpen: true })
  t.after(() => socket.destroy())
  socket.on('error', () => {})
  await once(socket, 'connect')
  return socket
}

async function answersOf(socket: Socket, count: number): Promise<string[]> {
  const chunks: Buffer[] = []
  for (;;) {
    const { answers } = parseAnswers(Buffer.concat(chunks))
    if (answers.length >= count) return answers.map(({ body }) => body)
    const [chunk] = (await once(socket, 'data')) as [Buffer]
    chunks.push(chunk)
  }
}
