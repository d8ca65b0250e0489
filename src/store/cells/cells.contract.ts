import assert from 'node:assert/strict'
import { passTime } from '../leases/leases.contract.ts'
import type { StoreTest } from '../store-test.fixture.ts'

const keepMs = 60_000

/** What is special to the store's cells; what is made of them has a contract of its own. */
export function cellsContract(of: StoreTest): void {
  of('of all who replace one version of a cell, one does; the others are told what it put', async (store) => {
    await store.swapCell('a', null, { version: '1', text: 'one' }, keepMs)
    const swaps = await Promise.all(
      Array.from({ length: 8 }, (_, n) =>
        store.swapCell('a', '1', { version: `by ${n}`, text: String(n) }, keepMs),
      ),
    )
    assert.equal(swaps.filter(({ isTaken }) => isTaken).length, 1)
    const { version, text } = await store.lookAtCell('a')
    for (const swap of swaps) {
      if (!swap.isTaken) assert.deepEqual({ version: swap.version, text: swap.text }, { version, text })
    }
  })

  of('a cell that is there is not made, and one that is not is not replaced', async (store) => {
    const replaced = await store.swapCell('a', 'any', { version: '1', text: 'one' }, keepMs)
    assert.deepEqual([replaced.isTaken, (await store.lookAtCell('a')).version], [false, null])
    assert.equal((await store.swapCell('a', null, { version: '1', text: 'one' }, keepMs)).isTaken, true)
    assert.equal((await store.swapCell('a', null, { version: '2', text: 'two' }, keepMs)).isTaken, false)
    assert.equal((await store.lookAtCell('a')).text, 'one')
    assert.equal((await store.lookAtCell('b')).version, null)
  })

  of(
    'a cell that nobody changed for so long is gone, and its place is free',
    async (store, clock, database) => {
      await store.swapCell('old', null, { version: '1', text: 'one' }, keepMs)
      await store.swapCell('other', null, { version: '1', text: 'one' }, keepMs)
      await passTime(database, clock, keepMs)
      assert.equal((await store.lookAtCell('old')).version, null)
      assert.equal((await store.swapCell('old', '1', { version: '2', text: 'two' }, keepMs)).isTaken, false)
      assert.equal((await store.swapCell('old', null, { version: '2', text: 'two' }, keepMs)).isTaken, true)
      await store.forgetOldCells()
      const left = await database.kysely.selectFrom('shared_cell').select('name').execute()
      assert.deepEqual(
        left.map(({ name }) => name),
        ['old'],
      )
    },
  )
}
