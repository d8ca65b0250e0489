import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer, type RequestListener } from 'node:http'
import { type AddressInfo, createServer as createTcpServer } from 'node:net'
import { type TestContext, test } from 'node:test'
import { createGzip, gzipSync } from 'node:zlib'
import { TooManyAtOnce } from '../../errors.ts'
import { createTransport, type ExchangeWish, type Lost, type Transport } from './transport.ts'

const mebibyte = 1024 * 1024

function start(t: TestContext, limits: { silenceMs?: number; maxBodyBytes?: number } = {}): Transport {
  const transport = createTransport({ silenceMs: 2_000, maxBodyBytes: mebibyte, ...limits })
  t.after(() => transport.close())
  return transport
}

async function serve(t: TestContext, answer: RequestListener): Promise<string> {
  const server = createServer(answer).listen(0, '127.0.0.1')
  t.after(() => {
    server.close()
    server.closeAllConnections()
  })
  await once(server, 'listening')
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}

function get(url: string, signal: AbortSignal = AbortSignal.timeout(10_000)): ExchangeWish {
  return { method: 'GET', url, headers: {}, signal }
}

const isLost = (lost: Lost) => (error: { lost?: Lost }) => error.lost === lost

test('a compressed answer arrives as it was, and in pieces on the way', async (t) => {
  const text = 'ä😀'.repeat(100_000)
  const url = await serve(t, (request, response) => {
    assert.equal(request.headers['accept-encoding'], 'gzip')
    response.setHeader('Content-Encoding', 'gzip')
    response.end(gzipSync(text))
  })
  const pieces: Uint8Array[] = []
  const { status, body } = await start(t).exchange({
    ...get(url),
    onPiece: (piece) => void pieces.push(Uint8Array.from(piece)),
  })
  assert.equal(status, 200)
  assert.equal(body.toString(), text)
  assert.ok(pieces.length > 1)
  assert.equal(Buffer.concat(pieces).toString(), text)
  assert.equal(body.byteLength, body.buffer.byteLength, 'a buffer of its own, which can be handed over')
})

test('who has no room for more has it wait at the other side, and that is not taken for silence', async (t) => {
  const url = await serve(t, (_request, response) => response.end('x'.repeat(8 * mebibyte)))
  const { promise, resolve } = Promise.withResolvers<void>()
  let bytes = 0
  const got = start(t, { silenceMs: 600, maxBodyBytes: 8 * mebibyte }).exchange({
    ...get(url),
    onPiece(piece) {
      bytes += piece.byteLength
      return bytes > mebibyte ? promise : undefined
    },
  })
  await new Promise((done) => setTimeout(done, 1_500))
  assert.ok(bytes < 2 * mebibyte, `${bytes} bytes were read`)
  resolve()
  assert.equal((await got).body.byteLength, 8 * mebibyte)
})

test('what is left to be read when all of an answer came may wait for room as well', async (t) => {
  const url = await serve(t, (_request, response) => response.end('x'.repeat(mebibyte)))
  for (let round = 0; round < 20; round++) {
    const got = start(t).exchange({
      ...get(url),
      onPiece: () => new Promise((done) => setTimeout(done, 1)),
    })
    assert.equal((await got).body.byteLength, mebibyte)
  }
})

test('a refusal of whoever has no room is theirs', async (t) => {
  const url = await serve(t, (_request, response) => response.end('x'))
  const wish = {
    ...get(url),
    async onPiece() {
      throw new TooManyAtOnce(3, 'long_fetches_at_once')
    },
  }
  await assert.rejects(start(t).exchange(wish), TooManyAtOnce)
})

test('a body is sent whole, with its length, and connections are used again', async (t) => {
  const ports = new Set<number | undefined>()
  const url = await serve(t, async (request, response) => {
    ports.add(request.socket.remotePort)
    const text = (await request.toArray()).join('')
    response.end(`${request.method} ${request.headers['content-length']} ${text}`)
  })
  const transport = start(t)
  for (let at = 0; at < 3; at++) {
    const { body } = await transport.exchange({ ...get(url), method: 'POST', body: 'größe' })
    assert.equal(body.toString(), 'POST 7 größe')
  }
  assert.equal(ports.size, 1)
})

test('an answer without end is refused while it comes, compressed or not', async (t) => {
  for (const isCompressed of [false, true]) {
    let written = 0
    const url = await serve(t, (_request, response) => {
      const block = Buffer.alloc(mebibyte)
      if (isCompressed) response.setHeader('Content-Encoding', 'gzip')
      const sink = isCompressed ? createGzip({ level: 1 }) : response
      if (sink !== response) sink.pipe(response)
      const more = () => {
        if (response.destroyed) return
        written += block.length
        sink.write(block, () => setImmediate(more))
      }
      more()
    })
    await assert.rejects(start(t).exchange(get(url)), isLost('too_large'))
    assert.ok(written < 64 * mebibyte, `${written} bytes were let through`)
  }
})

test('what never left is told from what was sent and not answered', async (t) => {
  const transport = start(t, { silenceMs: 200 })
  const server = createTcpServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  server.close()
  await once(server, 'close')
  await assert.rejects(transport.exchange(get(`http://127.0.0.1:${port}/`)), isLost('not_sent'))
  await assert.rejects(transport.exchange(get('http://no-such-host.invalid/')), isLost('not_sent'))

  const plain = await serve(t, () => {})
  await assert.rejects(transport.exchange(get(plain)), isLost('no_answer'), 'silence')
  await assert.rejects(
    transport.exchange(get(plain.replace('http:', 'https:'))),
    isLost('not_sent'),
    'no TLS',
  )
  const resets = await serve(t, (request) => request.socket.resetAndDestroy())
  await assert.rejects(transport.exchange(get(resets)), isLost('no_answer'))
})

test('a connection that was closed while idle says nothing of what was sent over it', async (t) => {
  let calls = 0
  const url = await serve(t, (request, response) => {
    calls++
    if (calls === 1) response.end('well')
    else request.socket.resetAndDestroy()
  })
  const transport = start(t)
  await transport.exchange(get(url))
  await assert.rejects(transport.exchange(get(url)), isLost('no_answer'))
})

test('half an answer is none', async (t) => {
  const transport = start(t)
  const cut = await serve(t, (_request, response) => {
    response.writeHead(200, { 'Content-Length': '100' })
    response.write('half', () => response.socket?.destroy())
  })
  await assert.rejects(transport.exchange(get(cut)), isLost('no_answer'))
  const gzip = gzipSync('x'.repeat(10_000))
  const cutGzip = await serve(t, (_request, response) => {
    response.setHeader('Content-Encoding', 'gzip')
    response.end(gzip.subarray(0, gzip.length - 12))
  })
  await assert.rejects(transport.exchange(get(cutGzip)), isLost('no_answer'))
})

test('the end of a deadline ends it, also in the middle of an answer', async (t) => {
  const transport = start(t)
  const drips = await serve(t, (_request, response) => {
    const timer = setInterval(() => response.write('.'), 10)
    response.on('close', () => clearInterval(timer))
  })
  await assert.rejects(transport.exchange(get(drips, AbortSignal.timeout(100))), isLost('no_answer'))
  await assert.rejects(transport.exchange(get(drips, AbortSignal.abort())), isLost('not_sent'))
})
