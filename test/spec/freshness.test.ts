import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { CredentialExpired, ProviderFailure } from '../../src/sheets/provider-failure.ts'
import type { Cell } from '../../src/sheets/rows/grid.ts'
import { done, type Rowport, startRowport } from '../harness.ts'
import { createLoadClient } from '../load-clients.ts'
import { connectMoody, createMoodyProvider } from './freshness-provider.ts'

const away = () => new ProviderFailure('the provider is away', { isPassing: true })
const withdrawn = () => new ProviderFailure('the spreadsheet is not shared any more')

test('a thousand clients at once on a cold sheet are one read at the provider', async (t) => {
  const { provider, fetches, rowport, path } = await start(t)
  const apiKey = (await rowport.createKey()).value
  const countArrived = countLookUps(rowport)
  const goOn = provider.holdUp()
  const clients = Array.from({ length: 1_000 }, createLoadClient)
  const asking = Promise.all(clients.map(({ ask }) => ask({ port: rowport.port, path, apiKey })))
  await until(() => countArrived() === 1_000)
  goOn()
  const answers = await asking
  for (const client of clients) client.close()
  assert.ok(answers.every((answer) => answer.status === 200 && answer.text === '[{"n":1}]'))
  assert.equal(fetches(), 1)
})

test('a failure is one call at the provider for all who ask while it stands, and it stands longer each time', async (t) => {
  const { ask, provider, fetches, clock } = await start(t)
  provider.failure = withdrawn()
  const crowd = async () => {
    const answers = await Promise.all(Array.from({ length: 3 }, () => ask()))
    assert.ok(answers.every(({ status }) => status === 502))
    assert.match(answers[0]?.body ?? '', /not shared any more/)
    return fetches()
  }
  assert.equal(await crowd(), 1)
  assert.equal(await crowd(), 1)
  const seen: number[] = []
  for (let second = 1; second <= 45; second++) {
    clock.advanceMs(1_000)
    seen.push(await crowd())
  }
  // After 1, 2, 4, 8 and then every 10 seconds.
  const triesAt = seen.flatMap((count, at) => (count > (seen[at - 1] ?? 1) ? [at + 1] : []))
  assert.deepEqual(triesAt, [1, 3, 7, 15, 25, 35, 45])
  provider.failure = null
  clock.advanceMs(10_000)
  assert.equal((await ask()).status, 200)
  provider.failure = withdrawn()
  clock.advanceMs(10_000)
  await ask()
  const before = fetches()
  clock.advanceMs(1_000)
  await ask()
  assert.equal(fetches(), before + 1, 'after a success it begins with a second again')
})

test('whoever insists on now may try again, at most once a second', async (t) => {
  const { ask, provider, fetches, clock, rowport } = await start(t)
  provider.failure = away()
  for (let n = 0; n < 4; n++) {
    await ask()
    clock.advanceMs(5_000)
  }
  const before = fetches()
  const insisting = () => Promise.all(Array.from({ length: 20 }, () => ask({ 'Cache-Control': 'no-cache' })))
  await insisting()
  assert.equal(fetches(), before + 1)
  await insisting()
  assert.equal(fetches(), before + 1)
  clock.advanceMs(1_000)
  provider.failure = null
  // Whoever comes after a read is over may have one of their own, so all are there before the first one ends.
  const goOn = provider.holdUp()
  const countArrived = countLookUps(rowport)
  const asking = insisting()
  await until(() => countArrived() === 20)
  goOn()
  const answers = await asking
  assert.ok(answers.every(({ status }) => status === 200))
  assert.ok(fetches() <= before + 3)
  assert.equal((await ask()).status, 200, 'and what it found out holds for everyone')
})

test('a write that came through ends a failure at once', async (t) => {
  const { ask, provider, rowport, id } = await start(t)
  provider.failure = away()
  assert.equal((await ask()).status, 502)
  provider.failure = null
  assert.equal((await ask()).status, 502)
  await rowport.workshop.store.countWrite('moody:s')
  assert.equal((await ask()).status, 200, id)
})

test('stale_if_error_seconds: the last good rows outlast a passing failure, with their true age', async (t) => {
  const { ask, provider, clock, change, fetches } = await start(t)
  await change({ staleIfErrorSeconds: 60 })
  await ask()
  provider.failure = away()
  clock.advanceMs(10_000)
  const outlasting = await ask()
  assert.deepEqual(
    [outlasting.status, outlasting.body, outlasting.age, outlasting.cacheStatus],
    [200, '[{"n":1}]', '10', 'rowport; fwd=stale; detail=provider-failed'],
  )
  const before = fetches()
  await Promise.all(Array.from({ length: 20 }, () => ask()))
  assert.equal(fetches(), before, 'the failure stands; nobody asks again for each reader')
  assert.equal((await ask({ 'Cache-Control': 'no-cache' })).status, 502, 'who insists on now hears the truth')
  clock.advanceMs(59_999)
  const last = await ask()
  assert.deepEqual([last.status, last.age], [200, '69'])
  clock.advanceMs(1)
  assert.equal((await ask()).status, 502, 'cache_seconds and stale_if_error_seconds are over')
})

test('without stale_if_error_seconds a failure is told', async (t) => {
  const { ask, provider, clock } = await start(t)
  await ask()
  provider.failure = away()
  clock.advanceMs(10_000)
  assert.equal((await ask()).status, 502)
})

test('no rows outlast withdrawn access, an expired credential, or a write', async (t) => {
  for (const [failure, status] of [
    [withdrawn(), 502],
    [new CredentialExpired('the permission is gone'), 503],
  ] as const) {
    const { ask, provider, clock, change } = await start(t)
    await change({ staleIfErrorSeconds: 3_600 })
    await ask()
    await ask({}, '?values=formatted')
    provider.failure = failure
    clock.advanceMs(10_000)
    assert.equal((await ask()).status, status)
    provider.failure = away()
    clock.advanceMs(10_000)
    assert.equal((await ask()).status, 502, 'what is known of the access does not pass with the weather')
    assert.equal((await ask({}, '?values=formatted')).status, 502, 'however the cells are read')
    provider.failure = null
    clock.advanceMs(10_000)
    assert.equal((await ask()).status, 200)
    provider.failure = away()
    clock.advanceMs(10_000)
    assert.equal((await ask()).status, 200, 'access came back, and with it the copy')
  }
  const { ask, provider, clock, change, rowport } = await start(t)
  await change({ staleIfErrorSeconds: 3_600 })
  await ask()
  await rowport.workshop.store.countWrite('moody:s')
  provider.failure = away()
  clock.advanceMs(1_000)
  assert.equal((await ask()).status, 502, 'read your writes, or hear that it cannot be done')
})

test('while the ration is scarce, known rows are shown at once and refreshed in the background', async (t) => {
  const { ask, provider, clock } = await start(t)
  await ask()
  provider.isScarce = true
  provider.cells.set('s', [['n'], [2]])
  const goOn = provider.holdUp()
  clock.advanceMs(59_000)
  const waiting = await Promise.all(Array.from({ length: 20 }, () => ask()))
  for (const { status, body, age, cacheStatus } of waiting)
    assert.deepEqual(
      [status, body, age, cacheStatus],
      [200, '[{"n":1}]', '59', 'rowport; hit; detail=refresh-waits'],
    )
  goOn()
  await until(async () => (await ask()).body === '[{"n":2}]')
})

test('a copy is not shown beyond its time, nor after a write, however scarce the ration', async (t) => {
  const { ask, provider, clock, rowport } = await start(t)
  await ask()
  provider.isScarce = true
  provider.cells.set('s', [['n'], [2]])
  await rowport.workshop.store.countWrite('moody:s')
  assert.equal((await ask()).body, '[{"n":2}]', 'what was written is read')
  provider.cells.set('s', [['n'], [3]])
  clock.advanceMs(60_000)
  assert.equal((await ask()).body, '[{"n":3}]', 'after a minute (or six times cache_seconds) a reader waits')
})

test('where even waiting is in vain, older rows are better than none', async (t) => {
  const { ask, provider, clock } = await start(t)
  await ask()
  provider.isScarce = true
  provider.failure = new ProviderFailure('the ration is used up', { isPassing: true })
  clock.advanceMs(200_000)
  const answer = await ask()
  assert.deepEqual([answer.status, answer.age], [200, '200'])
  provider.isScarce = false
  clock.advanceMs(1_000)
  assert.equal((await ask()).status, 502, 'that is for rations only')
})

test('of the sheets of one owner, the oldest is refreshed first, one at a time', async (t) => {
  const { provider, clock, rowport } = await start(t)
  const { store } = rowport.workshop
  const owner = await store.saveCredential({
    accountId: (await store.findAccount('acme'))?.id ?? '',
    provider: 'google',
    subject: 'someone',
    label: 'someone@example.com',
    scopes: '',
    seal: () => ({ sealedToken: '', keyId: '' }),
  })
  const read = (slug: string) => rowport.get(`/api/sheets/acme/${slug}`).then((answer) => answer.text())
  for (const slug of ['c', 'a', 'd', 'b']) {
    await connectMoody(rowport, provider, slug, [['n'], [1]], owner.id)
    await read(slug)
    clock.advanceMs(1_000)
  }
  provider.isScarce = true
  clock.advanceMs(20_000)
  provider.order.length = 0
  const goOn = provider.holdUp()
  for (const slug of ['a', 'b', 'c', 'd', 'a', 'b']) await read(slug)
  await until(() => provider.order.length > 0)
  // Long enough for any of the others to be seen, were they not waiting.
  await new Promise((resolve) => setTimeout(resolve, 100))
  assert.deepEqual(provider.order, ['a'], 'the others wait for their turn')
  goOn()
  await until(() => provider.order.length >= 4)
  assert.deepEqual(provider.order, ['a', 'c', 'd', 'b'])
})

test('a sheet in use is read again before its time is over: nobody waits, and Age stays within cache_seconds', async (t) => {
  const { ask, provider, fetches, clock } = await start(t)
  await ask()
  for (let round = 1; round <= 6; round++) {
    provider.cells.set('s', [['n'], [round + 1]])
    clock.advanceMs(8_000)
    assert.equal(fetches(), round, 'not sooner than it must be')
    const goOn = provider.holdUp()
    clock.advanceMs(900)
    const meanwhile = await Promise.all(Array.from({ length: 20 }, () => ask()))
    assert.ok(meanwhile.every(({ body, cacheStatus }) => body === `[{"n":${round}}]` && isHit(cacheStatus)))
    await until(() => fetches() > round)
    goOn()
    await until(async () => (await ask()).body === `[{"n":${round + 1}}]`)
    assert.equal(fetches(), round + 1, 'one read for all of them')
    clock.advanceMs(1_000)
    const { age, cacheStatus } = await ask()
    assert.ok(Number(age) <= 10 && isHit(cacheStatus), `${age} s, ${cacheStatus}`)
  }
})

test('a sheet that nobody asks for costs no reads', async (t) => {
  const { ask, fetches, clock } = await start(t)
  await ask()
  await ask()
  for (let second = 0; second < 120; second++) {
    clock.advanceMs(1_000)
    await new Promise(setImmediate)
  }
  assert.equal(fetches(), 1)
})

test('where reading ahead fails, the rows are shown as long as they are fresh, and a second try may come in time', async (t) => {
  const { ask, provider, fetches, clock } = await start(t)
  await ask()
  await ask()
  provider.failure = away()
  clock.advanceMs(8_800)
  assert.ok(isHit((await ask()).cacheStatus))
  await until(() => fetches() === 2)
  // By its answer the failure is noted, at the time that it is.
  assert.ok(isHit((await ask()).cacheStatus))
  provider.failure = null
  provider.cells.set('s', [['n'], [2]])
  clock.advanceMs(1_050)
  assert.ok(isHit((await ask()).cacheStatus))
  await until(() => fetches() === 3)
  await until(async () => (await ask()).body === '[{"n":2}]')
  clock.advanceMs(5_000)
  assert.ok(isHit((await ask()).cacheStatus))
})

function isHit(cacheStatus: string | null): boolean {
  return cacheStatus === 'rowport; hit'
}

test('typed and formatted rows are kept apart, and each is fresh by itself', async (t) => {
  const { ask, fetches, clock } = await start(t, [
    ['n', 'm'],
    [1, null],
  ])
  assert.equal((await ask()).body, '[{"n":1,"m":null}]')
  assert.equal((await ask({}, '?values=formatted')).body, '[{"n":"1","m":""}]')
  assert.equal(fetches(), 2)
  await ask()
  await ask({}, '?values=formatted')
  assert.equal(fetches(), 2)
  clock.advanceMs(10_000)
  await ask({}, '?values=formatted')
  assert.equal(fetches(), 3)
})

async function start(t: TestContext, cells: Cell[][] = [['n'], [1]]) {
  const rowport = await startRowport(t)
  const provider = createMoodyProvider()
  const { id, path } = await connectMoody(rowport, provider, 's', cells)
  return {
    rowport,
    provider,
    id,
    path,
    clock: rowport.clock,
    fetches: () => provider.fetches.get('s') ?? 0,
    async ask(headers: Record<string, string> = {}, query = '') {
      const answer = await rowport.get(path + query, headers)
      return {
        status: answer.status,
        body: await answer.text(),
        age: answer.headers.get('age'),
        cacheStatus: answer.headers.get('cache-status'),
      }
    },
    async change(settings: { staleIfErrorSeconds: number }) {
      done(await rowport.workshop.sheets.change('acme', 's', settings))
    },
  }
}

/** What goes on in the background takes as long as it takes; what never happens, the test's time limit ends. */
async function until(isSo: () => boolean | Promise<boolean>): Promise<void> {
  while (!(await isSo())) await new Promise((resolve) => setImmediate(resolve))
}

/** How many requests have been judged since. */
function countLookUps({ workshop: { store } }: Rowport): () => number {
  const { lookUp } = store
  let lookedUp = 0
  store.lookUp = (...asked) => {
    lookedUp++
    return lookUp(...asked)
  }
  return () => lookedUp
}
