import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { type Clock, systemClock } from '../../src/clock.ts'
import type { Provider } from '../../src/sheets/provider.ts'
import { createVisitor } from '../connect/visitor.ts'
import { done } from '../harness.ts'
import { clusterOfThisFile, type Instance, skipCluster } from './cluster.ts'

/** Instances whose machines disagree about the time: what they share goes by the clock of the store. */

const cluster = clusterOfThisFile()
const minuteMs = 60_000
const hourMs = 60 * minuteMs
const dayMs = 24 * hourMs

for (const aheadMs of [20 * minuteMs, -20 * minuteMs, 2 * dayMs]) {
  const minutes = `${aheadMs / minuteMs} minutes`

  test(`an instance ${minutes} ahead: a link opens there, and the session is good and recent at both`, {
    skip: skipCluster,
  }, async (t) => {
    const { startAnother, workshop, instances } = cluster()
    const other = await startAnother(clockAhead(aheadMs))
    t.after(() => other.close())
    const { token } = done(await workshop.signIn.createLink('acme'))
    const owner = createVisitor(other)
    assert.equal((await owner.call('POST', '/sign-in-link', { token })).status, 200)
    const { id } = done(await workshop.keys.create(keyWish)).record
    for (const instance of [instances[0] as Instance, other]) {
      const there = createVisitor(instance)
      there.cookie = owner.cookie
      assert.equal((await there.call('GET', '/session')).status, 200)
    }
    const regenerated = await owner.call('POST', `/keys/${id}/regenerate`)
    assert.equal(regenerated.status, 201, 'signed in a moment ago')
  })

  test(`an instance ${minutes} ahead: it neither takes over nor forgets what is under a key elsewhere`, {
    skip: skipCluster,
  }, async (t) => {
    const { startAnother, connectFile, createKey, instances } = cluster()
    const first = instances[0] as Instance
    const slug = `keyed${aheadMs / minuteMs}`.replace('-', 'm')
    await connectFile(slug, 'name\nfirst\n')
    const key = await createKey()
    const other = await startAnother(clockAhead(aheadMs))
    t.after(() => other.close())
    const post = async (instance: Instance, body: object, idempotencyKey: string) => {
      const headers = { Authorization: `Bearer ${key}`, 'Idempotency-Key': idempotencyKey }
      const path = `${instance.url}/api/sheets/acme/${slug}`
      const answer = await fetch(path, { method: 'POST', headers, body: JSON.stringify(body) })
      return [answer.status, answer.headers.get('idempotent-replayed')]
    }
    const { isHeld, release } = holdReads(first)
    t.after(release)
    const one = post(first, { name: 'one' }, `${slug}-held`)
    await Promise.race([isHeld, one])
    assert.deepEqual(await post(other, { name: 'one' }, `${slug}-held`), [409, null])
    release()
    assert.deepEqual(await one, [201, null])
    assert.deepEqual(await post(other, { name: 'one' }, `${slug}-held`), [201, 'true'])
    assert.deepEqual(await post(other, { name: 'two' }, `${slug}-theirs`), [201, null])
    assert.deepEqual(await post(first, { name: 'two' }, `${slug}-theirs`), [201, 'true'])
  })
}

test('an instance two hours ahead: the console’s key is good there', { skip: skipCluster }, async (t) => {
  const { startAnother, connectFile, workshop } = cluster()
  await connectFile('console', 'name\nfirst\n')
  const sheet = done(await workshop.sheets.find('acme', 'console'))
  const session = await workshop.signIn.find(await workshop.signIn.begin(sheet.accountId, null))
  const { value } = await workshop.keys.forConsole(sheet, session?.idHash ?? '')
  const other = await startAnother(clockAhead(2 * hourMs))
  t.after(() => other.close())
  for (const path of ['/api/sheets/acme/console', '/v1/sheets']) {
    const answer = await fetch(other.url + path, { headers: { Authorization: `Bearer ${value}` } })
    assert.equal(answer.status, 200, path)
  }
})

test('an instance forty days ahead: it charges the same month as the others', {
  skip: skipCluster,
}, async (t) => {
  const { startAnother, connectFile, createKey, workshop, instances } = cluster()
  done(await workshop.accounts.create('metered', 'enterprise'))
  done(
    await workshop.accounts.setPlan('metered', 'enterprise', {
      requestsPerMinute: null,
      requestsPerMonth: 3,
    }),
  )
  await connectFile('s', 'name\nfirst\n', 'metered')
  const key = await createKey('metered')
  const other = await startAnother(clockAhead(40 * dayMs))
  t.after(() => other.close())
  const served: boolean[] = []
  for (let n = 0; n < 6; n++) {
    const { url } = [instances[0] as Instance, other][n % 2] as Instance
    const answer = await fetch(`${url}/api/sheets/metered/s`, { headers: { Authorization: `Bearer ${key}` } })
    served.push(answer.status === 200)
    if (answer.status === 429) {
      const leftSeconds = Number(answer.headers.get('retry-after'))
      assert.ok(leftSeconds > 0 && leftSeconds <= 31 * 24 * 3_600, `told to wait for ${leftSeconds} s`)
    }
    // What an instance holds and nobody asks for, it gives back a second later.
    await sleep(10)
  }
  assert.equal(served.filter(Boolean).length, 3)
})

const keyWish = { accountSlug: 'acme', sheetSlug: null, name: 'k', mode: 'live', scope: 'read' } as const

function clockAhead(aheadMs: number): Clock {
  return { ...systemClock, nowMs: () => systemClock.nowMs() + aheadMs }
}

/** The next write at this instance has its key, and waits for the rows that it is judged by. */
function holdReads({ workshop }: Instance): { isHeld: Promise<void>; release(): void } {
  const providers = workshop.providers as Map<string, Provider>
  const files = providers.get('file') as Provider
  const held = Promise.withResolvers<void>()
  const released = Promise.withResolvers<void>()
  const wait = async () => {
    held.resolve()
    await released.promise
  }
  providers.set('file', {
    ...files,
    fetch: (...asked) => wait().then(() => files.fetch(...asked)),
    fetchHeader: (...asked) => wait().then(() => files.fetchHeader?.(...asked) ?? null),
  })
  return {
    isHeld: held.promise,
    release() {
      providers.set('file', files)
      released.resolve()
    },
  }
}
