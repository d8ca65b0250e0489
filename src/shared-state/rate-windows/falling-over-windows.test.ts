import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { createMemoryRegisters } from '../../../test/cluster/memory-registers.ts'
import {
  createMemoryFleetingWindows,
  createMemoryStandInWindows,
} from '../../../test/cluster/simulation/memory-windows.ts'
import { createMovableClock } from '../../clock.ts'
import type { Observation } from '../../reporting/observe.ts'
import { createFallOver, longestPatienceMs, patienceMs } from '../fall-over.ts'
import { createFallingOverWindows } from './falling-over-windows.ts'
import { createLossRecord } from './loss-record.ts'
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
  const waiting = windows.takeFromWindow('a', limit, windowMs)
  await passMs(patienceMs - 1)
  assert.equal(state.secondAsked, 0)
  await passMs(1)
  assert.equal((await waiting).isAdmitted, true)
  assert.equal(
    (await windows.takeFromWindow('a', limit, windowMs)).remaining,
    limit - 2,
    'at once, no second wait',
  )
})

test('the time in which this process was itself too busy to look does not count, within reason', async (t) => {
  const { windows, state, passMs, clock } = setUp(t)
  state.first = 'silent'
  const waiting = windows.takeFromWindow('a', limit, windowMs)
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
  const waiting = windows.takeFromWindow('a', limit, windowMs)
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
  await windows.takeFromWindow('a', limit, windowMs)
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
  assert.equal((await admitted(windows, 40)).length, limit, 'a minute later as many as ever')
  await passMs(windowMs + 2_000)
  const before = state.firstAsked
  assert.equal((await admitted(windows, 40)).length, limit, 'and then all is as before')
  assert.ok(state.firstAsked > before)
})

test('an instance that had nothing to do while the first was away adds no third limit', async (t) => {
  const { windows, state, passMs, startAnother } = setUp(t)
  const idle = startAnother()
  let passed = (await admitted(windows, 40)).length
  state.first = 'away'
  passed += (await admitted(windows, 40)).length
  state.restartEmpty()
  for (const afterMs of [0, 6_500, 20_000, 30_000]) {
    await passMs(afterMs)
    passed += (await admitted(idle, 40)).length
  }
  assert.equal(passed, 2 * limit)
})

test('a restart that nobody saw is a loss: at most twice the limit, with two of them and a copy as well', async (t) => {
  const { windows, state, passMs } = setUp(t)
  let passed = (await admitted(windows, 40)).length
  for (const restart of [state.restartEmpty, state.restartFromCopy, state.restartEmpty]) {
    state.copy()
    restart()
    await passMs(1_000)
    passed += (await admitted(windows, 40)).length
  }
  assert.equal(passed, 2 * limit)
})

test('two windows in a row and a loss: the third does not start from nothing', async (t) => {
  const { windows, state, passMs, startAnother } = setUp(t)
  const another = startAnother()
  await admitted(windows, 1)
  await passMs(windowMs - 100)
  let passed = (await admitted(windows, 40)).length
  await passMs(200)
  passed += (await admitted(windows, 40)).length
  state.first = 'away'
  passed += (await admitted(another, 40)).length
  assert.equal(passed, 2 * limit - 1)
  await passMs(windowMs + 2_000)
  assert.equal((await admitted(another, 40)).length, limit)
})

test('for a minute after the loss all is counted by the second, then by the first, but for open windows', async (t) => {
  const { windows, state, passMs } = setUp(t)
  state.first = 'away'
  await windows.takeFromWindow('a', limit, windowMs)
  state.restartEmpty()
  await passMs(6_500)
  state.firstAsked = 0
  await windows.takeFromWindow('another', limit, windowMs)
  assert.equal(state.firstAsked, 0)
  await passMs(50_000)
  await windows.takeFromWindow('a third', limit, windowMs)
  await passMs(15_000)
  assert.equal((await windows.takeFromWindow('a third', limit, windowMs)).remaining, limit - 2, 'it is open')
  assert.equal((await windows.takeFromWindow('a fourth', limit, windowMs)).remaining, limit - 1)
  assert.equal(state.secondAsked, 3)
})

test('while all is well a request is one question to the first and none to the second', async (t) => {
  const { windows, state, passMs } = setUp(t)
  await windows.takeFromWindow('a', limit, windowMs)
  const { firstAsked, registers } = state
  const before = registers.asked
  for (let n = 0; n < 9; n++) await windows.takeFromWindow('a', limit, windowMs)
  assert.equal(state.firstAsked - firstAsked, 9)
  assert.equal(registers.asked, before)
  for (let n = 0; n < 10; n++) {
    await passMs(100)
    await windows.takeFromWindow('a', limit, windowMs)
  }
  assert.ok(registers.asked - before <= 2, 'it looks twice a second whether something was lost')
  assert.equal(state.secondAsked, 0)
})

test('windows of other lengths are counted by the second, which loses nothing', async (t) => {
  const { windows, state } = setUp(t)
  for (let n = 0; n < 3; n++) await windows.takeFromWindow('sign-ins', 2, 24 * 60 * windowMs)
  assert.equal((await windows.readWindow('sign-ins', 2, 24 * 60 * windowMs)).isAdmitted, false)
  assert.equal(state.firstAsked, 0)
})

function setUp(t: TestContext) {
  t.mock.timers.enable({ apis: ['setTimeout'] })
  const clock = createMovableClock(0)
  const seen: Observation[] = []
  const first = createMemoryFleetingWindows(clock)
  const second = createMemoryStandInWindows(clock)
  const registers = createMemoryRegisters(clock)
  const state = {
    first: 'there' as State,
    firstAsked: 0,
    secondAsked: 0,
    registers,
    copy: first.copy,
    restartEmpty() {
      first.startEmpty()
      state.first = 'there'
    },
    restartFromCopy: first.startFromCopy,
  }
  const asked = async <T>(work: () => Promise<T>): Promise<T> => {
    if (state.first === 'silent') await new Promise(() => {})
    if (state.first === 'away') throw new Error('away')
    return work()
  }
  const life = () => (state.first === 'away' ? null : first.life())
  const windows = startAnother()

  function startAnother(): RateWindows {
    const fallOver = createFallOver({
      ping: () => asked(async () => {}),
      clock,
      observe: (observation) => seen.push(observation),
    })
    t.after(() => fallOver.close())
    return createFallingOverWindows({
      first: {
        life,
        takeFromWindow(...given) {
          state.firstAsked++
          return asked(() => first.takeFromWindow(...given))
        },
        readWindow: (...given) => asked(() => first.readWindow(...given)),
      },
      second: {
        ...second,
        takeFromWindow(...given) {
          state.secondAsked++
          return second.takeFromWindow(...given)
        },
      },
      registers,
      losses: createLossRecord({ registers, clock, life }),
      fallOver,
    })
  }

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
  return { windows, state, passMs, moves, clock, startAnother }
}

function othersGoOn(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve))
}

async function admitted(windows: RateWindows, times: number): Promise<RateWindow[]> {
  const answers = await Promise.all(
    Array.from({ length: times }, async () => windows.takeFromWindow('a', limit, windowMs)),
  )
  return answers.filter(({ isAdmitted }) => isAdmitted)
}
