import assert from 'node:assert/strict'
import { test } from 'node:test'
import { patienceMs, times } from '../soak.ts'
import { mostInAMinute, play } from './simulation/counting-history.ts'

const histories = times(30, 5_000)
const busyHistories = times(20, 1_000)

test('histories in which Redis is lost in every way: at most 2 N in any minute, and nobody waits for long', {
  timeout: patienceMs,
}, async () => {
  const sum = { admitted: 0, refused: 0, losses: 0, worst: 0, longestMs: 0 }
  for (let seed = 1; seed <= histories; seed++) {
    const played = await play(seed, { hasLosses: true, isBusy: false, minutes: 12 })
    const most = mostInAMinute(played.admittedAtMs)
    assert.ok(most <= 2 * played.limit, `seed ${seed}: ${most} in a minute, N = ${played.limit}`)
    sum.admitted += played.admittedAtMs.length
    sum.refused += played.refusedAtMs.length
    sum.losses += played.losses
    sum.worst = Math.max(sum.worst, most / played.limit)
    sum.longestMs = Math.max(sum.longestMs, Math.round(played.longestMs))
  }
  process.stdout.write(`${histories} histories with losses of Redis: ${JSON.stringify(sum)}\n`)
  assert.ok(sum.losses > histories && sum.worst > 1)
  assert.ok(sum.longestMs < 1_000, `somebody waited ${sum.longestMs} ms for a Redis that does not answer`)
})

test('histories in which all wait for a processor and nothing is lost: Redis is never taken for lost', {
  timeout: patienceMs,
}, async () => {
  let moves = 0
  for (let seed = 1; seed <= busyHistories; seed++) {
    const played = await play(seed, { hasLosses: false, isBusy: true, minutes: 3 })
    assert.equal(played.moves, 0, `seed ${seed}`)
    assert.ok(mostInAMinute(played.admittedAtMs) <= 2 * played.limit, `seed ${seed}`)
    moves += played.moves
  }
  process.stdout.write(`${busyHistories} histories on busy machines: ${moves} moves\n`)
})
