import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { defaultShares } from '../../src/shares/shares.ts'
import { bearer, done, startRowport } from '../harness.ts'
import { followedIn, startFollowed } from './following.ts'
import { type Behavior, fine, type Receiver, startReceiver, until, upTo, verified } from './receiver.ts'

const minuteMs = 60_000
const hourMs = 60 * minuteMs
const dayMs = 24 * hourMs

test('a change is told as the log tells it, signed, and soon', async (t) => {
  const { rowport, addRows, follow, sheetId } = await startFollowed(t)
  const receiver = await startReceiver(t)
  const { id } = await follow(receiver)
  await addRows(1)
  await until('it came', () => receiver.taken().length === 1)
  const [message] = receiver.received
  assert.ok(message)
  const key = await rowport.createKey()
  const logged = await rowport.get(`/v1/sheets/${sheetId}/changes?since=earliest`, bearer(key))
  const { data: changes, meta } = (await logged.json()) as { data: unknown[]; meta: { cursor: string } }
  assert.equal(message.type, 'rows.changed')
  assert.deepEqual(message.data, {
    webhook: id,
    account: 'acme',
    sheet: 'stock',
    sheet_id: sheetId,
    cursor: meta.cursor,
    changes,
  })
  assert.equal(message.headers['content-type'], 'application/json')
  assert.match(message.headers['user-agent'] ?? '', /^Rowport\//)
  // What came of it is noted when its answer was read, a moment after it came.
  const deliveries = () => rowport.workshop.store.deliveriesOf(id)
  await until('it is noted', async () => (await deliveries()).length === 1)
  const [delivery] = await deliveries()
  assert.deepEqual(
    [delivery?.messageId, delivery?.status, delivery?.failure, delivery?.answer, delivery?.changes],
    [message.id, 200, null, 'thanks', 1],
  )
  assert.deepEqual([delivery?.type, delivery?.cursor], ['rows.changed', meta.cursor])
})

const failures: Record<string, Behavior> = {
  'answer 500': () => ({ status: 500, body: 'no' }),
  redirect: () => ({ status: 307, headers: { Location: 'http://127.0.0.1:9/' } }),
  'answer 429': () => ({ status: 429, headers: { 'Retry-After': '7' } }),
  'answer 404': () => ({ status: 404 }),
}

test('whatever a receiver does, it takes every change, in order; those that fail delay nobody', async (t) => {
  const { rowport, addRows, follow } = await startFollowed(t)
  const receivers: Record<string, Receiver> = {}
  // Each fails at every other attempt.
  for (const [name, failure] of Object.entries(failures)) {
    receivers[name] = await startReceiver(t, (nth) => (nth % 2 === 0 ? failure(nth) : fine(nth)))
  }
  const well = await startReceiver(t)
  const dead = await startReceiver(t, () => ({ status: 503 }))
  for (const receiver of [...Object.values(receivers), dead, well]) await follow(receiver)
  const beganMs = rowport.clock.elapsedMs()
  await addRows(1)
  const all = Object.values(receivers)
  await until('each was tried', () => [...all, dead, well].every(({ received }) => received.length > 0))
  await addRows(6)
  await until('the one that is well has all', () => well.changes().length === 7)
  assert.deepEqual(well.changes(), upTo(7))
  process.stdout.write(
    `webhooks: with ${Object.keys(receivers).length + 1} that fail, the one that is well had 7 changes ${rowport.clock.elapsedMs() - beganMs} s later\n`,
  )
  assert.equal(rowport.clock.elapsedMs(), beganMs, 'after 0 seconds')
  const isSettled = async () => {
    const webhooks = await rowport.workshop.store.webhooksOf(account.id)
    return webhooks.every(({ waiting, nextAttemptInMs }) => waiting === 0 || nextAttemptInMs > 0)
  }
  const account = done(await rowport.workshop.accounts.find('acme'))
  for (let rounds = 0; all.some((one) => one.changes().length < 7); rounds++) {
    assert.ok(rounds < 40)
    await until('each has all, or waits for its next attempt', isSettled)
    const before = all.map((one) => one.received.length)
    const isTried = (one: Receiver, n: number) =>
      one.changes().length >= 7 || one.received.length > (before[n] ?? 0)
    rowport.clock.advanceMs(10_000)
    await until('those that do not have all were tried', () => all.every(isTried))
  }
  for (const [name, receiver] of Object.entries(receivers)) {
    assert.deepEqual(receiver.changes(), upTo(7), name)
    for (const [nth, { id, body, status }] of receiver.received.entries()) {
      const next = receiver.received[nth + 1]
      if (status !== 200 && next)
        assert.deepEqual([next.id, next.body], [id, body], `${name}: the same again`)
    }
    assert.equal(receiver.mostAtOnce, 1)
  }
  assert.equal(dead.taken().length, 0)
})

test('one that hangs is given up after a while, and is nobody’s burden meanwhile', async (t) => {
  const { rowport, addRows, follow } = await startFollowed(t)
  const hanging = await startReceiver(t, (nth) => (nth === 0 ? null : fine(nth)))
  const well = await startReceiver(t)
  const { id } = await follow(hanging)
  await follow(well)
  await addRows(1)
  await until('it hangs', () => hanging.received.length === 1)
  await addRows(2)
  await until('the other has all', () => well.changes().length === 3)
  await until('it was given up', () => failed(1), 25_000)
  const [delivery] = await rowport.workshop.store.deliveriesOf(id)
  assert.deepEqual([delivery?.status, delivery?.failure], [null, 'no response came within 15 seconds'])
  rowport.clock.advanceMs(6_000)
  await until('it has all', () => hanging.changes().length === 3)
  assert.deepEqual(hanging.changes(), [1, 2, 3])
  assert.equal(hanging.received[1]?.id, hanging.received[0]?.id)

  function failed(count: number): boolean {
    return rowport.seen.filter(({ event }) => event === 'webhook_failed').length === count
  }
})

test('an account has its share of what is on its way: its slow receivers leave places for others', async (t) => {
  const { rowport, addRows, follow } = await startFollowed(t, {
    shares: { ...defaultShares, deliveries_at_once: 2 },
  })
  const slow = await Promise.all([1, 2, 3, 4].map(() => startReceiver(t, () => null)))
  for (const receiver of slow) await follow(receiver)
  await addRows(1)
  const asked = () => slow.reduce((sum, { received }) => sum + received.length, 0)
  await until('two are on their way', () => asked() === 2)
  // Longer than a round takes.
  await sleep(1_500)
  assert.equal(asked(), 2)
  await until('the others have their turn when the first are given up', () => asked() === 4, 25_000)
  const metrics = await (await rowport.get('/metrics')).text()
  assert.match(metrics, /^rowport_turn_wait_seconds_count\{share="deliveries_at_once"\} 2$/m)
})

test('Retry-After is waited for, and no longer', async (t) => {
  const { rowport, addRows, follow } = await startFollowed(t)
  const receiver = await startReceiver(t, (nth) =>
    nth === 0 ? { status: 429, headers: { 'Retry-After': '120' } } : fine(nth),
  )
  const { id } = await follow(receiver)
  await addRows(1)
  await until('it was asked to wait', () => receiver.received.length === 1)
  // Only from then on is the time counted that is waited.
  await until(
    'it waits',
    async () => ((await rowport.workshop.store.findWebhook(id))?.nextAttemptInMs ?? 0) > 0,
  )
  rowport.clock.advanceMs(118_000)
  await sleep(1_500)
  assert.equal(receiver.received.length, 1)
  rowport.clock.advanceMs(2_000)
  await until('it came', () => receiver.taken().length === 1)
})

test('410 turns it off at once, failing for three days too; on again, it goes on where it was', async (t) => {
  const { rowport, addRows, follow } = await startFollowed(t)
  const { store, webhooks, audit } = rowport.workshop
  const receiver = await startReceiver(t, () => ({ status: 410 }))
  const gone = await follow(receiver)
  const stubborn = await startReceiver(t, () => ({ status: 500 }))
  const failing = await follow(stubborn)
  await addRows(1)
  await until('it is off', async () => (await store.findWebhook(gone.id))?.state === 'off')
  assert.equal((await store.findWebhook(gone.id))?.offReason, 'it returned 410 Gone')
  let attempts = 0
  for (let hours = 0; (await store.findWebhook(failing.id))?.state === 'on'; hours++) {
    assert.ok(hours < 90)
    rowport.clock.advanceMs(hourMs)
    const { nextAttemptInMs = 0 } = (await store.findWebhook(failing.id)) ?? {}
    if (nextAttemptInMs > 0) continue
    await until('it was tried', () => stubborn.received.length > attempts)
    attempts = stubborn.received.length
    await until('it is noted', async () => {
      const webhook = await store.findWebhook(failing.id)
      return webhook?.state === 'off' || (webhook?.nextAttemptInMs ?? 0) > 0
    })
  }
  assert.ok(stubborn.received.length >= 8 && stubborn.received.length <= 12, `${stubborn.received.length}`)
  assert.equal(new Set(stubborn.received.map(({ id }) => id)).size, 1)
  const account = done(await rowport.workshop.accounts.find('acme'))
  const off = (await audit.of(account.id)).filter(({ action }) => action === 'webhook.turned_off')
  assert.deepEqual(
    off.map(({ actor, subject }) => [actor, subject]),
    [
      ['rowport', stubborn.url],
      ['rowport', receiver.url],
    ],
  )
  assert.equal(receiver.received.length, 1, 'one that is off is left alone')
  receiver.behavior = fine
  await addRows(1)
  await webhooks.resume(done(await webhooks.find(gone.id)))
  await until('it has all', () => receiver.changes().length === 2)
  assert.deepEqual(receiver.changes(), [1, 2])
})

test('a pause keeps everything for later; a replay sends it again, from a point or a time', async (t) => {
  const { rowport, addRows, follow } = await startFollowed(t)
  const { webhooks } = rowport.workshop
  const receiver = await startReceiver(t)
  const { id } = await follow(receiver)
  await addRows(2)
  await until('both came', () => receiver.changes().length === 2)
  const noon = rowport.clock.nowMs() + hourMs
  rowport.clock.advanceMs(2 * hourMs)
  await webhooks.pause(done(await webhooks.find(id)))
  await addRows(2)
  await sleep(1_300)
  assert.equal(receiver.changes().length, 2)
  assert.equal(done(await webhooks.find(id)).waiting, 2)
  await webhooks.resume(done(await webhooks.find(id)))
  await until('the others came', () => receiver.changes().length === 4)
  const seen = receiver.received.length
  const replayed = async (since: Parameters<typeof webhooks.replay>[1], expected: number[]) => {
    receiver.received.length = 0
    done(await webhooks.replay(done(await webhooks.find(id)), since))
    await until('it came again', () => receiver.changes().length === expected.length)
    assert.deepEqual(receiver.changes(), expected)
  }
  assert.ok(seen > 0)
  const ids = new Set(receiver.received.map((message) => message.id))
  await replayed('earliest', [1, 2, 3, 4])
  assert.ok(!receiver.received.some((message) => ids.has(message.id)), 'these are new messages')
  await replayed({ atMs: noon }, [3, 4])
  const { cursor } = receiver.received[0]?.data.changes[0] ?? {}
  await replayed({ cursor }, [4])
  const wrong = await webhooks.replay(done(await webhooks.find(id)), { cursor: 'nowhere-9' })
  assert.ok('message' in wrong)
})

test('after a rotation both secrets verify for a day, then the new one alone', async (t) => {
  const { rowport, addRows, follow } = await startFollowed(t)
  const { webhooks } = rowport.workshop
  const receiver = await startReceiver(t)
  const { id } = await follow(receiver)
  const [old = ''] = receiver.secrets
  const { secret: fresh } = await webhooks.rotate(done(await webhooks.find(id)))
  assert.notEqual(fresh, old)
  await addRows(1)
  await until('it came', () => receiver.taken().length === 1)
  const [both] = receiver.received
  assert.ok(both)
  for (const secret of [old, fresh]) verified(secret, both.body, both.headers)
  rowport.clock.advanceMs(dayMs)
  receiver.secrets = [fresh]
  await addRows(1)
  await until('it came', () => receiver.taken().length === 2)
  const after = receiver.received[1]
  assert.ok(after)
  assert.throws(() => verified(old, after.body, after.headers))
})

test('batches are bounded in changes and bytes, and a row that is too long is told without its cells', async (t) => {
  const { rowport } = await startFollowed(t)
  const { follow, sheetId } = await followedIn(rowport, 'wide', 'name,b,c,d,e,f,g')
  const receiver = await startReceiver(t)
  const { id } = await follow(receiver)
  await rowport.workshop.webhooks.pause(done(await rowport.workshop.webhooks.find(id)))
  const key = await rowport.createKey()
  const post = async (rows: object[]) => {
    const wish = { method: 'POST', headers: bearer(key), body: JSON.stringify(rows) }
    const response = await fetch(`${rowport.url}/v1/sheets/${sheetId}`, wish)
    assert.equal(response.status, 201, await response.text())
  }
  await post(Array.from({ length: 250 }, (_, n) => ({ name: `short ${n}` })))
  await post(Array.from({ length: 10 }, () => ({ name: 'x'.repeat(9_000) })))
  await post([Object.fromEntries([...'bcdefg'].map((column) => [column, 'y'.repeat(50_000)]))])
  await rowport.workshop.webhooks.resume(done(await rowport.workshop.webhooks.find(id)))
  await until('all came', () => receiver.changes().length === 261)
  assert.deepEqual(receiver.changes(), upTo(261))
  for (const { body, data } of receiver.received) {
    assert.ok(data.changes.length <= 100)
    assert.ok(Buffer.byteLength(body) < 30_000, `${Buffer.byteLength(body)}`)
  }
  const last = receiver.received.at(-1)
  assert.deepEqual(last?.data.changes[0].omitted, ['before', 'after'])
})

test('who wants to hear of some kinds or columns hears of these', async (t) => {
  const { rowport, addRows, follow, sheetId } = await startFollowed(t)
  const [added, priced] = [await startReceiver(t), await startReceiver(t)]
  await follow(added, { kinds: ['added'] })
  await follow(priced, { kinds: ['updated'], columns: ['price'] })
  const key = await rowport.createKey()
  const change = (method: string, path: string, body?: object) =>
    fetch(`${rowport.url}/v1/sheets/${sheetId}${path}`, {
      method,
      headers: bearer(key),
      ...(body && { body: JSON.stringify(body) }),
    })
  await addRows(2)
  await change('PATCH', '/2', { name: 'other' })
  await change('PATCH', '/2', { price: 99 })
  await change('DELETE', '/3')
  await addRows(1)
  await until('both have theirs', () => added.changes().length === 3 && priced.changes().length === 1)
  assert.deepEqual([added.changes(), priced.changes()], [[1, 2, 6], [4]])
})

test('what is no longer kept is told as a reset, and from there on it goes on', async (t) => {
  const { rowport, addRows, follow, sheetId, slug } = await startFollowed(t)
  const { store, webhooks, sheets } = rowport.workshop
  const receiver = await startReceiver(t)
  const { id } = await follow(receiver)
  await webhooks.pause(done(await webhooks.find(id)))
  await addRows(2)
  done(await sheets.change('acme', slug, { historyDays: 0 }))
  done(await sheets.change('acme', slug, { historyDays: 7 }))
  await addRows(1)
  await webhooks.resume(done(await webhooks.find(id)))
  await until('it came', () => receiver.taken().length > 0)
  const position = await store.changeLogOf(sheetId)
  const [message] = receiver.received
  assert.deepEqual(
    message?.data.changes.map(({ kind, cursor }: { kind: string; cursor: string }) => [kind, cursor]),
    [['reset', `${position?.epoch}-${position?.head}`]],
  )
  await addRows(1)
  await until('the next came', () => receiver.taken().length === 2)
  assert.equal(receiver.received[1]?.data.changes[0].kind, 'added')
})

test('of two instances one sends at a time, and when one ends the other goes on', async (t) => {
  const { rowport, addRows, follow } = await startFollowed(t)
  const other = await startRowport(t, { beside: rowport, settings: { webhookNetworks: ['127.0.0.0/8'] } })
  const receiver = await startReceiver(t)
  await follow(receiver)
  const second = await followedIn(rowport, 'more')
  const hanging = await startReceiver(t, (nth) => (nth === 0 ? null : fine(nth)))
  await second.follow(hanging)
  for (let n = 0; n < 10; n++) await addRows(2)
  await until('all came', () => receiver.changes().length === 20)
  assert.deepEqual(receiver.changes(), upTo(20))
  assert.equal(receiver.mostAtOnce, 1)
  await second.addRows(1)
  await until('it hangs', () => hanging.received.length === 1)
  // Whichever has it in hand gives it back within seconds, and it is the other's.
  const beganMs = performance.now()
  await other.stopServer()
  await addRows(1)
  await until('it goes on', () => receiver.changes().length === 21)
  assert.ok(performance.now() - beganMs < 8_000)
})

test('owners of sheets that people edit hear of it while nobody reads', async (t) => {
  const { rowport, follow } = await startFollowed(t)
  const { writeFile, utimes } = await import('node:fs/promises')
  const receiver = await startReceiver(t)
  await follow(receiver)
  const path = `${rowport.folder}/stock.csv`
  await writeFile(path, 'name,price\nLamp,5\n')
  await utimes(path, new Date(Date.now() - dayMs), new Date(Date.now() - dayMs))
  rowport.clock.advanceMs(hourMs)
  await until('it came', () => receiver.changes().length === 1, 25_000)
  assert.equal(receiver.received[0]?.data.changes[0].source, 'outside')
})
