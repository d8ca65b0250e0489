import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { Redis } from 'ioredis'
import { defaultShares } from '../../src/shares/shares.ts'
import { createVisitor } from '../connect/visitor.ts'
import { done } from '../harness.ts'
import { createLoadClient } from '../load-clients.ts'
import { patienceMs } from '../soak.ts'
import { type Cluster, clusterOfThisFile, skipCluster, startCluster } from './cluster.ts'

/**
 * docs/contract.md#rate-limit and docs/contract.md#quota across instances: windows and quota are the account's,
 * whichever instance is asked.
 */

const clusterHere = clusterOfThisFile()

interface LimitedAccount {
  slug: string
  key: string
}

test('R6: exactly N pass in a window under a fourfold load on two instances; whoever waits as told is let in', {
  skip: skipCluster,
}, async (t) => {
  const cluster = clusterHere()
  const direct = new Redis(cluster.redis.url)
  direct.on('error', () => {})
  t.after(() => direct.disconnect())
  const sizes = [...Array(12).fill(10), ...Array(6).fill(60), ...Array(2).fill(600)] as number[]
  const admitted: string[] = []
  let refusedAfterWaiting = 0
  for (const [at, limit] of sizes.entries()) {
    const account = await limitedAccount(cluster, `window-${at}`, {
      requestsPerMinute: limit,
      requestsPerMonth: null,
    })
    const answers = await overload(cluster, account, limit * 4)
    const passed = answers.filter(({ status }) => status === 200).length
    admitted.push(`${passed}/${limit}`)
    assert.equal(passed, limit)
    assert.equal(answers.filter(({ status }) => status === 429).length, limit * 3)
    const refused = await cluster.ask(at % 2, `/api/sheets/${account.slug}/stock`, { key: account.key })
    await refused.arrayBuffer()
    assert.equal(refused.status, 429)
    // As if so many seconds had passed: the window's clock is Redis's, and nobody can move that.
    const waitedMs = Number(refused.headers.get('retry-after')) * 1_000
    for (const key of await direct.keys('rowport:window:*')) await direct.hincrby(key, 'ends', -waitedMs)
    const again = await cluster.ask(1 - (at % 2), `/api/sheets/${account.slug}/stock`, { key: account.key })
    await again.arrayBuffer()
    if (again.status !== 200) refusedAfterWaiting++
    await direct.flushall()
  }
  process.stdout.write(
    `R6: ${sizes.length} windows at 4 × the limit on 2 instances, admitted/limit: ${[...new Set(admitted)].join(' ')}; ` +
      `refused after waiting as told: ${refusedAfterWaiting}\n`,
  )
  assert.equal(refusedAfterWaiting, 0)
  assert.equal(movesIn(cluster), 0, 'Redis was there all the time')
})

test('what an owner reads at the dashboard is counted for the account, whichever instance is asked', {
  skip: skipCluster,
}, async () => {
  const cluster = clusterHere()
  const limits = { requestsPerMinute: 10, requestsPerMonth: null }
  const { slug } = await limitedAccount(cluster, 'owner-pace', limits)
  const { token } = done(await cluster.workshop.signIn.createLink(slug))
  const visitors = cluster.instances.map((instance) => createVisitor(instance))
  await visitors[0]?.call('POST', '/sign-in-link', { token })
  for (const visitor of visitors) visitor.cookie = visitors[0]?.cookie ?? ''
  const answers = await Promise.all(
    Array.from({ length: 40 }, (_, n) => visitors[n % visitors.length]?.call('GET', '/sheets/stock/rows')),
  )
  const passed = answers.filter((answer) => answer?.status === 200).length
  process.stdout.write(`owner's reads on ${visitors.length} instances, passed/limit: ${passed}/10\n`)
  assert.equal(passed, 10)
  assert.equal(answers.filter((answer) => answer?.status === 429).length, 30)
})

test('R7: Redis is killed and comes back; nobody gets a 5xx, and at most 2N pass in that minute', {
  skip: skipCluster,
  timeout: patienceMs,
}, async () => {
  const cluster = clusterHere()
  const limit = 40
  const rounds = 5
  const worst = { passed: 0, status5xx: 0, backMs: 0 }
  for (let round = 0; round < rounds; round++) {
    const account = await limitedAccount(cluster, `round-${round}`, {
      requestsPerMinute: limit,
      requestsPerMonth: null,
    })
    const before = await overload(cluster, account, limit * 2)
    const killed = cluster.redis.kill()
    const during = await overload(cluster, account, limit * 2)
    await killed
    const after = await overload(cluster, account, limit * 2)
    await cluster.redis.restart()
    const backAtMs = performance.now()
    const answers = [...before, ...during, ...after]
    while (movesOf(cluster).some(([, last]) => last !== 'redis')) {
      answers.push(...(await overload(cluster, account, 4)))
      await sleep(100)
      assert.ok(performance.now() - backAtMs < 15_000, 'it does not come back')
    }
    worst.backMs = Math.max(worst.backMs, performance.now() - backAtMs)
    answers.push(...(await overload(cluster, account, limit * 2)))
    const passed = answers.filter(({ status }) => status === 200).length
    worst.passed = Math.max(worst.passed, passed)
    worst.status5xx += answers.filter(({ status }) => status === null || status >= 500).length
    assert.ok(passed >= limit && passed <= 2 * limit, `${passed} of ${limit} passed`)
  }
  const fresh = await limitedAccount(cluster, 'afterwards', {
    requestsPerMinute: limit,
    requestsPerMonth: null,
  })
  const normal = (await overload(cluster, fresh, limit * 4)).filter(({ status }) => status === 200).length
  process.stdout.write(
    `R7: Redis killed ${rounds} times under load, N = ${limit}: at most ${worst.passed} in the minute of the change, ` +
      `${worst.status5xx} × 5xx, Redis found well ${(worst.backMs / 1_000).toFixed(1)} s after it was back at most, ` +
      `then ${normal}/${limit}\n`,
  )
  assert.equal(worst.status5xx, 0)
  assert.equal(normal, limit)
})

test('an instance that had no requests while Redis was away adds no third N when it is back and empty', {
  skip: skipCluster,
}, async (t) => {
  const cluster = await startCluster(t)
  const limit = 50
  const account = await limitedAccount(cluster, 'idle', { requestsPerMinute: limit, requestsPerMonth: null })
  const passed = [await letThrough(cluster, account, 0, limit + 5)]
  await cluster.redis.kill()
  passed.push(await letThrough(cluster, account, 0, limit + 5))
  const idle = cluster.instances[1]
  const connections = () => idle?.seen.filter(({ event }) => event === 'redis_connected').length
  const before = connections()
  await cluster.redis.restart()
  while (connections() === before) await sleep(10)
  // Its connection is there, and it has no reason to think that anything was ever lost.
  await sleep(50)
  passed.push(await letThrough(cluster, account, 1, limit + 5))
  const sum = passed.reduce((one, other) => one + other, 0)
  process.stdout.write(
    `N = ${limit}: at one instance, Redis killed, there again, Redis back, at the other: ${passed.join(' + ')} = ${sum}\n`,
  )
  assert.equal(sum, 2 * limit)
})

test('a Redis that stands still holds a request up for a moment, once', { skip: skipCluster }, async (t) => {
  const cluster = await startCluster(t, { instances: 1 })
  const limits = { requestsPerMinute: 10, requestsPerMonth: null }
  const account = await limitedAccount(cluster, 'still', limits)
  assert.equal(await letThrough(cluster, account, 0, 1), 1)
  const tookMs: number[] = []
  process.kill(cluster.redis.pid, 'SIGSTOP')
  try {
    for (let n = 0; n < 3; n++) {
      const begunMs = performance.now()
      assert.equal(await letThrough(cluster, account, 0, 1), 1)
      tookMs.push(Math.round(performance.now() - begunMs))
    }
  } finally {
    process.kill(cluster.redis.pid, 'SIGCONT')
  }
  process.stdout.write(`requests to an instance whose Redis stands still took ${tookMs.join(', ')} ms\n`)
  assert.equal(movesIn(cluster), 1)
  assert.ok((tookMs[0] ?? 0) < 4_000, 'half a second, or two on a busy machine')
})

test('R8: of a month of 1,000 exactly 1,000 are served, by 16 clients on two instances', {
  skip: skipCluster,
}, async () => {
  const cluster = clusterHere()
  const quota = 1_000
  const account = await limitedAccount(cluster, 'quota', { requestsPerMinute: null, requestsPerMonth: quota })
  const path = `/api/sheets/${account.slug}/stock`
  let served = 0
  let refusedSince = 0
  const statuses = new Set<number | null>()
  await Promise.all(
    Array.from({ length: 16 }, async (_, at) => {
      const client = createLoadClient()
      // Some are refused while another instance holds a reservation that it then gives back. When all is served,
      // each still asks twice in vain.
      while (served < quota || refusedSince < 2 * 16) {
        const port = cluster.instances[at % 2]?.port ?? 0
        const { status } = await client.ask({ port, path, apiKey: account.key })
        statuses.add(status)
        if (status === 200) served++
        else {
          if (served >= quota) refusedSince++
          await sleep(100)
        }
      }
      client.close()
    }),
  )
  process.stdout.write(`R8: a quota of ${quota}, 16 clients on 2 instances: ${served} served\n`)
  assert.equal(served, quota)
  assert.deepEqual([...statuses].sort(), [200, 429])
})

for (const withRedis of [true, false]) {
  test(`readers without a key: exactly their own pass on two instances ${withRedis ? 'with' : 'without'} Redis, and all of the owner's`, {
    skip: skipCluster,
  }, async (t) => {
    const cluster = withRedis ? clusterHere() : await startCluster(t, { withRedis })
    const ofAddress = defaultShares.public_requests_per_minute
    const passed = (answers: { status: number | null }[]) =>
      answers.filter(({ status }) => status === 200).length
    const limits = { requestsPerMinute: 25, requestsPerMonth: null }
    const account = await limitedAccount(cluster, `public-${withRedis}`, limits)
    const wide = await limitedAccount(cluster, `wide-${withRedis}`, {
      requestsPerMinute: 1_000,
      requestsPerMonth: null,
    })
    for (const { slug } of [account, wide])
      done(await cluster.workshop.sheets.change(slug, 'stock', { access: 'public-read' }))
    // What the sheet refuses the address has asked for all the same, so it stays below its own limit here.
    const ofSheet = passed(await overload(cluster, { ...account, key: '' }, ofAddress - 20))
    const ofAll = passed(await overload(cluster, { ...wide, key: '' }, 4 * ofAddress))
    const keyed = passed(await overload(cluster, account, 4 * 25))
    process.stdout.write(
      `keyless on 2 instances ${withRedis ? 'with' : 'without'} Redis: ${ofSheet}/25 of a sheet, then ${ofAll}/20 of what ` +
        `the address had left; keyed: ${keyed}/25\n`,
    )
    assert.deepEqual([ofSheet, ofAll, keyed], [25, 20, 25])
  })
}

test('of a public month of 30 exactly 30 are served on two instances, and the keys have 30 of their own', {
  skip: skipCluster,
}, async (t) => {
  const cluster = await startCluster(t)
  const quota = 30
  const account = await limitedAccount(cluster, 'public-month', {
    requestsPerMinute: null,
    requestsPerMonth: quota,
  })
  done(await cluster.workshop.sheets.change(account.slug, 'stock', { access: 'public-read' }))
  const served: number[] = []
  for (const key of ['', account.key]) {
    let count = 0
    let inVain = 0
    // What an instance holds and nobody asks for goes back after a moment.
    while (inVain < 3) {
      const passed = (await overload(cluster, { ...account, key }, 5)).filter(({ status }) => status === 200)
      count += passed.length
      inVain = passed.length === 0 ? inVain + 1 : 0
      if (inVain > 0) await sleep(1_200)
    }
    served.push(count)
  }
  process.stdout.write(`a month of ${quota}: ${served[0]} without a key and ${served[1]} with one served\n`)
  assert.deepEqual(served, [quota, quota])
})

async function limitedAccount(
  { workshop, connectFile, createKey }: Cluster,
  slug: string,
  limits: { requestsPerMinute: number | null; requestsPerMonth: number | null },
): Promise<LimitedAccount> {
  done(await workshop.accounts.create(slug, 'enterprise'))
  done(await workshop.accounts.setPlan(slug, 'enterprise', limits))
  await connectFile('stock', 'name\nfirst\n', slug)
  return { slug, key: await createKey(slug) }
}

async function overload({ instances }: Cluster, { slug, key }: LimitedAccount, requests: number) {
  const clients = 16
  const answers: { status: number | null }[] = []
  let left = requests
  await Promise.all(
    Array.from({ length: clients }, async (_, at) => {
      const client = createLoadClient()
      const port = instances[at % instances.length]?.port ?? 0
      while (left-- > 0)
        answers.push(await client.ask({ port, path: `/api/sheets/${slug}/stock`, apiKey: key }))
      client.close()
    }),
  )
  return answers
}

async function letThrough(
  cluster: Cluster,
  { slug, key }: LimitedAccount,
  instance: number,
  requests: number,
) {
  const client = createLoadClient()
  const port = cluster.instances[instance]?.port ?? 0
  let passed = 0
  for (let n = 0; n < requests; n++) {
    const { status } = await client.ask({ port, path: `/api/sheets/${slug}/stock`, apiKey: key })
    if (status === 200) passed++
  }
  client.close()
  return passed
}

function movesIn({ instances }: Cluster): number {
  return instances.reduce(
    (sum, { seen }) => sum + seen.filter(({ event }) => event === 'rate_windows_moved').length,
    0,
  )
}

/** Where each instance counts, by what it said last. */
function movesOf({ instances }: Cluster): [number, string][] {
  return instances.map(({ seen }, at) => {
    const moves = seen.flatMap((each) => (each.event === 'rate_windows_moved' ? each.to : []))
    return [at, moves.at(-1) ?? 'redis']
  })
}
