import assert from 'node:assert/strict'
import { test } from 'node:test'
import { systemClock } from '../../../clock.ts'
import { TooManyAtOnce } from '../../../errors.ts'
import { createTurnstile } from '../../../shares/turnstile.ts'
import { createAnswerRooms } from './answer-room.ts'

function start() {
  const usual = { waitingOfAccount: 10, clock: systemClock, observe: () => {} }
  const places = Number.POSITIVE_INFINITY
  return createAnswerRooms(
    createTurnstile({ ...usual, share: 'fetching_at_once', places, placesOfAccount: 4 }),
    createTurnstile({ ...usual, share: 'long_fetches_at_once', places: 2, placesOfAccount: 1 }),
  )
}

test('long answers of all accounts together are few, and both answers of a read are one', async () => {
  const rooms = start()
  const [one, another, other] = ['acc_1', 'acc_1', 'acc_2'].map((accountId) => rooms.roomOf(accountId))
  assert.ok(one && another && other)
  for (const room of [one, another, other]) await room.begin()
  await one.beginLong(1_000)
  assert.equal(one.beginLong(1_000), undefined, 'its second answer has the place already')
  let isLong = false
  const waiting = another.beginLong(1_000)?.then(() => (isLong = true))
  await other.beginLong(1_000)
  assert.equal(isLong, false, 'the account has its half')
  one.end()
  await waiting
  assert.equal(isLong, true)
})

test('whoever has waited for too long is told that there are too many', async () => {
  const rooms = start()
  await rooms.roomOf('acc_1').beginLong(1_000)
  await assert.rejects(async () => rooms.roomOf('acc_1').beginLong(20), TooManyAtOnce)
})
