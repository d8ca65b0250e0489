import assert from 'node:assert/strict'
import { passTime } from '../leases/leases.contract.ts'
import type { StoreTest } from '../store-test.fixture.ts'

const keepMs = 60_000

/** What is special to the store's registers; what is made of them has a contract of its own. */
export function registersContract(of: StoreTest): void {
  of(
    'of all who replace one version of a register, one does; the others are told what it put',
    async (store) => {
      await store.swapRegister('a', null, { version: '1', text: 'one' }, keepMs)
      const swaps = await Promise.all(
        Array.from({ length: 8 }, (_, n) =>
          store.swapRegister('a', '1', { version: `by ${n}`, text: String(n) }, keepMs),
        ),
      )
      assert.equal(swaps.filter(({ isTaken }) => isTaken).length, 1)
      const { version, text } = await store.readRegister('a')
      for (const swap of swaps) {
        if (!swap.isTaken) assert.deepEqual({ version: swap.version, text: swap.text }, { version, text })
      }
    },
  )

  of('a register that is there is not made, and one that is not is not replaced', async (store) => {
    const replaced = await store.swapRegister('a', 'any', { version: '1', text: 'one' }, keepMs)
    assert.deepEqual([replaced.isTaken, (await store.readRegister('a')).version], [false, null])
    assert.equal((await store.swapRegister('a', null, { version: '1', text: 'one' }, keepMs)).isTaken, true)
    assert.equal((await store.swapRegister('a', null, { version: '2', text: 'two' }, keepMs)).isTaken, false)
    assert.equal((await store.readRegister('a')).text, 'one')
    assert.equal((await store.readRegister('b')).version, null)
  })

  of(
    'a register that nobody changed for so long is gone, and its place is free',
    async (store, clock, database) => {
      await store.swapRegister('old', null, { version: '1', text: 'one' }, keepMs)
      await store.swapRegister('other', null, { version: '1', text: 'one' }, keepMs)
      await passTime(database, clock, keepMs)
      assert.equal((await store.readRegister('old')).version, null)
      assert.equal(
        (await store.swapRegister('old', '1', { version: '2', text: 'two' }, keepMs)).isTaken,
        false,
      )
      assert.equal(
        (await store.swapRegister('old', null, { version: '2', text: 'two' }, keepMs)).isTaken,
        true,
      )
      await store.forgetOldRegisters()
      const left = await database.kysely.selectFrom('shared_cell').select('name').execute()
      assert.deepEqual(
        left.map(({ name }) => name),
        ['old'],
      )
    },
  )
}
