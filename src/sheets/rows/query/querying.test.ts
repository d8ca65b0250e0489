import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createMovableClock } from '../../../clock.ts'
import { TooManyAtOnce } from '../../../errors.ts'
import type { Observation } from '../../../reporting/observe.ts'
import { createLoopTurns } from '../../../shares/loop-turns.ts'
import { buildSnapshot } from '../build-snapshot.ts'
import type { Query } from './query.ts'
import { createQuerying } from './querying.ts'
import { runQuery } from './run-query.ts'

const rows = Array.from({ length: 5_000 }, (_, n) => [`row ${n}`, n % 7])
const snapshot = buildSnapshot({ rows: [['note', 'n'], ...rows] })
const query: Query = {
  filters: [],
  search: 'row 49',
  sort: [{ column: 1, descending: true }],
  limit: 5,
  offset: 0,
}

test('what takes a moment is answered at once; what takes longer gives way to others', async () => {
  const quick = start(0)
  assert.deepEqual(quick.querying.run('acme', snapshot, query), runQuery(snapshot, query))
  const slow = start(3)
  const running = slow.querying.run('acme', snapshot, query)
  assert.ok(running instanceof Promise)
  const order: string[] = []
  void running.then(() => order.push('query'))
  setImmediate(() => order.push('another request'))
  assert.deepEqual(await running, runQuery(snapshot, query))
  assert.deepEqual(order, ['another request', 'query'])
})

test('of one account so many queries are under way, so many wait, and more are refused', async () => {
  const { querying, seen } = start(3)
  const asked = Array.from({ length: 12 }, () => Promise.resolve(querying.run('greedy', snapshot, query)))
  const others = Array.from({ length: 3 }, () => Promise.resolve(querying.run('other', snapshot, query)))
  const outcomes = await Promise.allSettled(asked)
  const refused = outcomes.filter(({ status }) => status === 'rejected')
  assert.equal(refused.length, 12 - 2 - 5, 'two are worked on, five wait')
  for (const outcome of refused) assert.ok('reason' in outcome && outcome.reason instanceof TooManyAtOnce)
  assert.equal(seen.filter(({ event }) => event === 'share_used_up').length, refused.length)
  for (const other of await Promise.all(others)) assert.deepEqual(other, runQuery(snapshot, query))
})

test('whoever leaves gives up its place, and who waits behind it comes', async () => {
  const { querying } = start(3)
  const leavers = Array.from({ length: 7 }, () => new AbortController())
  let watched = 0
  const left = leavers.map(({ signal }) => {
    const watch = () => {
      watched++
      return { left: signal, hasPerhapsLeft: () => false, forget: () => void watched-- }
    }
    return Promise.resolve(querying.run('acme', snapshot, query, watch))
  })
  for (const leaver of leavers) leaver.abort(new Error('gone'))
  const next = Array.from({ length: 5 }, () => Promise.resolve(querying.run('acme', snapshot, query)))
  for (const outcome of await Promise.allSettled(left))
    assert.ok(outcome.status === 'rejected' && outcome.reason.message === 'gone')
  for (const result of await Promise.all(next)) assert.deepEqual(result, runQuery(snapshot, query))
  assert.equal(watched, 0)
})

test('of all accounts only so many queries are under way as fit into memory, and they take turns', async () => {
  const rows = Array.from({ length: 200_000 }, (_, n) => [n % 1_000])
  const large = buildSnapshot({ rows: [['n'], ...rows] })
  const asked = { ...query, search: null, sort: [{ column: 0, descending: true }] }
  const { querying, seen } = start(3, 6)
  const ended: string[] = []
  const names = ['one', 'two', 'three']
  const all = [...names, ...names].map(async (name) => {
    assert.deepEqual(await querying.run(name, large, asked), runQuery(large, asked))
    ended.push(name)
  })
  await Promise.all(all)
  const waited = seen.filter(({ event }) => event === 'turn_waited')
  assert.equal(waited.length, 4, 'two of three megabytes each fit into six')
  assert.deepEqual(new Set(ended.slice(0, 4)), new Set(names), 'nobody is kept waiting by the others')
})

/** Each look at the clock takes so long. */
function start(lookMs: number, queries_mb = 256) {
  const movable = createMovableClock(0)
  const clock = {
    elapsedMs() {
      movable.advanceMs(lookMs)
      return movable.elapsedMs()
    },
  }
  const seen: Observation[] = []
  const shares = { queries_at_once: 2, queries_waiting: 5, queries_mb }
  const observe = (observation: Observation) => void seen.push(observation)
  return { querying: createQuerying({ shares, turns: createLoopTurns(clock), clock, observe }), seen }
}
