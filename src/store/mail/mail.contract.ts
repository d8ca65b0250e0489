import assert from 'node:assert/strict'
import { passTime } from '../leases/leases.contract.ts'
import { newAccount } from '../records.fixture.ts'
import { createSqlStore } from '../sql/sql-store.ts'
import type { StoreTest } from '../store-test.fixture.ts'

const minuteMs = 60_000
const holdMs = 2 * minuteMs
const mailTo = (accountId: string, id: string, lifeMs = 60 * minuteMs) => ({
  id,
  accountId,
  sealed: `sealed ${id}`,
  keyId: 'k',
  lifeMs,
})

export function mailContract(of: StoreTest): void {
  of('each mail is taken by one, however many ask, and comes once', async (store, clock, database) => {
    const other = createSqlStore(database, clock)
    const { id: accountId } = await newAccount(store, 'acme')
    assert.equal(await store.takeDueMail(holdMs), null)
    const ids = Array.from({ length: 12 }, (_, n) => `mail ${n}`)
    for (const id of ids) await store.addMail(mailTo(accountId, id))
    const taken = await Promise.all(
      Array.from({ length: 16 }, (_, n) => (n % 2 === 0 ? store : other).takeDueMail(holdMs)),
    )
    const got = taken.filter((mail) => mail !== null)
    assert.deepEqual(got.map(({ id }) => id).sort(), ids.toSorted())
    const [first] = got
    assert.deepEqual(first, {
      id: first?.id,
      accountId,
      sealed: `sealed ${first?.id}`,
      keyId: 'k',
      attempts: 1,
      isOver: false,
    })
    for (const mail of got) await store.removeMail(mail)
    await passTime(database, clock, holdMs)
    assert.equal(await store.takeDueMail(holdMs), null)
  })

  of('who dies over a mail leaves it to others, and cannot take it back', async (store, clock, database) => {
    const { id: accountId } = await newAccount(store, 'acme')
    await store.addMail(mailTo(accountId, 'a'))
    const dead = await store.takeDueMail(holdMs)
    assert.ok(dead)
    assert.equal(await store.takeDueMail(holdMs), null, 'it is in somebody’s hands')
    await passTime(database, clock, holdMs)
    const again = await store.takeDueMail(holdMs)
    assert.equal(again?.attempts, 2)
    await store.removeMail(dead)
    await store.postponeMail(dead, 0)
    assert.equal(await store.takeDueMail(holdMs), null, 'the late one has changed nothing')
    await store.postponeMail({ id: 'a', attempts: 2 }, minuteMs)
    assert.equal(await store.takeDueMail(holdMs), null)
    await passTime(database, clock, minuteMs)
    assert.equal((await store.takeDueMail(holdMs))?.attempts, 3)
  })

  of('accounts with mail that is due are told, and each can be served by itself', async (store) => {
    const [{ id: many }, { id: one }] = [await newAccount(store, 'acme'), await newAccount(store, 'globex')]
    for (const id of ['a', 'b', 'c']) await store.addMail(mailTo(many, id))
    await store.addMail(mailTo(one, 'd'))
    assert.deepEqual((await store.accountsWithDueMail(10)).sort(), [many, one].sort())
    assert.equal((await store.accountsWithDueMail(1)).length, 1)
    assert.equal((await store.takeDueMail(holdMs, one))?.id, 'd')
    assert.equal(await store.takeDueMail(holdMs, one), null, 'it is in somebody’s hands')
    assert.deepEqual(await store.accountsWithDueMail(10), [many])
    assert.equal((await store.takeDueMail(holdMs, many))?.accountId, many)
  })

  of('a mail whose time is over still comes, and says so', async (store, clock, database) => {
    const { id: accountId } = await newAccount(store, 'acme')
    await store.addMail(mailTo(accountId, 'a', minuteMs))
    await passTime(database, clock, minuteMs)
    assert.equal((await store.takeDueMail(holdMs))?.isOver, true)
  })
}
