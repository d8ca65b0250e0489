import assert from 'node:assert/strict'
import { request as ask, createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { type TestContext, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { bodyAtItsPace, TooSlow } from './upload-pace.ts'

const pace = { spanMs: 120, bytesPerSpan: 1_000 }

/** Sends `chunks` of `bytes` each, `everyMs`; how the body ended on the other side. */
async function upload(t: TestContext, { chunks, bytes, everyMs }: Record<string, number>, isEnded = true) {
  const { promise, resolve } = Promise.withResolvers<number | 'too slow'>()
  const server = createServer(async (request, response) => {
    let length = 0
    try {
      for await (const chunk of bodyAtItsPace(request, pace)) length += chunk.length
      resolve(length)
    } catch (error) {
      assert.ok(error instanceof TooSlow)
      resolve('too slow')
    }
    response.writeHead(200, { Connection: 'close' }).end()
  })
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done))
  const { port } = server.address() as AddressInfo
  const sent = ask({ port, host: '127.0.0.1', method: 'POST', headers: { 'Transfer-Encoding': 'chunked' } })
  t.after(() => {
    sent.destroy()
    server.closeAllConnections()
    server.close()
  })
  sent.on('error', () => {})
  for (let n = 0; n < (chunks ?? 0); n++) {
    sent.write(Buffer.alloc(bytes ?? 0))
    await sleep(everyMs)
  }
  if (isEnded) sent.end()
  return promise
}

test('a body that keeps coming takes as many spans as it needs', async (t) => {
  assert.equal(await upload(t, { chunks: 12, bytes: 2_000, everyMs: 40 }), 24_000)
})

test('one that comes in drops, or not at all, is given up', async (t) => {
  assert.equal(await upload(t, { chunks: 12, bytes: 10, everyMs: 40 }), 'too slow')
  assert.equal(await upload(t, { chunks: 1, bytes: 5_000, everyMs: 0 }, false), 'too slow')
})
