import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { systemClock } from '../../clock.ts'
import { TooManyAtOnce } from '../../errors.ts'
import type { Observation } from '../../reporting/observe.ts'
import { createOwnerTurns, endingCaller } from './owner-turns.ts'

function startTurns() {
  const seen: Observation[] = []
  const turns = createOwnerTurns({
    shares: { owner_calls_at_once: 2, owner_calls_waiting: 3 },
    clock: systemClock,
    observe: (observation) => void seen.push(observation),
    loopTurns: { next: () => undefined },
  })
  const stays = new AbortController().signal
  const begun: string[] = []
  const ends: (() => void)[] = []
  /** A call that goes on until its `ends` is called. */
  const hold = (caller: string, left = stays) =>
    turns.act(caller, left, () => {
      begun.push(caller)
      return new Promise<void>((end) => ends.push(end))
    })
  return { turns, seen, stays, begun, ends, hold }
}

test('of one account so many calls are worked on, so many wait, and the next is refused; another account is not held up', async () => {
  const { seen, begun, ends, hold } = startTurns()
  const calls = Array.from({ length: 5 }, () => hold('acme'))
  await nextTurn()
  assert.deepEqual(begun, ['acme', 'acme'])
  await assert.rejects(hold('acme'), (error) => error instanceof TooManyAtOnce && error.retryAfterSeconds > 0)
  const usedUp = () => seen.filter(({ event }) => event === 'share_used_up')
  assert.deepEqual(usedUp(), [{ event: 'share_used_up', share: 'owner_calls_waiting', accountId: 'acme' }])
  const other = hold('other')
  await nextTurn()
  assert.deepEqual(begun, ['acme', 'acme', 'other'])
  while (ends.length > 0) {
    ends.shift()?.()
    await nextTurn()
  }
  await Promise.all([...calls, other])
  assert.equal(begun.length, 6, 'each was done once')
})

test('what is told of a session’s own queue names no session', async () => {
  const { seen, ends, hold } = startTurns()
  const calls = Array.from({ length: 5 }, () => hold(endingCaller('hash of a session')))
  await nextTurn()
  await assert.rejects(hold(endingCaller('hash of a session')), TooManyAtOnce)
  assert.deepEqual(seen, [{ event: 'share_used_up', share: 'owner_calls_waiting', accountId: null }])
  while (ends.length > 0) {
    ends.shift()?.()
    await nextTurn()
  }
  await Promise.all(calls)
})

test('who leaves while waiting is not worked for', async () => {
  const { begun, ends, hold } = startTurns()
  const leaving = new AbortController()
  const calls = [hold('acme'), hold('acme')]
  const left = hold('acme', leaving.signal)
  await nextTurn()
  leaving.abort(new Error('left'))
  await assert.rejects(left, /left/)
  while (ends.length > 0) ends.shift()?.()
  await Promise.all(calls)
  assert.equal(begun.length, 2)
})

test('whose calls they are is found out for a few of each network at a time, and nobody is refused for it', async () => {
  const { turns, stays } = startTurns()
  let atOnce = 0
  let most = 0
  const calls = Array.from({ length: 100 }, () =>
    turns.identify('192.0.2.0', stays, async () => {
      most = Math.max(most, ++atOnce)
      await nextTurn()
      atOnce--
    }),
  )
  await Promise.all(calls)
  assert.equal(most, 2)
})

test('who is held back waits for a moment, each for another, and not when it has left', async () => {
  const waits: number[] = []
  const due: (() => void)[] = []
  const turns = createOwnerTurns({
    shares: { owner_calls_at_once: 2, owner_calls_waiting: 3 },
    clock: systemClock,
    observe() {},
    loopTurns: { next: () => undefined },
    timers: {
      after(delayMs, work) {
        waits.push(delayMs)
        due.push(work)
        return () => {}
      },
    },
  })
  const held = Array.from({ length: 500 }, () => turns.holdBack(new AbortController().signal))
  assert.ok(Math.min(...waits) >= 200 && Math.max(...waits) <= 1_000)
  const together = Math.max(...waits.map((ms) => waits.filter((other) => other === ms).length))
  assert.ok(together <= 20, `${together} of 500 are told in the same moment`)
  for (const work of due) work()
  await Promise.all(held)
  const leaving = new AbortController()
  const left = turns.holdBack(leaving.signal)
  leaving.abort()
  await left
})
