import assert from 'node:assert/strict'
import { test } from 'node:test'
import { TooManyAtOnce } from '../errors.ts'
import type { Observation } from '../reporting/observe.ts'
import { visitorsOf } from '../shares/taker.ts'
import { createFollowerPlaces } from './follower-places.ts'

const shares = { following_at_once: 4, following_total: 10 }
const accounts = ['a', 'b', 'c', 'd', 'e', 'f']

test('visitors of several accounts take nothing of what all keys have together, nor keys of theirs', () => {
  const { enter, seen } = start()
  const strangers = accounts.flatMap((account) => [enter(visitorsOf(account)), enter(visitorsOf(account))])
  assert.equal(strangers.filter((leave) => leave !== null).length, 5, 'half as many as keys have')
  const ofKeys = accounts.flatMap((account) => [enter(account), enter(account)])
  assert.equal(ofKeys.filter((leave) => leave !== null).length, 10)
  assert.deepEqual([...new Set(seen)], ['following_total'])

  strangers[0]?.()
  assert.equal(enter('a'), null, 'a place of visitors is none of keys')
  assert.notEqual(enter(visitorsOf('f')), null)
  ofKeys[0]?.()
  assert.equal(enter(visitorsOf('e')), null)
  assert.notEqual(enter('f'), null)
})

test('one account has so many, and its visitors half as many beside them', () => {
  const { enter, seen } = start()
  const count = (taker: string) =>
    Array.from({ length: 6 }, () => enter(taker)).filter((leave) => leave).length
  assert.deepEqual([count(visitorsOf('a')), count('a')], [2, 4])
  assert.deepEqual([...new Set(seen)], ['following_at_once'])
})

function start() {
  const seen: string[] = []
  const observe = (observation: Observation) => {
    if (observation.event === 'share_used_up') seen.push(observation.share)
  }
  const places = createFollowerPlaces(shares, observe)
  return {
    seen,
    /** null when there is no place. */
    enter(taker: string) {
      try {
        return places.enter(taker)
      } catch (error) {
        assert.ok(error instanceof TooManyAtOnce)
        return null
      }
    },
  }
}
