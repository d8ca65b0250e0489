import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer, type IncomingMessage, request } from 'node:http'
import type { AddressInfo } from 'node:net'
import { type TestContext, test } from 'node:test'
import { systemClock } from '../clock.ts'
import type { AskInside } from '../http/asking-inside.ts'
import type { Soon } from '../soon.ts'
import { createAgentsDoor } from './agents-door.ts'

test('whoever listened and left is let go of in a turn, and not in the moment in which the connection closes', async (t) => {
  const followed = Promise.withResolvers<AbortSignal>()
  let nextTurn = (): Soon<void> => {}
  const { listen, closed } = await startDoor(t, { follow: followed.resolve, nextTurn: () => nextTurn() })
  const answer = await listen()
  assert.equal(answer.statusCode, 200)
  const left = await followed.promise

  const turn = Promise.withResolvers<void>()
  nextTurn = () => turn.promise
  answer.destroy()
  await closed
  await new Promise(setImmediate)
  assert.equal(left.aborted, false)
  turn.resolve()
  await new Promise(setImmediate)
  assert.equal(left.aborted, true)
})

interface Door {
  follow(left: AbortSignal): void
  nextTurn(): Soon<void>
}

/** Over an API that has one sheet, of which nothing ever changes. */
async function startDoor(t: TestContext, { follow, nextTurn }: Door) {
  const list = { data: [{ id: 'sh_one', slug: 'one' }], meta: { may: ['read'] } }
  const askInside: AskInside = async ({ url, left }) => ({
    status: 200,
    headers: new Map(),
    chunks:
      url.endsWith('/changes') && left ? untilLeft(left, follow) : only(Buffer.from(JSON.stringify(list))),
  })
  const door = createAgentsDoor({
    askInside,
    baseUrl: () => 'http://rowport.example',
    isDraining: () => false,
    observe: (event) => assert.fail(JSON.stringify(event)),
    clock: systemClock,
    turns: { next: nextTurn },
    trustedProxies: null,
    version: '1',
  })
  const closed = Promise.withResolvers<void>()
  const server = createServer((asked, response) => {
    response.once('close', () => closed.resolve())
    void door(asked, response)
  })
  server.listen(0, '127.0.0.1')
  t.after(() => void server.close())
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo

  function listen(): Promise<IncomingMessage> {
    const { promise, resolve, reject } = Promise.withResolvers<IncomingMessage>()
    const headers = {
      'Content-Type': 'application/json',
      Accept: 'application/json, text/event-stream',
      'MCP-Protocol-Version': '2026-07-28',
      'MCP-Method': 'subscriptions/listen',
    }
    const options = { port, path: '/mcp', method: 'POST', headers, agent: false }
    const asked = request(options, (answer) => resolve(answer.on('error', () => {}).resume()))
    asked.on('error', reject)
    asked.end(JSON.stringify(listening))
    return promise
  }
  return { listen, closed: closed.promise }
}

const listening = {
  ...{ jsonrpc: '2.0', id: 1, method: 'subscriptions/listen' },
  params: {
    notifications: { resourceSubscriptions: ['rowport://sheets/sh_one'] },
    _meta: {
      'io.modelcontextprotocol/protocolVersion': '2026-07-28',
      'io.modelcontextprotocol/clientInfo': { name: 'one', version: '1' },
      'io.modelcontextprotocol/clientCapabilities': {},
    },
  },
}

async function* only(chunk: Uint8Array): AsyncGenerator<Uint8Array> {
  yield chunk
}

async function* untilLeft(
  left: AbortSignal,
  follow: (left: AbortSignal) => void,
): AsyncGenerator<Uint8Array> {
  follow(left)
  yield Buffer.from(': here\n\n')
  if (!left.aborted) await once(left, 'abort')
}
