import assert from 'node:assert/strict'
import { GoneMeanwhile } from '../../errors.ts'
import { asideMs, passTime } from '../leases/leases.contract.ts'
import { accountWithSheet, newAccount, newKey, newSheet } from '../records.fixture.ts'
import type { StoreTest } from '../store-test.fixture.ts'
import type { ConnectAttempt } from './sessions.ts'

const minuteMs = 60_000
const limits = { idleMs: 30 * minuteMs, maxAgeMs: 24 * 60 * minuteMs }

export function sessionsContract(of: StoreTest): void {
  of('a session tells its account until it is ended', async (store, clock, database) => {
    const [account, other] = [await newAccount(store, 'acme'), await newAccount(store, 'other')]
    await store.createSession('one', account.id)
    await store.createSession('two', account.id)
    await store.createSession('theirs', other.id)
    assert.equal(await store.countSessions(account.id, limits), 2)
    assert.equal(
      await store.countSessions(account.id, { ...limits, maxAgeMs: -asideMs }),
      0,
      'those that live',
    )
    const begun = await store.findSession('one', limits)
    await passTime(database, clock, minuteMs)
    const living = await store.findSession('one', limits)
    assert.deepEqual(living?.account, account)
    const grownMs = (living?.ageMs ?? 0) - (begun?.ageMs ?? 0)
    assert.ok(grownMs >= minuteMs && grownMs < minuteMs + asideMs, `older by ${grownMs} ms`)
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
    async (store, clock, database) => {
      const account = await newAccount(store, 'acme')
      await store.createSession('used', account.id)
      await store.createSession('idle', account.id)
      await passTime(database, clock, limits.idleMs - asideMs)
      assert.ok(await store.findSession('used', limits))
      await passTime(database, clock, asideMs + 1)
      assert.equal(await store.findSession('idle', limits), null)
      assert.equal(await store.findSession('idle', { ...limits, idleMs: limits.maxAgeMs }), null)
      await passTime(database, clock, limits.idleMs - 2 * asideMs)
      assert.ok(await store.findSession('used', limits))
    },
  )

  of('however busy, a session ends with its greatest age', async (store, clock, database) => {
    const account = await newAccount(store, 'acme')
    await store.createSession('one', account.id)
    const oftenMs = limits.idleMs / 2
    for (let passedMs = oftenMs; passedMs < limits.maxAgeMs; passedMs += oftenMs) {
      await passTime(database, clock, oftenMs)
      assert.ok(await store.findSession('one', limits))
    }
    await passTime(database, clock, oftenMs - asideMs)
    assert.ok(await store.findSession('one', limits))
    await passTime(database, clock, asideMs + 1)
    assert.equal(await store.findSession('one', limits), null)
  })

  of('when a session was last seen is written at most once a minute', async (store, clock, database) => {
    const account = await newAccount(store, 'acme')
    await store.createSession('one', account.id)
    for (const [byMs, seenAfterMs] of [
      [0, 0],
      [minuteMs - asideMs, 0],
      [asideMs, minuteMs],
      [minuteMs - asideMs, minuteMs],
      [5 * minuteMs, 7 * minuteMs - asideMs],
    ] as const) {
      await passTime(database, clock, byMs)
      assert.ok(await store.findSession('one', limits))
      const { created_at_ms, last_seen_at_ms } = await database.kysely
        .selectFrom('session')
        .select(['created_at_ms', 'last_seen_at_ms'])
        .executeTakeFirstOrThrow()
      const seenMs = last_seen_at_ms - created_at_ms
      assert.ok(seenMs >= seenAfterMs && seenMs < seenAfterMs + asideMs / 2, `${seenMs}, not ${seenAfterMs}`)
    }
  })

  of('the console’s key ends with the session that asked for it, however that ends', async (store) => {
    const { account, sheet } = await accountWithSheet(store)
    const { id: accountId } = account
    const second = await store.createSheet(newSheet(accountId, 'second'))
    assert.ok(typeof second !== 'string')
    const put = (sessionHash: string, sheetId: string) => {
      const key = newKey(accountId, sheetId, `key of ${sessionHash}`)
      return store.putConsoleKey({ ...key, sheetId, sessionHash }, 60 * minuteMs)
    }
    const isKey = async (sessionHash: string) => (await store.lookUpKey(`key of ${sessionHash}`)) !== null
    const endings: Record<string, (hash: string) => Promise<unknown>> = {
      'signed out': (hash) => store.endSession(hash),
      'signed out everywhere': () => store.endSessionsOf(accountId),
      'a new password': () => store.endSessionsOf(accountId, 'spared'),
      'idle for too long': (hash) => store.findSession(hash, { idleMs: -1, maxAgeMs: limits.maxAgeMs }),
      'too many': () => store.keepNewestSessions(accountId, 0, limits),
    }
    await store.createKey(newKey(accountId, sheet.id, 'lasting'))
    for (const [how, end] of Object.entries(endings)) {
      for (const name of ['ends', 'spared']) await store.createSession(name, accountId)
      await put('ends', sheet.id)
      await put('spared', second.id)
      assert.ok(await isKey('ends'))
      await end('ends')
      assert.equal(await isKey('ends'), false, how)
      assert.equal(await isKey('spared'), (await store.findSession('spared', limits)) !== null, how)
      await store.endSessionsOf(accountId)
    }
    assert.ok(await store.lookUpKey('lasting'), 'lasting keys go on')
    await assert.rejects(put('ends', sheet.id), GoneMeanwhile, 'none is made for a session that is over')
  })

  of('no key of the console outlives its session, whoever comes first', async (store) => {
    const { account, sheet } = await accountWithSheet(store)
    const { id: accountId } = account
    for (let round = 0; round < 20; round++) {
      const sessionHash = `session ${round}`
      await store.createSession(sessionHash, accountId)
      const key = { ...newKey(accountId, sheet.id, `key ${round}`), sheetId: sheet.id, sessionHash }
      const [made] = await Promise.allSettled([
        store.putConsoleKey(key, 60 * minuteMs),
        round % 2 === 0 ? store.endSession(sessionHash) : store.endSessionsOf(accountId),
      ])
      if (made.status === 'rejected') assert.ok(made.reason instanceof GoneMeanwhile)
      assert.equal(await store.lookUpKey(`key ${round}`), null)
    }
  })

  of('of many sessions the newest stay', async (store, clock, database) => {
    const [account, other] = [await newAccount(store, 'acme'), await newAccount(store, 'other')]
    await store.createSession('theirs', other.id)
    for (let n = 0; n < 6; n++) {
      await store.createSession(`session ${n}`, account.id)
      assert.equal(await store.keepNewestSessions(account.id, 3, limits), n < 3 ? 0 : 1)
      await passTime(database, clock, 1_000)
    }
    const living: string[] = []
    for (let n = 0; n < 6; n++) if (await store.findSession(`session ${n}`, limits)) living.push(String(n))
    assert.deepEqual(living, ['3', '4', '5'])
    assert.ok(await store.findSession('theirs', limits))
  })

  of('none that lives ends for those that are over', async (store, clock, database) => {
    const { id: accountId } = await newAccount(store, 'acme')
    await store.createSession('used for long', accountId)
    for (const name of ['left', 'left too']) await store.createSession(name, accountId)
    await passTime(database, clock, limits.idleMs - 1_000)
    assert.ok(await store.findSession('used for long', limits))
    await passTime(database, clock, 2_000)
    await store.createSession('new', accountId)
    assert.equal(await store.keepNewestSessions(accountId, 2, limits), 0)
    for (const name of ['used for long', 'new']) assert.ok(await store.findSession(name, limits), name)
    await store.createSession('newer', accountId)
    assert.equal(await store.keepNewestSessions(accountId, 2, limits), 1)
    assert.equal(await store.findSession('used for long', limits), null)
  })

  of(
    'attempts to connect do not pile up in one account either, and the newest can be ended',
    async (store, _clock, database) => {
      const [account, other] = [await newAccount(store, 'acme'), await newAccount(store, 'other')]
      const attempt = (stateHash: string, accountId: string): ConnectAttempt => ({
        stateHash,
        sessionHash: 'mine',
        accountId,
        provider: 'google',
        codeVerifier: 'v',
        returnTo: '/connect',
      })
      await store.createConnectAttempt(attempt('theirs', other.id), minuteMs)
      for (let n = 0; n < 50; n++)
        await store.createConnectAttempt(attempt(`state ${n}`, account.id), minuteMs + n)
      const rows = await database.kysely.selectFrom('connect_attempt').select('state_hash').execute()
      assert.equal(rows.length, 21)
      assert.ok(await store.takeConnectAttempt('state 49', 'mine'))
      assert.ok(await store.takeConnectAttempt('theirs', 'mine'))
    },
  )

  of('a sign-in link opens once, and not after its time', async (store, clock, database) => {
    const account = await newAccount(store, 'acme')
    await store.createSignInLink('one', account.id, minuteMs)
    await store.createSignInLink('two', account.id, minuteMs)
    await store.createSignInLink('late', account.id, minuteMs)
    const taken = await Promise.all(Array.from({ length: 5 }, () => store.takeSignInLink('one')))
    assert.deepEqual(
      taken.filter((accountId) => accountId !== null),
      [account.id],
    )
    assert.equal(await store.takeSignInLink('none'), null)
    await passTime(database, clock, minuteMs - asideMs)
    assert.equal(await store.takeSignInLink('two'), account.id)
    await passTime(database, clock, asideMs)
    assert.equal(await store.takeSignInLink('late'), null)
  })

  of(
    'a connect attempt is taken once, in time, and by its own session alone',
    async (store, clock, database) => {
      const account = await newAccount(store, 'acme')
      const attempt: ConnectAttempt = {
        stateHash: 'state',
        sessionHash: 'mine',
        accountId: account.id,
        provider: 'google',
        codeVerifier: 'verifier',
        returnTo: '/settings',
      }
      await store.createConnectAttempt(attempt, minuteMs)
      await store.createConnectAttempt({ ...attempt, stateHash: 'late' }, minuteMs)
      await passTime(database, clock, minuteMs / 2)
      assert.equal(await store.takeConnectAttempt('state', 'theirs'), null)
      assert.equal(await store.takeConnectAttempt('none', 'mine'), null)
      const taken = await Promise.all(
        Array.from({ length: 5 }, () => store.takeConnectAttempt('state', 'mine')),
      )
      const [found, ...others] = taken.filter((each) => each !== null)
      assert.deepEqual(others, [])
      const { leftMs = 0, ...rest } = found ?? {}
      assert.deepEqual(rest, attempt)
      assert.ok(leftMs <= minuteMs / 2 && leftMs > minuteMs / 2 - asideMs, `${leftMs} ms were left`)
      await passTime(database, clock, minuteMs / 2)
      assert.equal(await store.takeConnectAttempt('late', 'mine'), null)
    },
  )

  of('links and attempts that nobody came back for do not pile up', async (store, clock, database) => {
    const account = await newAccount(store, 'acme')
    for (const name of ['first', 'second', 'third']) {
      await store.createSignInLink(name, account.id, minuteMs)
      const of = { stateHash: name, sessionHash: 'mine', accountId: account.id, provider: 'google' }
      const attempt = { ...of, codeVerifier: 'verifier', returnTo: '/connect' }
      await store.createConnectAttempt(attempt, minuteMs)
      await passTime(database, clock, minuteMs)
    }
    const links = await database.kysely.selectFrom('sign_in_link').select('hash').execute()
    const attempts = await database.kysely.selectFrom('connect_attempt').select('state_hash').execute()
    const left = [links.map(({ hash }) => hash), attempts.map(({ state_hash }) => state_hash)]
    assert.deepEqual(left, [['third'], ['third']])
  })
}
