import assert from 'node:assert/strict'
import { asideMs, passTime } from '../leases/leases.contract.ts'
import { accountWithSheet, newSheet } from '../records.fixture.ts'
import { createSqlStore } from '../sql/sql-store.ts'
import type { Store } from '../store.ts'
import type { StoreTest } from '../store-test.fixture.ts'

const followedEveryMs = 15_000

export function looksContract(of: StoreTest): void {
  of(
    'a sheet that is followed is due at once, then again and again, for one of all instances',
    async (store, clock, database) => {
      const { account, sheet } = await accountWithSheet(store)
      const stores = Array.from({ length: 4 }, () => createSqlStore(database, clock))
      assert.deepEqual(await take(store), [])
      assert.equal(await store.isFollowed(sheet.id), false)
      await store.noteFollowed([sheet.id, 'sh_gone'], 60_000)
      assert.equal(await store.isFollowed(sheet.id), true)
      const looks = (await Promise.all(stores.map(take))).flat()
      assert.deepEqual(looks, [{ sheetId: sheet.id, accountId: account.id }])
      await passTime(database, clock, followedEveryMs - asideMs)
      assert.deepEqual(await take(store), [])
      await passTime(database, clock, asideMs)
      assert.equal((await take(store)).length, 1)
    },
  )

  of('nobody looks at a sheet that nobody follows any more', async (store, clock, database) => {
    const { sheet } = await accountWithSheet(store)
    await store.noteFollowed([sheet.id], 20_000)
    assert.equal((await take(store)).length, 1)
    await passTime(database, clock, 20_000)
    assert.equal(await store.isFollowed(sheet.id), false)
    assert.deepEqual(await take(store), [])
    await store.noteFollowed([sheet.id], 20_000)
    assert.equal((await take(store)).length, 1)
  })

  of(
    'a sheet that is watched is due every so many seconds, followed or not',
    async (store, clock, database) => {
      const { sheet } = await accountWithSheet(store)
      await store.changeSheet(sheet.id, { watchSeconds: 60 })
      assert.equal((await store.sheetById(sheet.id))?.watchSeconds, 60)
      assert.equal((await take(store)).length, 1)
      await passTime(database, clock, 60_000 - asideMs)
      assert.deepEqual(await take(store), [])
      await passTime(database, clock, asideMs)
      assert.equal((await take(store)).length, 1)
      await passTime(database, clock, followedEveryMs)
      await store.noteFollowed([sheet.id], 60_000)
      assert.equal((await take(store)).length, 1, 'those who follow want it sooner')
      await store.changeSheet(sheet.id, { watchSeconds: 0 })
      await passTime(database, clock, 120_000)
      assert.deepEqual(await take(store), [])
    },
  )

  of('the longest overdue is taken first, and no more than one can do', async (store, clock, database) => {
    const { account, sheet } = await accountWithSheet(store)
    const second = await store.createSheet(newSheet(account.id, 'second'))
    assert.ok(typeof second === 'object')
    await store.noteFollowed([sheet.id], 600_000)
    await take(store)
    await passTime(database, clock, 20_000)
    await store.noteFollowed([second.id], 600_000)
    await take(store)
    await passTime(database, clock, 20_000)
    const order = [await store.takeDueLooks(1, followedEveryMs), await store.takeDueLooks(1, followedEveryMs)]
    assert.equal(order.flat().length, 2)
    assert.deepEqual(await take(store), [])
  })

  of('what is paused or keeps no log is not looked at, and what is gone leaves nothing', async (store) => {
    const { sheet } = await accountWithSheet(store)
    await store.noteFollowed([sheet.id], 60_000)
    await store.setPaused(sheet.id, true)
    assert.deepEqual(await take(store), [])
    await store.setPaused(sheet.id, false)
    await store.changeSheet(sheet.id, { historyDays: 0 })
    assert.deepEqual(await take(store), [])
    await store.deleteSheet(sheet.id)
    assert.equal(await store.isFollowed(sheet.id), false)
  })
}

function take(store: Store) {
  return store.takeDueLooks(10, followedEveryMs)
}
