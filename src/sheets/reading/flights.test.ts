import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { TooManyAtOnce } from '../../errors.ts'
import { collectGarbage } from './collect-garbage.ts'
import { createFlights, type FlightWish } from './flights.ts'
import type { HeldSnapshot } from './held-snapshots.ts'

const wish: FlightWish = {
  writeSeq: 1,
  isUrgent: true,
  mustBeginNow: true,
  isAhead: false,
  isForVisitors: false,
}

test('somebody with a key who joins visitors makes the fetch its own, and begins anew where they are refused', async () => {
  const flights = createFlights()
  const plain = { ...wish, isUrgent: false, mustBeginNow: false }
  const forVisitors: boolean[] = []
  const refusal = Promise.withResolvers<HeldSnapshot>()
  const read = {} as HeldSnapshot
  let wishNow: FlightWish | null = null
  let isToldJoined = false
  const visitors = flights.join('s', { ...plain, isForVisitors: true }, (flight) => {
    wishNow = flight
    forVisitors.push(flight.isForVisitors)
    void flight.joinedByKeys.then(() => {
      isToldJoined = true
    })
    return refusal.promise
  })
  const own = flights.join('s', plain, async (flight) => {
    forVisitors.push(flight.isForVisitors)
    return read
  })
  assert.equal((wishNow as FlightWish | null)?.isForVisitors, false)
  await sleep(1)
  assert.equal(isToldJoined, true)
  refusal.reject(new TooManyAtOnce(1, 'decoding_waiting'))
  await assert.rejects(visitors, TooManyAtOnce)
  assert.equal(await own, read)
  assert.deepEqual(forVisitors, [true, false])
})

test('while a fetch waits for its turn, what the one before it brought can go', async () => {
  const flights = createFlights()
  const begun: string[] = []
  let seen: WeakRef<HeldSnapshot> | null = null
  const land = Promise.withResolvers<HeldSnapshot>()
  const landed = flights
    .join('s', wish, async () => {
      begun.push('first')
      const read = {} as HeldSnapshot
      seen = new WeakRef(read)
      return read
    })
    .then(() => {})
  const second = flights.join('s', wish, () => {
    begun.push('second')
    return land.promise
  })
  assert.deepEqual(begun, ['first'], 'one at a time, and the first at once')
  await landed
  await sleep(1)
  assert.deepEqual(begun, ['first', 'second'])
  const endMs = performance.now() + 10_000
  const isThere = () => seen === null || seen.deref() !== undefined
  while (isThere() && performance.now() < endMs) {
    collectGarbage()
    await sleep(5)
  }
  assert.ok(!isThere(), 'it is still held')
  const last = {} as HeldSnapshot
  land.resolve(last)
  assert.equal(await second, last)
})
