import assert from 'node:assert/strict'
import { Agent, createServer, request } from 'node:http'
import type { AddressInfo } from 'node:net'
import { type TestContext, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import type { RunningServer } from '../process/running.ts'
import { skipCluster } from './cluster.ts'
import { startProcesses } from './instances.ts'

test('R17: every instance is replaced under 200 requests a second, and none of them fails', {
  skip: skipCluster,
}, async (t) => {
  const { start, apiKey, path } = await startProcesses(t, {
    // All requests of a test come from one address.
    ROWPORT_SHARES: '{"connections_per_address": 10000}',
  })
  const instances = await Promise.all([start(), start()])
  const balancer = await startBalancer(t, instances)
  const statuses = new Map<number | string, number>()
  let isOver = false
  t.after(() => {
    isOver = true
  })
  let sent = 0
  const underWay = new Set<Promise<void>>()
  const loading = (async () => {
    const begunMs = performance.now()
    while (!isOver) {
      // By the clock, not by the answers: a slow one holds up nobody else.
      const due = ((performance.now() - begunMs) / 1_000) * 200
      for (; sent < due; sent++) {
        const asking = ask(sent).finally(() => underWay.delete(asking))
        underWay.add(asking)
      }
      await sleep(5)
    }
    await Promise.all(underWay)
    return (sent * 1_000) / (performance.now() - begunMs)
  })()

  await sleep(500)
  for (const at of [0, 1]) {
    const leaving = instances[at]
    assert.ok(leaving)
    leaving.child.kill('SIGTERM')
    const { code, stderr } = await leaving.ended
    assert.equal(code, 0, stderr)
    assert.equal(stderr.includes('malfunction'), false, stderr)
    instances[at] = await start()
    await sleep(500)
  }
  isOver = true
  const perSecond = await loading
  const failed = [...statuses].filter(([status]) => status !== 200 && status !== 201)
  process.stdout.write(
    `R17: 2 instances replaced under ${perSecond.toFixed(0)} requests a second: ${sent} requests, ` +
      `${failed.reduce((sum, [, count]) => sum + count, 0)} failed\n`,
  )
  assert.deepEqual(failed, [])

  /** Every tenth is a write. */
  async function ask(n: number): Promise<void> {
    const isWrite = n % 10 === 0
    const status = await fetch(balancer + path, {
      headers: { Authorization: `Bearer ${apiKey}` },
      ...(isWrite && { method: 'POST', body: JSON.stringify({ name: `row ${n}` }) }),
    })
      .then(async (answer) => {
        await answer.arrayBuffer()
        return answer.status
      })
      .catch((error: unknown) => String((error as Error).cause ?? error))
    statuses.set(status, (statuses.get(status) ?? 0) + 1)
  }
})

/** A load balancer of the plainest kind: asks /readyz, shares out in turn, and never tries again. */
async function startBalancer(t: TestContext, instances: readonly RunningServer[]): Promise<string> {
  const agent = new Agent({ keepAlive: true })
  let ready: number[] = []
  let turn = 0
  let isOver = false
  const look = async () => {
    const found = await Promise.all(
      instances.map(async ({ url }, at) => {
        const isReady = await fetch(`${url}/readyz`).then(
          (answer) => answer.arrayBuffer().then(() => answer.status === 200),
          () => false,
        )
        return isReady ? [at] : []
      }),
    )
    ready = found.flat()
  }
  await look()
  const looking = (async () => {
    while (!isOver) {
      await sleep(100)
      await look()
    }
  })()
  const server = createServer((incoming, outgoing) => {
    const { port } = instances[ready[turn++ % ready.length] ?? 0] ?? { port: 0 }
    const { method = 'GET', url = '', headers } = incoming
    const onward = request({ host: '127.0.0.1', port, method, path: url, headers, agent }, (answer) => {
      outgoing.writeHead(answer.statusCode ?? 500, answer.headers)
      answer.pipe(outgoing)
    })
    onward.on('error', (error) => {
      outgoing.writeHead(599)
      outgoing.end(String(error))
    })
    incoming.pipe(onward)
  })
  // It is not what is tested: a connection that it closes just as the client uses it again would count as a failure.
  server.keepAliveTimeout = 0
  server.requestTimeout = 0
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  t.after(async () => {
    isOver = true
    await looking
    server.closeAllConnections()
    server.close()
    agent.destroy()
  })
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}
