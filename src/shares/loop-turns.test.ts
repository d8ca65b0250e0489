import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createMovableClock } from '../clock.ts'
import { createLoopTurns } from './loop-turns.ts'
import { strangersFrom, visitorsOf } from './taker.ts'

test('what is done between two looks at the sockets is a few milliseconds, however much is asked for', async () => {
  const { work, done, turnsOfLoop } = opened()
  await Promise.all(Array.from({ length: 20 }, () => work('greedy', 1)))
  assert.equal(done.length, 20)
  const perTurn = Map.groupBy(done, ({ turn }) => turn)
  for (const [turn, pieces] of perTurn) assert.ok(pieces.length <= 2, `${pieces.length} in turn ${turn}`)
  assert.ok(turnsOfLoop() >= 9)
})

test('pieces that begin some promises after they were let in are no more in one turn', async () => {
  const { work, done } = opened()
  // With it the round is over, and the others wait for the next.
  const long = work('other', 5)
  await Promise.all([long, ...Array.from({ length: 20 }, () => work('greedy', 1, 40))])
  const perTurn = [...Map.groupBy(done, ({ turn }) => turn).values()]
  assert.ok(perTurn.length > 5)
  for (const pieces of perTurn) assert.ok(pieces.length <= 2, `${pieces.length} in a turn`)
})

test('between two rounds there are several looks at the sockets, each of which lets one newcomer in', async () => {
  const { work, done } = opened()
  await Promise.all(Array.from({ length: 20 }, () => work('greedy', 4)))
  const rounds = [...new Set(done.map(({ turn }) => turn))]
  assert.equal(rounds.length, 20)
  const looks = rounds.slice(1).map((turn, at) => turn - (rounds[at] ?? 0))
  assert.ok(Math.min(...looks) >= 8, `${looks.join(', ')} looks`)
})

test('accounts take turns, whoever came first', async () => {
  const { work, done } = opened()
  await Promise.all([
    ...Array.from({ length: 12 }, () => work('greedy', 4)),
    work('small', 4),
    work('other', 4),
    work('small', 4),
  ])
  assert.deepEqual(
    done.slice(0, 7).map(({ account }) => account),
    ['greedy', 'greedy', 'small', 'other', 'greedy', 'small', 'greedy'],
  )
})

test('visitors have no turns beside those of their account, which go to them and to others of it by turns', async () => {
  const { work, done } = opened()
  await Promise.all([
    work('first', 4),
    ...Array.from({ length: 4 }, () => work(visitorsOf('acme'), 4)),
    ...Array.from({ length: 3 }, () => work('other', 4)),
    ...Array.from({ length: 2 }, () => work('acme', 4)),
  ])
  const [acme, visitors] = ['acme', visitorsOf('acme')]
  assert.deepEqual(
    done.slice(1).map(({ account }) => account),
    [visitors, 'other', acme, 'other', visitors, 'other', acme, visitors, visitors],
  )
})

test('strangers have no more turns for coming from everywhere at once, and those that they have go round where they come from', async () => {
  const { work, done } = opened()
  await Promise.all([
    work('first', 4),
    ...['a', 'a', 'a', 'b', 'c'].map((network) => work(strangersFrom(network), 4)),
    ...Array.from({ length: 3 }, () => work('acme', 4)),
  ])
  const [a, b, c] = ['a', 'b', 'c'].map(strangersFrom)
  assert.deepEqual(
    done.slice(1).map(({ account }) => account),
    [a, 'acme', b, 'acme', c, 'acme', a, a],
  )
})

test('where little is asked for, nobody waits', () => {
  const { turns } = opened()
  assert.equal(turns.next('one'), undefined)
  assert.equal(turns.next('other'), undefined)
})

function opened() {
  const clock = createMovableClock(0)
  const turns = createLoopTurns(clock)
  const done: { account: string; turn: number }[] = []
  let turn = 0
  const count = () => {
    turn++
    counting = setImmediate(count)
    counting.unref()
  }
  let counting = setImmediate(count)
  counting.unref()
  return {
    turns,
    done,
    turnsOfLoop: () => turn,
    async work(account: string, ms: number, promises = 0) {
      const mayBegin = turns.next(account)
      if (mayBegin instanceof Promise) await mayBegin
      for (let nth = 0; nth < promises; nth++) await null
      clock.advanceMs(ms)
      done.push({ account, turn })
    },
  }
}
