import assert from 'node:assert/strict'
import type { StoreTest } from '../store-test.fixture.ts'

export function proofsContract(of: StoreTest): void {
  of(
    'of each assumption what was found last is kept, and what was not tried again stays',
    async (store, clock) => {
      const first = clock.nowMs()
      await store.saveProof('google', [
        { assumption: 'a', holds: true, saw: 'refused' },
        { assumption: 'b', holds: false, saw: 'taken' },
      ])
      clock.advanceMs(60_000)
      await store.saveProof('google', [{ assumption: 'a', holds: false, saw: 'taken' }])
      await store.saveProof('google', [])
      await store.saveProof('another', [{ assumption: 'a', holds: true, saw: 'refused' }])
      assert.deepEqual(await store.proofOf('google'), [
        { assumption: 'a', holds: false, saw: 'taken', triedAtMs: first + 60_000 },
        { assumption: 'b', holds: false, saw: 'taken', triedAtMs: first },
      ])
      assert.equal((await store.proofOf('another')).length, 1)
      assert.deepEqual(await store.proofOf('nobody'), [])
    },
  )
}
