import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Refusal } from '../../errors.ts'
import type { Observation } from '../../reporting/observe.ts'
import { createAccountWrites } from './account-writes.ts'

const mebibyte = 1024 * 1024

function start(editing_waiting: number) {
  const seen: Observation[] = []
  const writes = createAccountWrites({ editing_waiting }, (observation) => void seen.push(observation))
  /** null = refused. */
  const enter = (accountId: string, bytes = 10, isForVisitors = false) => {
    const entered = writes.enter({ accountId, bytes, isForVisitors })
    if (!(entered instanceof Refusal)) return entered
    assert.equal(entered.code, 'too_many_at_once')
    return null
  }
  return { enter, seen }
}

test('an account has so many writes under way, whatever they are for, and others have theirs', () => {
  const { enter, seen } = start(2)
  const end = enter('acme')
  assert.ok(end && enter('acme'))
  assert.equal(enter('acme'), null)
  assert.deepEqual(seen, [{ event: 'share_used_up', share: 'editing_waiting', accountId: 'acme' }])
  assert.ok(enter('other'))
  end()
  assert.ok(enter('acme'))
  assert.equal(enter('acme'), null)
})

test('long ones count by their bytes', () => {
  const { enter } = start(1_000)
  const ends = Array.from({ length: 64 }, () => enter('acme', 2 * mebibyte))
  assert.ok(ends.every((end) => end !== null))
  assert.equal(enter('acme', 1), null)
  assert.ok(enter('acme', 0))
  ends[0]?.()
  assert.ok(enter('acme', 2 * mebibyte))
})

test('visitors have half as much, beside their account’s', () => {
  const { enter } = start(4)
  assert.ok(enter('acme', 10, true) && enter('acme', 10, true))
  assert.equal(enter('acme', 10, true), null)
  for (let nth = 0; nth < 4; nth++) assert.ok(enter('acme'))
  assert.equal(enter('acme'), null)
  const long = start(1_000)
  assert.ok(long.enter('acme', 64 * mebibyte, true))
  assert.equal(long.enter('acme', 1, true), null)
})
