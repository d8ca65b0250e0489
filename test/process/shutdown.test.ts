import assert from 'node:assert/strict'
import { once } from 'node:events'
import { readFile } from 'node:fs/promises'
import { connect, type Socket } from 'node:net'
import { type TestContext, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { freshPlace, logged, type RunningServer } from './running.ts'

const sheet = '/api/sheets/demo/products'

for (const signal of ['SIGTERM', 'SIGINT'] as const) {
  test(`${signal}: the request under way is finished, new ones are refused, and the data is whole afterwards`, async (t) => {
    const place = await freshPlace(t)
    const server = await place.start()
    const key = keyOn(server)
    const body = '{"name":"Arrived late"}'
    const client = await openClient(t, server)
    await beginPost(client, key, body.length)
    client.socket.write(body.slice(0, 10))

    server.child.kill(signal)
    await server.says('stderr', 'server_draining')
    await untilRefused(server.port)
    client.socket.write(body.slice(10))
    await client.ended

    assert.match(client.received(), /HTTP\/1\.1 201 /)
    assert.match(client.received(), /\r\nConnection: close\r\n/i)
    assert.match(client.received(), /"rows_added":1/)
    const { code, stderr } = await server.ended
    assert.equal(code, 0)
    assert.equal(logged(stderr, 'server_draining')[0]?.signal, signal)
    assert.equal(logged(stderr, 'server_stopped')[0]?.openConnections, 0)

    const { stdout } = await place.rowportHere(['sheet', 'list', 'demo', '--json'])
    const [{ location }] = JSON.parse(stdout) as [{ location: { path: string } }]
    assert.match(await readFile(location.path, 'utf8'), /\nArrived late,,,,\n$/)
  })
}

for (const [first, second] of [
  ['SIGTERM', 'SIGTERM'],
  ['SIGINT', 'SIGTERM'],
] as const) {
  test(`${second} after ${first}: it ends at once, whatever is under way`, async (t) => {
    const place = await freshPlace(t)
    const server = await place.start()
    const client = await openClient(t, server)
    await beginPost(client, keyOn(server), 100)
    server.child.kill(first)
    await server.says('stderr', 'server_draining')
    server.child.kill(second)
    const { code, stderr } = await server.ended
    assert.equal(code, 1, 'ended by itself, and not as if all were well')
    assert.deepEqual(logged(stderr, 'server_stopped'), [])
  })
}

test('SIGTERM while connections are open on which nothing happens: it does not wait for them', async (t) => {
  const place = await freshPlace(t)
  const server = await place.start()
  // Browsers open connections that never say anything. They are taken in order: when the next is answered, it is in.
  await openClient(t, server)
  for (const _ of [1, 2, 3]) {
    const client = await openClient(t, server)
    client.socket.write('GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n')
    await client.hears('"alive"')
  }
  const begunMs = performance.now()
  server.child.kill('SIGTERM')
  const { code } = await server.ended
  assert.equal(code, 0)
  assert.ok(performance.now() - begunMs < 8_000, 'far from the 10 s that requests under way would get')
})

test('SIGTERM before the server listens: it still ends in good order', async (t) => {
  const place = await freshPlace(t)
  const server = place.launch()
  await server.says('stderr', 'store_made')
  server.child.kill('SIGTERM')
  const { code, stderr } = await server.ended
  assert.equal(code, 0, stderr)
})

interface Client {
  socket: Socket
  received(): string
  hears(text: string): Promise<void>
  ended: Promise<unknown>
}

async function openClient(t: TestContext, { port }: RunningServer): Promise<Client> {
  const socket = connect({ port, host: '127.0.0.1' })
  t.after(() => socket.destroy())
  await once(socket, 'connect')
  // A server that is ended at once resets its connections.
  socket.on('error', () => {})
  let received = ''
  socket.setEncoding('utf8').on('data', (chunk: string) => {
    received += chunk
  })
  return {
    socket,
    received: () => received,
    async hears(text) {
      while (!received.includes(text)) await once(socket, 'data')
    },
    ended: new Promise((resolve) => socket.once('close', resolve)),
  }
}

/** Resolves when the server has the headers, is at work on the request and waits for its body. */
async function beginPost(client: Client, key: string, bodyLength: number): Promise<void> {
  client.socket.write(
    `POST ${sheet} HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer ${key}\r\n` +
      `Content-Length: ${bodyLength}\r\nExpect: 100-continue\r\n\r\n`,
  )
  await client.hears('100 Continue')
}

async function untilRefused(port: number): Promise<void> {
  for (;;) {
    const socket = connect({ port, host: '127.0.0.1' })
    const outcome = await once(socket, 'connect').then(
      () => 'connected',
      (error: NodeJS.ErrnoException) => error.code,
    )
    socket.destroy()
    if (outcome === 'ECONNREFUSED') return
    await sleep(5)
  }
}

function keyOn({ screen }: RunningServer): string {
  return /sk_live_\w+/.exec(screen)?.[0] ?? ''
}
