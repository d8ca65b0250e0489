import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { createMovableClock } from '../clock.ts'
import type { Observation } from '../observe.ts'
import { createFallOver, longestPatienceMs, patienceMs } from './fall-over.ts'
import { createFallingOverWindows } from './falling-over-windows.ts'
import { createMemoryRateWindows } from './memory-rate-windows.ts'
import type { RateWindow, RateWindows } from './rate-windows.ts'

const windowMs = 60_000
const limit = 10

type State = 'there' | 'away' | 'silent'

test('while the first windows are away the second count, exactly; nobody is let through uncounted', async (t) => {
  const { windows, state, moves } = setUp(t)
  assert.equal((await admitted(windows, 4)).length, 4)
  state.first = 'away'
  assert.equal((await admitted(windows, 40)).length, limit, 'a fresh window of the same size')
  assert.deepEqual(moves(), ['store'])
})

test('one that does not answer is waited for once, and for no longer than half a second', async (t) => {
  const { windows, state, passMs } = setUp(t)
  state.first = 'silent'
  const waiting = windows.take('a', limit, windowMs)
  await passMs(patienceMs - 1)
  assert.equal(state.secondAsked, 0)
  await passMs(1)
  assert.equal((await waiting).isAdmitted, true)
  assert.equal((await windows.take('a', limit, windowMs)).remaining, limit - 2, 'at once, no second wait')
})

test('the time in which this process was itself too busy to look does not count, within reason', async (t) => {
  const { windows, state, passMs, clock } = setUp(t)
  state.first = 'silent'
  const waiting = windows.take('a', limit, windowMs)
  await passMs(patienceMs - 25)
  for (let n = 0; n < 10; n++) {
    clock.advanceMs(100)
    await passMs(25)
  }
  assert.equal(state.secondAsked, 0, 'it was not looked after in time')
  await passMs(25)
  assert.equal((await waiting).isAdmitted, true, 'but not for ever')
  assert.equal(state.secondAsked, 1)
})

test('one that is never looked after in time is given up all the same', async (t) => {
  const { windows, state, passMs, clock } = setUp(t)
  state.first = 'silent'
  const waiting = windows.take('a', limit, windowMs)
  await passMs(0)
  for (let passedMs = 0; passedMs < longestPatienceMs; passedMs += 125) {
    assert.equal(state.secondAsked, 0)
    clock.advanceMs(100)
    await passMs(25)
  }
  assert.equal((await waiting).isAdmitted, true)
})

test('they come back after five seconds of health, not before, and not after a flicker', async (t) => {
  const { windows, state, passMs, moves } = setUp(t)
  state.first = 'away'
  await windows.take('a', limit, windowMs)
  await passMs(20_000)
  assert.deepEqual(moves(), ['store'])
  state.first = 'there'
  await passMs(4_000)
  state.first = 'away'
  await passMs(1_000)
  state.first = 'there'
  await passMs(5_000)
  assert.deepEqual(moves(), ['store'])
  await passMs(1_000)
  assert.deepEqual(moves(), ['store', 'redis'])
})

test('in the minute of the change no more than twice the limit passes, though the first forgot everything', async (t) => {
  const { windows, state, passMs } = setUp(t)
  let passed = (await admitted(windows, 40)).length
  state.first = 'away'
  passed += (await admitted(windows, 40)).length
  state.restartEmpty()
  await passMs(6_500)
  for (let second = 0; second < 50; second++) {
    passed += (await admitted(windows, 5)).length
    await passMs(1_000)
  }
  assert.equal(passed, 2 * limit)
  await passMs(10_000)
  const before = state.firstAsked
  assert.equal((await admitted(windows, 40)).length, limit, 'and then all is as before')
  assert.ok(state.firstAsked > before)
})

test('a name that has no window at the second is counted by the first as soon as it is back', async (t) => {
  const { windows, state, passMs } = setUp(t)
  state.first = 'away'
  await windows.take('a', limit, windowMs)
  state.restartEmpty()
  await passMs(6_500)
  state.firstAsked = 0
  await windows.take('another', limit, windowMs)
  assert.equal(state.firstAsked, 1)
  await windows.take('a', limit, windowMs)
  assert.equal(state.firstAsked, 1)
})

function setUp(t: TestContext) {
  t.mock.timers.enable({ apis: ['setTimeout'] })
  const clock = createMovableClock(0)
  const seen: Observation[] = []
  let first = createMemoryRateWindows(clock)
  const second = createMemoryRateWindows(clock)
  const state = {
    first: 'there' as State,
    firstAsked: 0,
    secondAsked: 0,
    restartEmpty() {
      first = createMemoryRateWindows(clock)
      state.first = 'there'
    },
  }
  const asked = async <T>(work: () => T): Promise<Awaited<T>> => {
    if (state.first === 'silent') await new Promise(() => {})
    if (state.first === 'away') throw new Error('away')
    return await work()
  }
  const counted = (how: 'take' | 'look') => (name: string, most: number, forMs: number) => {
    state.firstAsked++
    return asked(() => first[how](name, most, forMs))
  }
  const fallOver = createFallOver({
    ping: () => asked(() => {}),
    clock,
    observe: (observation) => seen.push(observation),
  })
  const windows = createFallingOverWindows({
    first: { take: counted('take'), look: counted('look') },
    second: {
      take(...given) {
        state.secondAsked++
        return second.take(...given)
      },
      look: second.look,
    },
    fallOver,
    clock,
  })
  t.after(() => fallOver.close())

  async function passMs(ms: number): Promise<void> {
    await othersGoOn()
    for (let passed = 0; passed < ms; ) {
      const step = Math.min(25, ms - passed)
      clock.advanceMs(step)
      t.mock.timers.tick(step)
      await othersGoOn()
      passed += step
    }
  }

  const moves = () => seen.flatMap((each) => (each.event === 'rate_windows_moved' ? each.to : []))
  return { windows, state, passMs, moves, clock }
}

function othersGoOn(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve))
}

async function admitted(windows: RateWindows, times: number): Promise<RateWindow[]> {
  const answers = await Promise.all(
    Array.from({ length: times }, async () => windows.take('a', limit, windowMs)),
  )
  return answers.filter(({ isAdmitted }) => isAdmitted)
}
