import assert from 'node:assert/strict'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { createMovableClock } from '../../clock.ts'
import { migrate } from '../../store/sql/migrate.ts'
import { createSqlStore } from '../../store/sql/sql-store.ts'
import { openSqlite } from '../../store/sql/sqlite/sqlite-database.ts'
import { createAccounts } from '../accounts/accounts.ts'
import { Problem } from '../problem.ts'
import { createOwners } from './owners.ts'
import type { PasswordCheck } from './passwords.ts'
import { createSignIn, type Session } from './sign-in.ts'

const email = 'ada@example.com'
const [old, fresh] = ['the old password', 'the new password']
const visitor = { address: '192.0.2.1', formerSessionId: null }

test('a sign-in or confirmation by the old password ends with its change, however long its check takes', async (t) => {
  for (const isOutdated of [false, true]) {
    for (const door of ['signIn', 'confirm'] as const) {
      const { owners, signIn, session, holdNextCheck } = await withOwner(t, isOutdated)
      const held = holdNextCheck()
      const entering =
        door === 'signIn'
          ? owners.signIn({ email, password: old }, visitor)
          : owners.confirm(session, old, visitor)
      await held.isReached
      const change = { current: old, next: fresh, email: null }
      assert.equal(await owners.setPassword(session, change), null)
      held.release()
      const entered = await entering
      assert.ok(entered instanceof Problem, `${door} came in`)
      assert.ok((await owners.signIn({ email, password: old }, visitor)) instanceof Problem, 'nor is it back')
      const sessionId = await owners.signIn({ email, password: fresh }, visitor)
      assert.ok(typeof sessionId === 'string' && (await signIn.find(sessionId)))
    }
  }
})

test('a change by the old password does not undo one that was made during its check', async (t) => {
  const { owners, session, holdNextCheck } = await withOwner(t, false)
  const held = holdNextCheck()
  const late = owners.setPassword(session, { current: old, next: 'of somebody else', email: null })
  await held.isReached
  const change = { current: old, next: fresh, email: null }
  assert.equal(await owners.setPassword(session, change), null)
  held.release()
  const problem = await late
  assert.equal(problem?.message, 'Incorrect current password.')
  assert.equal(typeof (await owners.signIn({ email, password: fresh }, visitor)), 'string')
})

test('two sign-ins at once both come in where one of them hashes the password anew', async (t) => {
  const { owners, signIn, holdNextCheck } = await withOwner(t, true)
  const held = holdNextCheck()
  const slow = owners.signIn({ email, password: old }, visitor)
  await held.isReached
  const quick = await owners.signIn({ email, password: old }, visitor)
  held.release()
  for (const sessionId of [quick, await slow]) {
    assert.ok(typeof sessionId === 'string')
    assert.ok(await signIn.find(sessionId))
  }
})

/** An owner whose password is `old`; hashes are told apart by a number, and those of number 1 may be outdated. */
async function withOwner(t: TestContext, isOutdated: boolean) {
  const folder = await mkdtemp(join(tmpdir(), 'rowport-owners-'))
  const clock = createMovableClock(Date.UTC(2026, 10, 15))
  const database = openSqlite(join(folder, 'rowport.db'), clock)
  t.after(async () => {
    await database.close()
    await rm(folder, { recursive: true })
  })
  await migrate(database, clock.nowMs(), () => {})
  const store = createSqlStore(database, clock)
  const signIn = createSignIn(store, createAccounts(store, new Map(), 'free'), clock, 50, () => {})
  let hashes = 0
  let hold: ((check: () => PasswordCheck) => Promise<PasswordCheck>) | null = null
  const passwords = {
    hash: async (password: string) => `${++hashes}:${password}`,
    async check(password: string, stored: string | null): Promise<PasswordCheck> {
      const check = () => ({
        isRight: stored?.replace(/^\d+:/, '') === password,
        isOutdated: isOutdated && stored === `1:${password}`,
      })
      const held = hold
      hold = null
      return held ? held(check) : check()
    },
  }
  const throttle = { attempt: async () => null, problemNow: async () => null, count: async () => {} }
  const owners = createOwners({
    store,
    passwords,
    signIn,
    throttle,
    signUpPlan: 'free',
    welcome: async () => {},
  })
  const sessionId = await owners.signUp({ email, password: old, slug: 'ada' }, visitor)
  assert.ok(typeof sessionId === 'string')
  const session = (await signIn.find(sessionId)) as Session
  return { owners, signIn, session, holdNextCheck }

  function holdNextCheck() {
    const reached = Promise.withResolvers<void>()
    const released = Promise.withResolvers<void>()
    hold = async (check) => {
      reached.resolve()
      await released.promise
      return check()
    }
    return { isReached: reached.promise, release: () => released.resolve() }
  }
}
