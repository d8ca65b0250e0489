import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createMovableClock } from '../clock.ts'
import { TooManyAtOnce } from '../errors.ts'
import type { Observation } from '../reporting/observe.ts'
import type { ShareName } from './shares.ts'
import { visitorsOf } from './taker.ts'
import { createPlaces, createTurnstile, type TurnstileParts } from './turnstile.ts'

test('places go round the accounts, however many callers one of them has', async () => {
  const { turnstile, begun, end } = opened({ places: 2, placesOfAccount: 1, waitingOfAccount: 100 })
  for (let job = 1; job <= 50; job++) turnstile.start('greedy', `greedy ${job}`)
  turnstile.start('small', 'small 1')
  turnstile.start('small', 'small 2')
  turnstile.start('other', 'other 1')
  await settled()
  assert.deepEqual(begun, ['greedy 1', 'small 1'])
  await end('small 1')
  assert.equal(begun[2], 'other 1')
  await end('greedy 1')
  assert.equal(begun[3], 'small 2')
  await end('other 1')
  assert.equal(begun[4], 'greedy 2')
})

test('an account never holds more than its places, also when the others are free', async () => {
  const { turnstile, begun, end } = opened({ places: 4, placesOfAccount: 2, waitingOfAccount: 10 })
  for (const job of ['a', 'b', 'c', 'd']) turnstile.start('acme', job)
  await settled()
  assert.deepEqual(begun, ['a', 'b'])
  await end('b')
  assert.deepEqual(begun, ['a', 'b', 'c'])
})

test('who comes when as many wait as may is refused, and told when to come again', async () => {
  const { turnstile, clock, seen, end } = opened({ places: 1, placesOfAccount: 1, waitingOfAccount: 2 })
  turnstile.start('acme', 'long')
  await settled()
  clock.advanceMs(60_000)
  await end('long')
  for (const job of ['a', 'b', 'c']) turnstile.start('acme', job)
  await settled()
  const refused = await turnstile.pass('acme', async () => 'never').catch((error: unknown) => error)
  assert.ok(refused instanceof TooManyAtOnce)
  assert.equal(refused.retryAfterSeconds, 30)
  assert.deepEqual(
    seen.filter(({ event }) => event === 'share_used_up'),
    [{ event: 'share_used_up', share: 'decoding_waiting', accountId: 'acme' }],
  )
  await end('a')
  assert.equal(await Promise.race([turnstile.pass('acme', async () => 'in'), settled('waits')]), 'waits')
})

test('what takes several places waits for them, and nobody goes past it', async () => {
  const { turnstile, begun, end } = opened({ places: 4, placesOfAccount: 2, waitingOfAccount: 10 })
  turnstile.start('acme', 'large 1', 3)
  turnstile.start('other', 'large 2', 3)
  turnstile.start('small', 'small 1', 1)
  await settled()
  assert.deepEqual(begun, ['large 1'])
  await end('large 1')
  assert.deepEqual(begun, ['large 1', 'large 2', 'small 1'])
  turnstile.start('acme', 'larger than all', 9)
  await end('large 2')
  assert.equal(begun.length, 3)
  await end('small 1')
  assert.equal(begun[3], 'larger than all', 'when it is alone')
})

test('whose rank is lower goes first, of its account and of all', async () => {
  const { turnstile } = opened({ places: 1, placesOfAccount: 1, waitingOfAccount: 5 })
  const first = await turnstile.takePlace('other', 0)
  const begun: string[] = []
  const wait = async (accountId: string, name: string, rank: number) => {
    const turn = turnstile.turnOf(accountId)
    await turn.begin(undefined, undefined, rank)
    begun.push(name)
    turn.end()
  }
  const all = [
    wait('a', 'a large', 1),
    wait('a', 'a small', 0),
    wait('b', 'b large', 1),
    wait('c', 'c small', 0),
  ]
  first?.leavePlace()
  await Promise.all(all)
  assert.deepEqual(begun, ['a small', 'c small', 'b large', 'a large'])
})

test('who leaves while waiting is not served, and keeps nobody from it', async () => {
  const { turnstile } = opened({ places: 1, placesOfAccount: 1, waitingOfAccount: 1 })
  const first = await turnstile.takePlace('other', 0)
  const leaving = new AbortController()
  const left = turnstile.turnOf('acme').begin(undefined, leaving.signal)
  assert.equal(turnstile.isWantedByOthers('other'), true)
  leaving.abort(new Error('gone'))
  await assert.rejects(left, /gone/)
  assert.equal(turnstile.isWantedByOthers('other'), false)
  const next = turnstile.pass('acme', async () => 'in')
  first?.leavePlace()
  assert.equal(await next, 'in')
})

test('who has perhaps left waits as others do, and is told to come again where their place is wanted', async () => {
  const { turnstile, begun, end } = opened({ places: 1, placesOfAccount: 1, waitingOfAccount: 2 })
  turnstile.start('acme', 'long')
  const left = new AbortController().signal
  const wait = (job: string, mayHaveLeft: boolean) =>
    turnstile
      .pass('acme', async () => begun.push(job), 1, { left, hasPerhapsLeft: () => mayHaveLeft })
      .catch((error: unknown) => assert.ok(error instanceof TooManyAtOnce))
  const all = [wait('gone 1', true), wait('gone 2', true), wait('here 1', false)]
  await settled()
  await end('long')
  await Promise.all(all)
  assert.deepEqual(begun, ['long', 'gone 2', 'here 1'])
  turnstile.start('acme', 'long again')
  const still = [wait('here 2', false), wait('here 3', false)]
  await settled()
  await assert.rejects(
    turnstile.pass('acme', async () => 'never'),
    TooManyAtOnce,
  )
  await end('long again')
  await Promise.all(still)
  assert.deepEqual(begun.slice(4), ['here 2', 'here 3'])
})

test('whoever comes in the place of the only one of its account is served in its turn', async () => {
  const { turnstile, begun, end } = opened({ places: 1, placesOfAccount: 1, waitingOfAccount: 1 })
  turnstile.start('other', 'o 1')
  const asker = { left: new AbortController().signal, hasPerhapsLeft: () => true }
  const first = turnstile.pass('acme', async () => 'never', 1, asker)
  turnstile.start('acme', 'a 1')
  await assert.rejects(first, TooManyAtOnce)
  await end('o 1')
  assert.deepEqual(begun, ['o 1', 'a 1'])
})

test('where several turnstiles lead to the same places, accounts take turns at all of them together', async () => {
  const places = createPlaces(1)
  const one = opened({ places, placesOfAccount: 1, waitingOfAccount: 10 })
  const other = opened({ places, placesOfAccount: 1, waitingOfAccount: 10, share: 'editing_at_once' })
  for (const job of ['a 1', 'a 2']) one.turnstile.start('a', job)
  other.turnstile.start('b', 'b 1')
  await settled()
  assert.deepEqual([one.begun, other.begun], [['a 1'], []])
  assert.equal(one.turnstile.isWantedByOthers('a'), true)
  await one.end('a 1')
  assert.deepEqual([one.begun, other.begun], [['a 1'], ['b 1']])
  await other.end('b 1')
  assert.deepEqual(one.begun, ['a 1', 'a 2'])
})

test('work that fails gives its place back', async () => {
  const { turnstile } = opened({ places: 1, placesOfAccount: 1, waitingOfAccount: 1 })
  const failing = async () => {
    throw new Error('broken')
  }
  await assert.rejects(turnstile.pass('acme', failing), /broken/)
  assert.equal(await turnstile.pass('acme', async () => 'in'), 'in')
})

test('a turn is begun once, and can be ended and begun again', async () => {
  const { turnstile } = opened({ places: 1, placesOfAccount: 1, waitingOfAccount: 0 })
  const turn = turnstile.turnOf('acme')
  turn.end()
  await turn.begin()
  await turn.begin()
  await assert.rejects(turnstile.turnOf('acme').begin(), TooManyAtOnce)
  turn.end()
  turn.end()
  const other = turnstile.turnOf('other')
  await other.begin()
  await assert.rejects(turn.begin(), TooManyAtOnce)
  other.end()
  await turn.begin()
})

test('who is refused after waiting leaves no trace: the next of the account has its turn', async () => {
  const { turnstile } = opened({ places: 1, placesOfAccount: 1, waitingOfAccount: 5 })
  const first = await turnstile.takePlace('other', 0)
  await assert.rejects(turnstile.turnOf('acme').begin(5), TooManyAtOnce)
  const next = turnstile.pass('acme', async () => 'in')
  first?.leavePlace()
  assert.equal(await next, 'in')
})

test('who has no patience goes without, and is not served afterwards', async () => {
  const { turnstile } = opened({ places: 1, placesOfAccount: 1, waitingOfAccount: 5 })
  const first = await turnstile.takePlace('acme', 0)
  assert.ok(first)
  assert.equal(await turnstile.takePlace('other', 0), null)
  assert.equal(await turnstile.takePlace('other', 5), null)
  first.leavePlace()
  first.leavePlace()
  const second = await turnstile.takePlace('third', 0)
  assert.ok(second)
  assert.equal(await turnstile.takePlace('acme', 0), null)
})

test('visitors of an account have half of its places, and take turns with whoever else of it waits', async () => {
  const { turnstile, begun, end } = opened({ places: 4, placesOfAccount: 2, waitingOfAccount: 10 })
  const visitors = visitorsOf('acme')
  for (const job of ['v 1', 'v 2', 'v 3']) turnstile.start(visitors, job)
  for (const job of ['a', 'b', 'c']) turnstile.start('acme', job)
  await settled()
  assert.deepEqual(begun, ['v 1', 'a'], 'together no more than the account has')
  await end('v 1')
  assert.deepEqual(begun.slice(2), ['v 2'], 'the place before went to the account')
  await end('v 2')
  assert.deepEqual(begun.slice(3), ['b'])
  await end('a')
  assert.deepEqual(begun.slice(4), ['v 3'])
  await end('v 3')
  assert.deepEqual(begun.slice(5), ['c'])
})

test('visitors wait in a queue of their own, and nobody else is refused for what they hold or wait for', async () => {
  const { turnstile } = opened({ places: 4, placesOfAccount: 2, waitingOfAccount: 1 })
  const visitors = visitorsOf('acme')
  for (const job of ['v 1', 'v 2']) turnstile.start(visitors, job)
  await assert.rejects(
    turnstile.pass(visitors, async () => 'never'),
    TooManyAtOnce,
  )
  // Two that it could have at work, and one that may wait.
  for (const job of ['a', 'b', 'c']) turnstile.start('acme', job)
  await assert.rejects(
    turnstile.pass('acme', async () => 'never'),
    TooManyAtOnce,
  )
})

test('an account has no more turns among the others for having visitors', async () => {
  const { turnstile, begun, end } = opened({ places: 1, placesOfAccount: 1, waitingOfAccount: 10 })
  for (const job of ['a 1', 'a 2', 'a 3']) turnstile.start('acme', job)
  for (const job of ['v 1', 'v 2']) turnstile.start(visitorsOf('acme'), job)
  for (const job of ['o 1', 'o 2', 'o 3']) turnstile.start('other', job)
  await settled()
  for (let n = 0; n < 7; n++) await end(begun.at(-1) ?? '')
  assert.deepEqual(begun, ['a 1', 'o 1', 'v 1', 'o 2', 'a 2', 'o 3', 'v 2', 'a 3'])
})

test('a place that visitors hold is wanted where somebody else of their account waits for it', async () => {
  const { turnstile } = opened({ places: 2, placesOfAccount: 1, waitingOfAccount: 5 })
  const visitors = visitorsOf('acme')
  turnstile.start(visitors, 'v 1')
  turnstile.start(visitors, 'v 2')
  assert.equal(turnstile.isWantedByOthers(visitors), false)
  turnstile.start('acme', 'a')
  assert.equal(turnstile.isWantedByOthers(visitors), true)
  assert.equal(turnstile.isWantedByOthers('acme'), false)
})

test('who joins visitors that wait makes their turn the account’s own', async () => {
  const { turnstile, begun, end } = opened({ places: 4, placesOfAccount: 1, waitingOfAccount: 5 })
  const visitors = visitorsOf('acme')
  for (const job of ['v 1', 'v 2', 'v 3']) turnstile.start(visitors, job)
  let taker = visitors
  const joined = turnstile.turnOf({ now: () => taker, changed: new Promise(() => {}) })
  const isBegun = joined.begin().then(() => begun.push('joined'))
  taker = 'acme'
  await settled()
  await end('v 1')
  await isBegun
  assert.deepEqual(begun, ['v 1', 'joined'], 'before those who waited longer')
})

test('who joins visitors has a place at once that they may not have, and keeps nobody else from the others', async () => {
  const { turnstile, begun } = opened({ places: 4, placesOfAccount: 2, waitingOfAccount: 5 })
  const visitors = visitorsOf('acme')
  turnstile.start(visitors, 'v 1')
  const { promise: changed, resolve: tellChanged } = Promise.withResolvers<void>()
  let taker = visitors
  const joined = turnstile.turnOf({ now: () => taker, changed })
  void joined.begin().then(() => begun.push('joined'))
  await settled()
  assert.deepEqual(begun, ['v 1'])
  taker = 'acme'
  tellChanged()
  await settled()
  turnstile.start('other', 'o 1')
  await settled()
  assert.deepEqual(begun, ['v 1', 'joined', 'o 1'])
})

test('where visitors have their places beside the account’s, they hold none of those', async () => {
  const limits = { places: Number.POSITIVE_INFINITY, placesOfAccount: 2, waitingOfAccount: 5 }
  const { turnstile, begun } = opened({ ...limits, areVisitorsBeside: true })
  for (const job of ['v 1', 'v 2']) turnstile.start(visitorsOf('acme'), job)
  for (const job of ['a', 'b', 'c']) turnstile.start('acme', job)
  await settled()
  assert.deepEqual(begun, ['v 1', 'a', 'b'])
})

function opened(limits: Omit<TurnstileParts, 'share' | 'clock' | 'observe'> & { share?: ShareName }) {
  const clock = createMovableClock(0)
  const seen: Observation[] = []
  const observe = (observation: Observation) => void seen.push(observation)
  const turnstile = createTurnstile({ share: 'decoding_waiting', ...limits, clock, observe })
  const begun: string[] = []
  const ends = new Map<string, () => void>()
  return {
    turnstile: {
      ...turnstile,
      start(accountId: string, job: string, size = 1) {
        const work = () => {
          begun.push(job)
          return new Promise<void>((resolve) => ends.set(job, resolve))
        }
        void turnstile.pass(accountId, work, size)
      },
    },
    begun,
    clock,
    seen,
    async end(job: string) {
      ends.get(job)?.()
      await settled()
    },
  }
}

function settled<T>(value?: T): Promise<T | undefined> {
  return new Promise((resolve) => setImmediate(resolve, value))
}
