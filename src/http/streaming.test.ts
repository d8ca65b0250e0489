import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer, type ServerResponse } from 'node:http'
import { type AddressInfo, connect } from 'node:net'
import { type TestContext, test } from 'node:test'
import { setImmediate as nextRound } from 'node:timers/promises'
import type { Timers } from '../timers.ts'
import { sendStream } from './streaming.ts'

const mebibyte = 1_024 * 1_024
const list = Buffer.alloc(32 * mebibyte, 'a row of a list; ')

test('a reader who does not read is given one piece of a long list at a time', async (t) => {
  let turns = 0
  const { response } = await ask(t, () => void turns++)
  await untilWaiting(response)
  const kernelBytes = turns * 64 * 1_024
  assert.ok(response.writableLength <= 256 * 1_024, `${response.writableLength} bytes wait in the process`)
  assert.ok(kernelBytes < list.length, 'the system took all of it')
})

test('a reader gets all of it, and nothing without a turn', async (t) => {
  const open = Promise.withResolvers<void>()
  const { response, received } = await ask(t, () => open.promise)
  for (let n = 0; n < 20; n++) await nextRound()
  assert.equal(response.writableLength, 0)
  open.resolve()
  const bytes = Buffer.from(await received())
  assert.ok(bytes.equals(list))
})

test('a piece is with the system before its turn is over, also where nobody knows the length of all', async (t) => {
  const piece = Buffer.alloc(10_000, 'changes; ')
  const written: number[] = []
  const server = createServer((_request, response) => {
    response.writeHead(200)
    function* chunks() {
      for (let nth = 0; nth < 3; nth++) {
        written.push(response.socket?.bytesWritten ?? 0)
        yield piece
      }
      written.push(response.socket?.bytesWritten ?? 0)
    }
    const onFailure = (error: unknown) => assert.fail(String(error))
    void sendStream(response, { chunks: chunks(), bytes: null, holds: [], nextTurn() {}, onFailure })
  })
  server.listen(0, '127.0.0.1')
  t.after(() => void server.close())
  await once(server, 'listening')
  const answer = await fetch(`http://127.0.0.1:${(server.address() as AddressInfo).port}`)
  assert.equal((await answer.bytes()).byteLength, 3 * piece.byteLength)
  for (const [nth, bytes] of written.entries())
    assert.ok(bytes >= nth * piece.byteLength, `${bytes} bytes are written of ${nth} pieces`)
})

test('a reader who leaves a piece lying for too long is cut, whatever else it sends', async (t) => {
  const waits: { delayMs: number; work(): void; isOver: boolean }[] = []
  const { response, socket } = await ask(t, () => undefined, {
    mostUnreadMs: 60_000,
    timers: {
      after(delayMs, work) {
        const wait = { delayMs, work, isOver: false }
        waits.push(wait)
        return () => {
          wait.isOver = true
        }
      },
    },
  })
  await untilWaiting(response)
  socket.write('GET /more HTTP/1.1\r\n')
  const left = waits.filter(({ isOver }) => !isOver)
  assert.deepEqual(
    left.map(({ delayMs }) => delayMs),
    [60_000],
    'what was taken is not waited for any more',
  )
  assert.equal(response.destroyed, false)
  left[0]?.work()
  assert.equal(response.destroyed, true)
})

async function untilWaiting(response: ServerResponse): Promise<void> {
  for (let idleRounds = 0, length = -1; idleRounds < 50; idleRounds++) {
    if (response.writableLength !== length || !response.writableNeedDrain) idleRounds = 0
    length = response.writableLength
    await nextRound()
  }
}

/** One who asks for the list, and whom it is sent to. */
async function ask(
  t: TestContext,
  nextTurn: () => Promise<void> | undefined,
  { mostUnreadMs, timers }: { mostUnreadMs?: number; timers?: Timers } = {},
) {
  const asked = Promise.withResolvers<ServerResponse>()
  const server = createServer((_request, response) => {
    response.writeHead(200, ['Content-Length', String(list.length)])
    const onFailure = (error: unknown) => asked.reject(error)
    const body = { chunks: [list], bytes: list.length, holds: [list], nextTurn, onFailure }
    void sendStream(response, mostUnreadMs === undefined ? body : { ...body, mostUnreadMs }, timers)
    asked.resolve(response)
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const socket = connect((server.address() as AddressInfo).port, '127.0.0.1')
  t.after(() => {
    socket.destroy()
    server.close()
  })
  socket.write('GET / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n')
  return {
    socket,
    response: await asked.promise,
    async received(): Promise<Buffer> {
      const chunks: Buffer[] = await Array.fromAsync(socket as AsyncIterable<Buffer>)
      const all = Buffer.concat(chunks)
      return all.subarray(all.indexOf('\r\n\r\n') + 4)
    },
  }
}
