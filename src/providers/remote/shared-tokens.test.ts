import assert from 'node:assert/strict'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { createMovableClock } from '../../clock.ts'
import { createSealing } from '../../secrets/sealing.ts'
import { ProviderFailure } from '../../sheets/provider-failure.ts'
import { migrate } from '../../store/sql/migrate.ts'
import { createSqlStore } from '../../store/sql/sql-store.ts'
import { openSqlite } from '../../store/sql/sqlite/sqlite-database.ts'
import { createSharedTokens, type GivenToken } from './shared-tokens.ts'

test('any number of instances that need a token at once make one refresh', async (t) => {
  const { instances, credential, google } = await setUp(t, 4)
  const given = await Promise.all(
    instances.flatMap((shared) => [
      shared.tokenOf(credential, [null], google.refresh),
      shared.tokenOf(credential, [null], google.refresh),
    ]),
  )
  assert.equal(google.refreshes, 1)
  assert.equal(new Set(given.map((each) => (each as GivenToken).accessToken)).size, 1)
})

test('a token that is of no use any more is replaced once, for all', async (t) => {
  const { instances, credential, google } = await setUp(t, 3)
  const tokens = () =>
    Promise.all(instances.map((shared) => shared.tokenOf(credential, ['token 1', null], google.refresh)))
  await Promise.all(instances.map((shared) => shared.tokenOf(credential, [null], google.refresh)))
  assert.equal(google.refreshes, 1)
  const replaced = await tokens()
  assert.equal(google.refreshes, 2)
  assert.deepEqual([...new Set(replaced.map((each) => (each as GivenToken).accessToken))], ['token 2'])
})

test('one that will soon be over is not taken, and nothing is told of how long it still has', async (t) => {
  const { instances, credential, google, clock } = await setUp(t, 2)
  const [one, two] = instances
  assert.ok(one && two)
  await one.tokenOf(credential, [null], google.refresh)
  clock.advanceMs(3_000_000)
  const late = (await two.tokenOf(credential, [null], google.refresh)) as GivenToken
  assert.deepEqual(late, { accessToken: 'token 1', expiresInSeconds: 600 })
  clock.advanceMs(590_000)
  assert.equal(((await two.tokenOf(credential, [null], google.refresh)) as GivenToken).accessToken, 'token 2')
})

test('a refresh that fails is told to the one who made it, and the next one may try', async (t) => {
  const { instances, credential, google } = await setUp(t, 2)
  google.isFailing = true
  const outcomes = await Promise.allSettled(
    instances.map((shared) => shared.tokenOf(credential, [null], google.refresh)),
  )
  assert.deepEqual(
    outcomes.map(({ status }) => status),
    ['rejected', 'rejected'],
  )
  google.isFailing = false
  const given = (await instances[0]?.tokenOf(credential, [null], google.refresh)) as GivenToken
  assert.match(given.accessToken, /^token/)
})

test('neither a token of a former connection nor one sealed elsewhere is used', async (t) => {
  const { instances, credential, google, store } = await setUp(t, 1)
  const [shared] = instances
  assert.ok(shared)
  await shared.tokenOf(credential, [null], google.refresh)
  const again = await store.saveCredential({
    accountId: credential.accountId,
    provider: 'google',
    subject: 's',
    label: 'l',
    scopes: 'x',
    seal: () => ({ sealedToken: 'another', keyId: 'key' }),
  })
  const given = (await shared.tokenOf(again, [null], google.refresh)) as GivenToken
  assert.equal(given.accessToken, 'token 2')
  const foreign = createSharedTokens({ store, sealing: createSealing('another secret of 16', []) })
  assert.equal(((await foreign.tokenOf(again, [null], google.refresh)) as GivenToken).accessToken, 'token 3')
})

async function setUp(t: TestContext, count: number) {
  const folder = await mkdtemp(join(tmpdir(), 'rowport-tokens-'))
  const clock = createMovableClock(Date.UTC(2026, 10, 15))
  const database = openSqlite(join(folder, 'rowport.db'), clock)
  t.after(async () => {
    await database.close()
    await rm(folder, { recursive: true, force: true })
  })
  await migrate(database, clock.nowMs(), () => {})
  const store = createSqlStore(database, clock)
  const account = await store.createAccount({ slug: 'acme', plan: 'pro' })
  assert.ok(account !== 'slug_taken')
  const credential = await store.saveCredential({
    accountId: account.id,
    provider: 'google',
    subject: 's',
    label: 'l',
    scopes: 'x',
    seal: () => ({ sealedToken: 'refresh', keyId: 'key' }),
  })
  const google = {
    refreshes: 0,
    isFailing: false,
    async refresh(): Promise<GivenToken> {
      await sleep(20)
      if (google.isFailing) throw new ProviderFailure('away', { isPassing: true })
      return { accessToken: `token ${++google.refreshes}`, expiresInSeconds: 3_600 }
    },
  }
  const sealing = createSealing('the secret of the tests', [])
  const instances = Array.from({ length: count }, () =>
    createSharedTokens({ store: createSqlStore(database, clock), sealing }),
  )
  return { instances, credential, google, clock, store }
}
