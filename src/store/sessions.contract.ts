import assert from 'node:assert/strict'
import type { ConnectAttempt } from './sessions.ts'
import type { StoreTest } from './store.contract.ts'
import { newAccount } from './test-records.ts'

const minuteMs = 60_000
const limits = { idleMs: 30 * minuteMs, maxAgeMs: 24 * 60 * minuteMs }

export function sessionsContract(of: StoreTest): void {
  of('a session tells its account until it is ended', async (store, clock) => {
    const [account, other] = [await newAccount(store, 'acme'), await newAccount(store, 'other')]
    const begunMs = clock.nowMs()
    await store.createSession('one', account.id)
    await store.createSession('two', account.id)
    await store.createSession('theirs', other.id)
    clock.advanceMs(minuteMs)
    assert.deepEqual(await store.findSession('one', limits), { account, createdAtMs: begunMs })
    assert.equal((await store.findSession('theirs', limits))?.account.slug, 'other')
    assert.equal(await store.findSession('none', limits), null)
    await store.endSession('one')
    await store.endSession('none')
    assert.equal(await store.findSession('one', limits), null)
    assert.ok(await store.findSession('two', limits))
    await store.createSession('three', account.id)
    await store.endSessionsOf(account.id, 'two')
    assert.equal(await store.findSession('three', limits), null)
    assert.ok(await store.findSession('two', limits), 'the one to spare goes on')
    await store.createSession('three', account.id)
    await store.endSessionsOf(account.id)
    assert.equal(await store.findSession('two', limits), null)
    assert.equal(await store.findSession('three', limits), null)
    assert.ok(await store.findSession('theirs', limits), "another account's session goes on")
  })

  of('an id that is taken is never handed to another account', async (store) => {
    const [account, other] = [await newAccount(store, 'acme'), await newAccount(store, 'other')]
    await store.createSession('one', account.id)
    await assert.rejects(store.createSession('one', other.id))
    assert.equal((await store.findSession('one', limits))?.account.id, account.id)
  })

  of(
    'a session that is used goes on, one that is idle for too long is over for good',
    async (store, clock) => {
      const account = await newAccount(store, 'acme')
      await store.createSession('used', account.id)
      await store.createSession('idle', account.id)
      clock.advanceMs(limits.idleMs)
      assert.ok(await store.findSession('used', limits))
      clock.advanceMs(1)
      assert.equal(await store.findSession('idle', limits), null)
      assert.equal(await store.findSession('idle', { ...limits, idleMs: limits.maxAgeMs }), null)
      clock.advanceMs(limits.idleMs - 1)
      assert.ok(await store.findSession('used', limits))
    },
  )

  of('however busy, a session ends with its greatest age', async (store, clock) => {
    const account = await newAccount(store, 'acme')
    await store.createSession('one', account.id)
    for (let passedMs = 0; passedMs < limits.maxAgeMs; passedMs += limits.idleMs) {
      assert.ok(await store.findSession('one', limits))
      clock.advanceMs(limits.idleMs)
    }
    assert.ok(await store.findSession('one', limits))
    clock.advanceMs(1)
    assert.equal(await store.findSession('one', limits), null)
  })

  of('when a session was last seen is written at most once a minute', async (store, clock, database) => {
    const account = await newAccount(store, 'acme')
    await store.createSession('one', account.id)
    const begunMs = clock.nowMs()
    for (const [byMs, seenMs] of [
      [0, 0],
      [minuteMs - 1, 0],
      [1, minuteMs],
      [minuteMs - 1, minuteMs],
      [5 * minuteMs, 7 * minuteMs - 1],
    ] as const) {
      clock.advanceMs(byMs)
      assert.ok(await store.findSession('one', limits))
      const { last_seen_at_ms } = await database.kysely
        .selectFrom('session')
        .select('last_seen_at_ms')
        .executeTakeFirstOrThrow()
      assert.equal(last_seen_at_ms - begunMs, seenMs)
    }
  })

  of('a sign-in link opens once, and not after its time', async (store, clock) => {
    const account = await newAccount(store, 'acme')
    const inAMinuteMs = clock.nowMs() + minuteMs
    await store.createSignInLink('one', account.id, inAMinuteMs)
    await store.createSignInLink('two', account.id, inAMinuteMs)
    await store.createSignInLink('late', account.id, inAMinuteMs)
    const taken = await Promise.all(Array.from({ length: 5 }, () => store.takeSignInLink('one')))
    assert.deepEqual(
      taken.filter((accountId) => accountId !== null),
      [account.id],
    )
    assert.equal(await store.takeSignInLink('none'), null)
    clock.advanceMs(minuteMs - 1)
    assert.equal(await store.takeSignInLink('two'), account.id)
    clock.advanceMs(1)
    assert.equal(await store.takeSignInLink('late'), null)
  })

  of('a connect attempt is taken once, in time, and by its own session alone', async (store, clock) => {
    const account = await newAccount(store, 'acme')
    const attempt: ConnectAttempt = {
      stateHash: 'state',
      sessionHash: 'mine',
      accountId: account.id,
      provider: 'google',
      codeVerifier: 'verifier',
      returnTo: '/settings',
      expiresAtMs: clock.nowMs() + minuteMs,
    }
    await store.createConnectAttempt(attempt)
    await store.createConnectAttempt({ ...attempt, stateHash: 'late' })
    assert.equal(await store.takeConnectAttempt('state', 'theirs'), null)
    assert.equal(await store.takeConnectAttempt('none', 'mine'), null)
    const taken = await Promise.all(
      Array.from({ length: 5 }, () => store.takeConnectAttempt('state', 'mine')),
    )
    assert.deepEqual(
      taken.filter((found) => found !== null),
      [attempt],
    )
    clock.advanceMs(minuteMs)
    assert.equal(await store.takeConnectAttempt('late', 'mine'), null)
  })

  of('links and attempts that nobody came back for do not pile up', async (store, clock, database) => {
    const account = await newAccount(store, 'acme')
    for (const name of ['first', 'second', 'third']) {
      const expiresAtMs = clock.nowMs() + minuteMs
      await store.createSignInLink(name, account.id, expiresAtMs)
      await store.createConnectAttempt({
        stateHash: name,
        sessionHash: 'mine',
        accountId: account.id,
        provider: 'google',
        codeVerifier: 'verifier',
        returnTo: '/connect',
        expiresAtMs,
      })
      clock.advanceMs(minuteMs)
    }
    const links = await database.kysely.selectFrom('sign_in_link').select('hash').execute()
    const attempts = await database.kysely.selectFrom('connect_attempt').select('state_hash').execute()
    const left = [links.map(({ hash }) => hash), attempts.map(({ state_hash }) => state_hash)]
    assert.deepEqual(left, [['third'], ['third']])
  })
}
