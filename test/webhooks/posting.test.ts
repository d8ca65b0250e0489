import assert from 'node:assert/strict'
import { createServer, type RequestListener } from 'node:http'
import { createServer as createTlsServer } from 'node:https'
import type { AddressInfo, Server } from 'node:net'
import { type TestContext, test } from 'node:test'
import { systemClock } from '../../src/clock.ts'
import { createPosting } from '../../src/webhooks/posting.ts'
import { createTargets } from '../../src/webhooks/targets.ts'
import { peerCertificate } from '../servers/smtp-peer.ts'

const never = new AbortController().signal
const local = ['127.0.0.1']

async function listening(t: TestContext, server: Server & { closeAllConnections(): void }): Promise<number> {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  t.after(() => {
    server.close()
    server.closeAllConnections()
  })
  return (server.address() as AddressInfo).port
}

const serve = (t: TestContext, listener: RequestListener) => listening(t, createServer(listener))

/** `answers`: what the name server says, one after the other. */
function poster(answers: string[][], ca?: string) {
  let asked = 0
  const resolveName = async () => answers[Math.min(asked++, answers.length - 1)] ?? []
  const targets = createTargets({ allowedNetworks: local, resolveName })
  const { post } = createPosting({ targets, clock: systemClock, ...(ca !== undefined && { ca }) })
  const message = { accountId: 'acc', headers: {}, body: '{}' }
  return { post: (url: string) => post({ ...message, url }, never), asked: () => asked }
}

test('a name is asked for once, and the connection goes to that very answer', async (t) => {
  const seen: string[] = []
  const port = await serve(t, (request, response) => {
    seen.push(`${request.headers.host} from ${request.socket.remoteAddress}`)
    response.end('ok')
  })
  // The second answer would lead inside, and the name itself leads nowhere.
  const { post, asked } = poster([local, ['10.0.0.1']])
  const url = `http://hook.invalid:${port}/`
  assert.deepEqual(await post(url), { status: 200, failure: null, answer: 'ok', retryAfterMs: null })
  assert.deepEqual([asked(), seen], [1, [`hook.invalid:${port} from 127.0.0.1`]])
  assert.equal((await post(url)).failure, 'its URL must begin with https://')
  assert.equal(
    (await post(`https://hook.invalid:${port}/`)).failure,
    'its host is not on the public internet',
  )
  assert.equal(seen.length, 1, 'nothing was sent to where it led later')
})

test('a redirect is a failure and is not followed', async (t) => {
  let inside = 0
  const secret = await serve(t, (_request, response) => {
    inside++
    response.end('secret')
  })
  for (const status of [301, 302, 303, 307, 308]) {
    const port = await serve(t, (_request, response) => {
      response.writeHead(status, { Location: `http://127.0.0.1:${secret}/` }).end()
    })
    const { failure } = await poster([local]).post(`http://127.0.0.1:${port}/`)
    assert.equal(failure, `it returned ${status}, and redirects are not followed`)
  }
  assert.equal(inside, 0)
})

test('of an answer without end only the beginning is read, and one that stalls is not waited for', async (t) => {
  let sent = 0
  const endless = await serve(t, (_request, response) => {
    const more = () => {
      if (response.destroyed) return
      sent += 1_000
      if (response.write(`${'x'.repeat(498)}\r\n`.repeat(2))) setImmediate(more)
      else response.once('drain', more)
    }
    more()
  })
  const { status, answer } = await poster([local]).post(`http://127.0.0.1:${endless}/`)
  assert.deepEqual([status, answer.length <= 1_024, answer.split('\n')[0]], [200, true, 'x'.repeat(498)])
  const sentThen = sent
  assert.ok(sentThen < 10_000_000, `${sentThen}`)
  const stalling = await serve(t, (_request, response) => {
    response.writeHead(202)
    response.write('wait\u0007\nfor more')
  })
  const beganMs = performance.now()
  const stalled = await poster([local]).post(`http://127.0.0.1:${stalling}/`)
  assert.deepEqual([stalled.status, stalled.failure, stalled.answer], [202, null, 'wait\uFFFD\nfor more'])
  assert.ok(performance.now() - beganMs < 5_000)
})

test('a receiver may say a few times that it works on it, and not without end', async (t) => {
  let interim = 5
  const port = await serve(t, ({ socket }, response) => {
    if (interim === 5) {
      socket.write('HTTP/1.1 102 Processing\r\n\r\n'.repeat(interim))
      response.end('done')
      return
    }
    const many = 'HTTP/1.1 102 Processing\r\n\r\n'.repeat(10_000)
    const more = () => {
      while (!socket.destroyed && socket.write(many));
    }
    socket.on('error', () => {}).on('drain', more)
    more()
  })
  const { post } = poster([local])
  const url = `http://hook.invalid:${port}/`
  assert.equal((await post(url)).answer, 'done')
  interim = Number.POSITIVE_INFINITY
  const begunMs = performance.now()
  const { failure, status } = await poster([local]).post(url)
  assert.deepEqual([failure, status], ['it sent interim responses without an end', null])
  assert.ok(performance.now() - begunMs < 5_000, 'it was not read until the time was over')
})

test('a certificate has to be good for the name', async (t) => {
  const { key, cert } = peerCertificate()
  const port = await listening(
    t,
    createTlsServer({ key, cert }, (_request, response) => {
      response.end('ok')
    }),
  )
  assert.equal((await poster([local], cert).post(`https://127.0.0.1:${port}/`)).status, 200)
  assert.match(
    (await poster([local]).post(`https://127.0.0.1:${port}/`)).failure ?? '',
    /^no safe connection/,
  )
  const other = await poster([local], cert).post(`https://hook.invalid:${port}/`)
  assert.equal(other.failure, 'no safe connection could be made (ERR_TLS_CERT_ALTNAME_INVALID)')
})

test('what a receiver asks for in Retry-After is heard, in seconds and as a date', async (t) => {
  const wishes = ['90', new Date(Date.now() + 100_000).toUTCString(), 'soon']
  const port = await serve(t, (_request, response) => {
    response.writeHead(503, { 'Retry-After': wishes.shift() }).end()
  })
  const ask = async () => (await poster([local]).post(`http://127.0.0.1:${port}/`)).retryAfterMs
  assert.equal(await ask(), 90_000)
  const untilDateMs = (await ask()) ?? 0
  assert.ok(untilDateMs > 60_000 && untilDateMs <= 100_000)
  assert.equal(await ask(), null)
  const gone = await poster([local]).post('http://127.0.0.1:9/')
  assert.equal(gone.failure, 'its port must be 443 or 1024 and above')
})

test('a receiver that wants to speak another protocol has failed, at once', async (t) => {
  const server = createServer().on('upgrade', () => {})
  const port = await listening(t, server)
  server.removeAllListeners('request').on('request', (request) => {
    request.socket.write('HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: other\r\n\r\n')
  })
  const { status, failure } = await poster([local]).post(`http://127.0.0.1:${port}/`)
  assert.deepEqual([status, failure], [null, 'it returned 101'])
})

test('a receiver that hangs up without an answer has failed, at once', async (t) => {
  const port = await serve(t, (request) => request.socket.end())
  const { failure } = await poster([local]).post(`http://127.0.0.1:${port}/`)
  assert.equal(failure, 'the connection was closed')
})
