import assert from 'node:assert/strict'
import { once } from 'node:events'
import { Agent, type IncomingMessage, request } from 'node:http'
import { connect, type Socket } from 'node:net'
import { test } from 'node:test'
import { bearer, configOf, startRowport } from '../harness.ts'

/*
 * All places for connections are taken, by more addresses than there are places. They are told apart by their address: every
 * 127.x.y.z is one of this machine's.
 */

const places = 40
const browsersConnections = 3

test('who uses a few connections keeps them beside hundreds of addresses that leave one each idle, and may open more', async (t) => {
  const rowport = await startRowport(t, {
    settings: { shares: { ...configOf('').shares, connections: places } },
  })
  const key = await rowport.createKey()
  const { formA } = await rowport.connectFile('stock', 'stock.csv', 'sku,name\nA-1,Lamp\n')
  const ask = (from: string, agent: Agent) => statusOf(rowport.port, formA, bearer(key), from, agent)
  const agentOf = (maxSockets: number) => {
    const agent = new Agent({ keepAlive: true, maxSockets })
    t.after(() => agent.destroy())
    return agent
  }
  const browser = agentOf(browsersConnections)
  const sockets = new Set<Socket>()
  const askThree = async () => {
    const answers = await Promise.all(Array.from({ length: 3 }, () => ask('127.0.0.99', browser)))
    for (const { status, socket } of answers) {
      assert.equal(status, 200)
      sockets.add(socket)
    }
  }
  await askThree()
  for (let n = 0; n < 5 * places; n++) {
    const idler = connect({ host: '127.0.0.1', port: rowport.port, localAddress: `127.0.4.${n + 1}` })
    t.after(() => idler.destroy())
    idler.on('error', () => {})
    idler.write('GET /healthz HTTP/1.1\r\nHost: rowport.test\r\n\r\n')
    const [answer] = (await once(idler, 'data')) as [Buffer]
    assert.match(answer.toString(), /^HTTP\/1.1 200 /)
    if (n % 5 === 4) await askThree()
  }
  assert.equal(sockets.size, browsersConnections, 'none of them was closed')
  for (const from of ['127.0.0.98', '127.0.0.99']) assert.equal((await ask(from, agentOf(1))).status, 200)
  await askThree()
  assert.equal(sockets.size, browsersConnections)
})

async function statusOf(
  port: number,
  path: string,
  headers: Record<string, string>,
  localAddress: string,
  agent: Agent,
): Promise<{ status: number | undefined; socket: Socket }> {
  const asked = request({ host: '127.0.0.1', port, path, headers, localAddress, agent }).end()
  const [response] = (await once(asked, 'response')) as [IncomingMessage]
  response.resume()
  const { socket } = response
  await once(response, 'end')
  return { status: response.statusCode, socket }
}
