import assert from 'node:assert/strict'
import { passTime } from '../leases/leases.contract.ts'
import type { StoreTest } from '../store-test.fixture.ts'

const windowMs = 60_000
const hourMs = 60 * windowMs

/** What is special to the store's windows; their behaviour is in the contract of all rate windows. */
export function windowsContract(of: StoreTest): void {
  of('exactly the limit is admitted in a window, however many ask at once', async (store) => {
    for (const limit of [1, 40]) {
      const asked = Array.from({ length: limit * 4 }, () =>
        store.takeWindow(`limit ${limit}`, limit, windowMs),
      )
      const answers = await Promise.all(asked)
      assert.equal(answers.filter(({ isAdmitted }) => isAdmitted).length, limit)
      assert.equal(new Set(answers.map(({ resetAtMs }) => resetAtMs)).size, 1)
    }
  })

  of('windows that ended a minute ago are forgotten, later ones are not', async (store, clock, database) => {
    await store.takeWindow('old', 1, windowMs)
    await passTime(database, clock, windowMs)
    await store.takeWindow('open', 1, windowMs)
    const left = async () => {
      await store.forgetOldWindows()
      const rows = await database.kysely.selectFrom('rate_window').select('name').orderBy('name').execute()
      return rows.map(({ name }) => name)
    }
    assert.deepEqual(await left(), ['old', 'open'], 'its count may still be asked for')
    await passTime(database, clock, windowMs)
    await store.takeWindow('open', 1, windowMs)
    assert.deepEqual(await left(), ['open'])
    assert.equal((await store.takeWindow('open', 1, windowMs)).isAdmitted, false)
  })

  of(
    "after the server's time was set back nobody waits longer than a window",
    async (store, _clock, database) => {
      await store.takeWindow('a', 1, windowMs)
      await database.kysely
        .updateTable('rate_window')
        .set((of) => ({ ends_at_ms: of('ends_at_ms', '+', hourMs) }))
        .execute()
      for (const how of ['lookWindow', 'takeWindow'] as const) {
        const { isAdmitted, resetAtMs, nowMs } = await store[how]('a', 1, windowMs)
        assert.equal(isAdmitted, true)
        assert.ok(resetAtMs - nowMs <= windowMs, `told to wait for ${resetAtMs - nowMs} ms`)
      }
      assert.equal((await store.takeWindow('a', 1, windowMs)).isAdmitted, false)
    },
  )
}
