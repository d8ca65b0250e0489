import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setImmediate as takeTurn } from 'node:timers/promises'
import { createMovableClock } from '../../../clock.ts'
import { GoneMeanwhile, Refusal, StoreFailure, TooManyAtOnce } from '../../../errors.ts'
import { createTurnstile } from '../../../shares/turnstile.ts'
import type { OperationToClaim } from '../../../store/operations/operations.ts'
import { claimPatienceMs, createClaimsTogether, type WaysToClaim } from './claims-together.ts'

type Answers = Awaited<ReturnType<WaysToClaim['claimFree']>>

/** One place for each account; what the store is asked waits until it is answered. */
function open() {
  const claiming = createTurnstile({
    share: 'editing_waiting',
    ...{ places: 2, placesOfAccount: 1, waitingOfAccount: 1_000 },
    ...{ clock: createMovableClock(0), observe: () => {} },
  })
  const together = createClaimsTogether(claiming)
  const asked: {
    ids: string[]
    answer(claimed: readonly string[]): Promise<void>
    fail(error: Error): Promise<void>
  }[] = []
  const held: string[] = []
  const claim = (accountId: string, id: string, fingerprint = 'f') => {
    const operation: OperationToClaim = {
      ...{ id, accountId, sheetId: 's', source: 'file:s' },
      ...{ idempotencyKey: `key of ${id}`, fingerprint },
    }
    const claimed = together.claim(accountId, operation, {
      claimFree(operations) {
        const { promise, resolve, reject } = Promise.withResolvers<Answers>()
        asked.push({
          ids: operations.map((each) => each.id),
          async answer(ids) {
            resolve(new Map(ids.map((each) => [each, { claimed: each }])))
            await settled()
          },
          async fail(error) {
            reject(error)
            await settled()
          },
        })
        return promise
      },
      async claimHeld() {
        held.push(id)
        return new Refusal('idempotency_in_progress')
      },
    })
    return claimed.then(
      (answer) => (answer instanceof Refusal ? answer.code : answer),
      (error: Error) => error,
    )
  }
  return { claim, asked, held }
}

async function settled(): Promise<void> {
  for (let turn = 0; turn < 5; turn++) await takeTurn()
}

test('claims of an account that wait are asked for together, those of another account in its own turn', async () => {
  const { claim, asked } = open()
  const claims = ['a', 'b', 'c'].map((id) => claim('acme', id))
  const other = claim('other', 'x')
  await settled()
  assert.deepEqual(
    asked.map(({ ids }) => ids),
    [['a', 'b', 'c'], ['x']],
  )
  await asked[0]?.answer(['a', 'b', 'c'])
  assert.deepEqual(await Promise.all(claims), [{ claimed: 'a' }, { claimed: 'b' }, { claimed: 'c' }])
  await asked[1]?.answer(['x'])
  assert.deepEqual(await other, { claimed: 'x' })
  await settled()
  assert.equal(asked.length, 2, 'nobody asks for what is claimed')
})

test('so many together and no more', async () => {
  const { claim, asked } = open()
  const ids = Array.from({ length: 150 }, (_, nth) => `${nth}`)
  const claims = ids.map((id) => claim('acme', id))
  for (let nth = 0; nth < 3; nth++) {
    await settled()
    await asked[nth]?.answer(asked[nth]?.ids ?? [])
  }
  await Promise.all(claims)
  assert.deepEqual(
    asked.map((each) => each.ids.length),
    [64, 64, 22],
  )
})

test('long ones are asked for alone', async () => {
  const { claim, asked } = open()
  const claims = [claim('acme', 'a'), claim('acme', 'long', 'x'.repeat(5_000)), claim('acme', 'b')]
  for (let nth = 0; nth < 2; nth++) {
    await settled()
    await asked[nth]?.answer(asked[nth]?.ids ?? [])
  }
  await Promise.all(claims)
  assert.deepEqual(
    asked.map(({ ids }) => ids),
    [['a', 'b'], ['long']],
  )
})

test('one whose key somebody has asks for itself when its own turn comes', async () => {
  const { claim, asked, held } = open()
  const [first, second, third] = ['a', 'b', 'c'].map((id) => claim('acme', id))
  await settled()
  await asked[0]?.answer(['a', 'c'])
  assert.deepEqual(await Promise.all([first, third]), [{ claimed: 'a' }, { claimed: 'c' }])
  assert.equal(await second, 'idempotency_in_progress')
  assert.deepEqual([held, asked.length], [['b'], 1])
})

test('where the sheet of one is gone, each asks for itself; other failures are everybody’s', async () => {
  const { claim, asked, held } = open()
  const claims = ['a', 'b'].map((id) => claim('acme', id))
  await settled()
  await asked[0]?.fail(new GoneMeanwhile())
  await Promise.all(claims)
  assert.deepEqual(held.sort(), ['a', 'b'])
  const failing = ['c', 'd'].map((id) => claim('acme', id))
  await settled()
  await asked[1]?.fail(new StoreFailure('away'))
  for (const failure of await Promise.all(failing)) assert.ok(failure instanceof StoreFailure)
  assert.equal(held.length, 2)
})

test('one that is being claimed is not refused because its turn is late', async (t) => {
  t.mock.timers.enable({ apis: ['setTimeout'] })
  const { claim, asked } = open()
  const ids = Array.from({ length: 66 }, (_, nth) => `${nth}`)
  const claims = ids.map((id) => claim('acme', id))
  await settled()
  t.mock.timers.tick(claimPatienceMs)
  await settled()
  await asked[0]?.answer(asked[0].ids)
  const answers = await Promise.all(claims)
  assert.ok(answers.slice(0, 64).every((answer) => 'claimed' in (answer as object)))
  assert.ok(answers.slice(64).every((answer) => answer instanceof TooManyAtOnce))
  assert.equal(asked.length, 1)
})
