import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { skipCluster } from '../cluster/cluster.ts'
import { startProcesses } from '../cluster/instances.ts'
import { bearer, done } from '../harness.ts'
import { patienceMs } from '../soak.ts'
import { fine, startReceiver, until, upTo } from './receiver.ts'

test('an instance that is killed while it sends: the other sends the same message, and goes on', {
  skip: skipCluster,
  timeout: patienceMs,
}, async (t) => {
  const { start, apiKey, path, workshop } = await startProcesses(t, { ROWPORT_WEBHOOK_ALLOW: '127.0.0.0/8' })
  const instances = [await start(), await start()]
  const urlOf = (at: number) => `${instances[at]?.url}${path}`
  const headers = bearer({ value: apiKey })
  assert.equal((await fetch(urlOf(0), { headers })).status, 200)
  const hanging = 3
  const receiver = await startReceiver(t, (nth) => (nth === hanging ? null : fine(nth)))
  const account = done(await workshop.accounts.find('acme'))
  const wish = { account, sheetSlug: 'stock', url: receiver.url, kinds: null, columns: null }
  receiver.secrets = [done(await workshop.webhooks.add(wish)).secret]
  let added = 0
  const add = async (at: number) => {
    const body = JSON.stringify({ name: `row ${++added}` })
    const response = await fetch(urlOf(at), { method: 'POST', headers, body })
    assert.equal(response.status, 201, await response.text())
  }
  for (let n = 0; receiver.received.length <= hanging; n++) {
    await add(n % 2)
    await until('it came', () => receiver.received.length > n)
  }
  // One of the two has it in hand, and nobody outside can tell which.
  let tookMs = 0
  for (const at of [0, 1]) {
    const killedMs = performance.now()
    instances[at]?.child.kill('SIGKILL')
    await instances[at]?.ended
    while (performance.now() - killedMs < 12_000 && receiver.received.length === hanging + 1) await sleep(20)
    tookMs = performance.now() - killedMs
    if (receiver.received.length > hanging + 1) break
    instances[at] = await start()
  }
  const [cut, again] = receiver.received.slice(hanging)
  assert.ok(again, 'somebody took it over')
  assert.deepEqual([again.id, again.body], [cut?.id, cut?.body])
  const living = instances.findIndex(({ child }) => child.exitCode === null && child.signalCode === null)
  await add(living)
  await until('all came', () => receiver.changes().length === added)
  assert.deepEqual(receiver.changes(), upTo(added))
  process.stdout.write(
    `webhooks: taken over ${tookMs.toFixed(0)} ms after a kill, ${added} changes in order, 0 lost\n`,
  )
})
