import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { createVirtualTime, type VirtualTime } from '../../../../test/google/virtual-time.ts'
import type { Observation } from '../../../reporting/observe.ts'
import { createOwnValues } from '../../../shared-state/registers/own-values.fixture.ts'
import { ProviderFailure } from '../../../sheets/provider-failure.ts'
import { createDeadline } from '../../remote/deadline.ts'
import type { BudgetPlace } from '../../remote/rations/budget.ts'
import { createGoogleBudget, googleRations } from './google-budget.ts'

const owner = 'owner'

function start(time: VirtualTime, limits = googleRations) {
  const seen: Observation[] = []
  const budget = createGoogleBudget({
    share: createOwnValues(time.clock),
    timers: time.timers,
    observe: (observation) => seen.push(observation),
    random: () => 1,
    limits,
  })
  const take = async (
    subject = owner,
    isUrgent = false,
    allowedMs = 15_000,
    accountId = '',
  ): Promise<BudgetPlace> => {
    const deadline = createDeadline(time.clock, time.timers, allowedMs)
    try {
      return await budget.take({ subject, kind: 'read', isUrgent, accountId, deadline })
    } finally {
      deadline.end()
    }
  }
  return { budget, take, seen }
}

/** The most arrivals in any minute. */
function busiestMinute(arrivalsMs: readonly number[]): number {
  const sorted = arrivalsMs.toSorted((one, other) => one - other)
  return Math.max(
    0,
    ...sorted.map((fromMs) => sorted.filter((atMs) => atMs >= fromMs && atMs < fromMs + 60_000).length),
  )
}

test('whatever the delays, no minute at Google has more than the ration', async () => {
  const delays = fc.record({
    wayMs: fc.integer({ min: 0, max: 9_000 }),
    backMs: fc.integer({ min: 0, max: 9_000 }),
    pauseMs: fc.integer({ min: 0, max: 700 }),
  })
  await fc.assert(
    fc.asyncProperty(fc.array(delays, { minLength: 200, maxLength: 260 }), async (callers) => {
      const time = createVirtualTime()
      const { take } = start(time)
      const arrivals: number[] = []
      for (const { wayMs, backMs, pauseMs } of callers) {
        take(owner, false, 600_000).then((place) => {
          arrivals.push(time.clock.elapsedMs() + wayMs)
          time.timers.after(wayMs + backMs, () => place.endCall('answered'))
        })
        await time.pass(pauseMs)
      }
      await time.pass(400_000)
      assert.equal(arrivals.length, callers.length, 'and everyone has had a turn')
      assert.ok(busiestMinute(arrivals) <= 60, `${busiestMinute(arrivals)} in one minute`)
    }),
    { seed: 11, numRuns: 8, endOnFailure: true },
  )
})

test('the whole ration can be used, and nobody starves at the end of a minute', async () => {
  const time = createVirtualTime()
  const { take } = start(time)
  const given: number[] = []
  const startMs = time.clock.elapsedMs()
  const call = async (): Promise<void> => {
    const place = await take(owner, false, 60_000).catch(() => null)
    if (!place) return
    given.push(time.clock.elapsedMs() - startMs)
    time.timers.after(300, () => {
      place.endCall('answered')
      call()
    })
  }
  for (let client = 0; client < 40; client++) call()
  await time.pass(600_000)
  assert.ok(given.length >= 570, `${given.length} calls in ten minutes of 60`)
  const gaps = given.slice(1).map((atMs, at) => atMs - (given[at] ?? 0))
  assert.ok(Math.max(...gaps) < 3_000, `${Math.max(...gaps)} ms without a call`)
  assert.equal(given.filter((atMs) => atMs === 0).length, 31, 'half of it at once, for a burst')
})

test('an owner has a ration of their own, and all owners together that of the project', async () => {
  const time = createVirtualTime()
  const { take } = start(time)
  const given = new Map<string, number>()
  for (let round = 0; round < 30; round++) {
    for (let one = 0; one < 20; one++) {
      const subject = `owner ${one}`
      take(subject, false, 30_000).then(
        (place) => {
          given.set(subject, (given.get(subject) ?? 0) + 1)
          place.endCall('answered')
        },
        () => {},
      )
    }
  }
  await time.pass(59_000)
  const counts = [...given.values()]
  const total = counts.reduce((sum, one) => sum + one, 0)
  assert.ok(total <= 300 && total >= 220, `${total} for the project`)
  assert.ok(Math.max(...counts) - Math.min(...counts) <= 2, `shared evenly: ${counts}`)
})

test('who waits for a write comes before readers; among equals the first comes first', async () => {
  const time = createVirtualTime()
  const { take } = start(time)
  for (let at = 0; at < 31; at++) (await take()).endCall('answered')
  const order: string[] = []
  for (const name of ['reader 1', 'reader 2']) take().then(() => order.push(name))
  for (const name of ['writer 1', 'writer 2']) take(owner, true).then(() => order.push(name))
  await time.pass(15_000)
  assert.deepEqual(order, ['writer 1', 'writer 2', 'reader 1', 'reader 2'])
})

test('who cannot have a turn in time is told so at once, and when to come back', async () => {
  const time = createVirtualTime()
  const { take, budget, seen } = start(time)
  assert.equal(budget.isTight(owner), false)
  for (let at = 0; at < 60; at++) take(owner, false, 70_000).then((place) => place.endCall('answered'))
  await time.pass(58_500)
  assert.equal(budget.isTight(owner), true)
  await time.pass(1_000)
  for (let at = 0; at < 100; at++) take(owner, false, 120_000).then((place) => place.endCall('answered'))
  const startMs = time.clock.elapsedMs()
  await assert.rejects(take(), (error: unknown) => {
    assert.ok(error instanceof ProviderFailure)
    assert.equal(error.message, "Google's read quota for this owner is used up")
    assert.equal(error.facts.isPassing, true)
    assert.ok((error.facts.retryAfterSeconds ?? 0) > 15)
    return true
  })
  assert.equal(time.clock.elapsedMs(), startMs)
  assert.ok(seen.some(({ event }) => event === 'provider_rationed'))
  ;(await take('another owner')).endCall('answered')
})

test('a place that was never used to send anything is free at once', async () => {
  const time = createVirtualTime()
  const { take, budget } = start(time)
  for (let at = 0; at < 500; at++) (await take()).endCall('not_sent')
  assert.equal(budget.isTight(owner), false)
})

test('a call without an answer holds its place longer: it may still be under way', async () => {
  const time = createVirtualTime()
  const { take, budget } = start(time)
  for (let at = 0; at < 31; at++) (await take()).endCall('no_answer')
  await time.pass(70_000)
  assert.equal(budget.isTight(owner), true)
  await time.pass(5_000)
  assert.equal(budget.isTight(owner), false)
})

test('a refusal of Google closes for a moment, longer each time, until Google takes a call', async () => {
  const time = createVirtualTime()
  const { take, budget } = start(time)
  const closedForMs = async (): Promise<number> => {
    // The second came from a call that was under way together with the first.
    for (let at = 0; at < 2; at++) budget.noteRefusal({ subject: owner, kind: 'read', per: 'user' })
    const startMs = time.clock.elapsedMs()
    let atMs = 0
    take().then((place) => {
      atMs = time.clock.elapsedMs()
      place.endCall('answered')
    })
    await time.pass(10_000)
    return atMs - startMs
  }
  const closures = [await closedForMs(), await closedForMs(), await closedForMs(), await closedForMs()]
  assert.deepEqual(closures, [1_000, 2_000, 4_000, 4_000])
  ;(await take('another owner')).endCall('answered')
  budget.noteAcceptance({ subject: owner, kind: 'read' })
  assert.equal(await closedForMs(), 1_000)
})

test('after a refusal one caller tries, and the others follow when Google has taken it', async () => {
  const time = createVirtualTime()
  const { take, budget } = start(time)
  budget.noteRefusal({ subject: owner, kind: 'read', per: 'user' })
  const given: BudgetPlace[] = []
  for (let at = 0; at < 10; at++) take().then((place) => given.push(place))
  await time.pass(2_900)
  assert.equal(given.length, 1)
  budget.noteAcceptance({ subject: owner, kind: 'read' })
  await time.pass(0)
  assert.equal(given.length, 10)
})

test('who tries after a refusal and has no answer for long does not keep the others waiting', async () => {
  const time = createVirtualTime()
  const { take, budget } = start(time)
  budget.noteRefusal({ subject: owner, kind: 'read', per: 'user' })
  const givenAtMs: number[] = []
  const startMs = time.clock.elapsedMs()
  for (let at = 0; at < 10; at++) take().then(() => givenAtMs.push(time.clock.elapsedMs() - startMs))
  await time.pass(5_500)
  assert.deepEqual(givenAtMs, [1_000, 3_000, 5_000])
})

test('when the project is refused, every owner waits', async () => {
  const time = createVirtualTime()
  const { take, budget } = start(time)
  budget.noteRefusal({ subject: owner, kind: 'read', per: 'project' })
  await assert.rejects(take('another owner', false, 900), ProviderFailure)
})

test('turns go round the accounts that share a ration: whoever has one read is not behind fifty of another', async () => {
  const time = createVirtualTime()
  const { take } = start(time)
  for (let at = 0; at < 31; at++) (await take(owner, false, 15_000, 'heavy')).endCall('answered')
  const order: string[] = []
  const wait = (accountId: string, name: string) =>
    take(owner, false, 90_000, accountId).then((place) => {
      order.push(name)
      place.endCall('answered')
    })
  for (let at = 1; at <= 50; at++) wait('heavy', `heavy ${at}`)
  await time.pass(10)
  for (const name of ['light 1', 'light 2', 'light 3']) wait('light', name)
  wait('other', 'other 1')
  await time.pass(40_000)
  assert.deepEqual(order.slice(0, 8), [
    'light 1',
    'other 1',
    'heavy 1',
    'light 2',
    'heavy 2',
    'light 3',
    'heavy 3',
    'heavy 4',
  ])
})

test('an account that reads seldom waits three seconds at most, though another keeps 200 sheets in constant demand', async (t) => {
  const time = createVirtualTime()
  const { take } = start(time)
  const beganMs = time.clock.elapsedMs()
  let heavyReads = 0
  const keepReading = async (): Promise<void> => {
    const place = await take(owner, false, 15_000, 'heavy').catch(() => null)
    if (place) heavyReads++
    time.timers.after(place ? 300 : 5_000, () => {
      place?.endCall('answered')
      keepReading()
    })
  }
  for (let sheet = 0; sheet < 200; sheet++) keepReading()
  const waitsMs: number[] = []
  for (let nth = 0; nth < 14; nth++) {
    // At all moments of a minute: its half that is given at once, its end, and its beginning.
    await time.pass(7_300)
    const startMs = time.clock.elapsedMs()
    const reading = take(owner, false, 15_000, 'light').then((place) => {
      waitsMs.push(time.clock.elapsedMs() - startMs)
      time.timers.after(300, () => place.endCall('answered'))
    })
    reading.catch(() => {})
    await time.pass(4_000)
    await reading
  }
  const longestMs = Math.max(...waitsMs)
  t.diagnostic(
    `waited ${Math.round(longestMs)} ms at most; the other read ${heavyReads} times in ${Math.round(time.clock.elapsedMs() - beganMs)} ms`,
  )
  assert.ok(longestMs <= 3_000, `${waitsMs.map(Math.round)}`)
  const minutes = (time.clock.elapsedMs() - beganMs) / 60_000
  assert.ok(heavyReads + waitsMs.length >= minutes * 60 * 0.9, `and all of the ration is used: ${heavyReads}`)
})

test('whoever waits behind nobody of its own account is not refused at once because another has a hundred waiting', async () => {
  const time = createVirtualTime()
  const { take } = start(time)
  for (let at = 0; at < 60; at++)
    take(owner, false, 70_000, 'heavy').then((place) => place.endCall('answered'))
  await time.pass(59_500)
  for (let at = 0; at < 100; at++)
    take(owner, false, 120_000, 'heavy').then((place) => place.endCall('answered'))
  await assert.rejects(take(owner, false, 15_000, 'heavy'), ProviderFailure)
  const startMs = time.clock.elapsedMs()
  const light = take(owner, false, 15_000, 'light')
  light.catch(() => {})
  await time.pass(3_000)
  ;(await light).endCall('answered')
  assert.ok(time.clock.elapsedMs() - startMs <= 3_000)
})

test('at the ration of the project turns go round the owners', async () => {
  const time = createVirtualTime()
  const perProject = { read: 20, write: 20 }
  const { take } = start(time, { ...googleRations, perProject })
  for (let at = 0; at < 11; at++) (await take('busy owner')).endCall('answered')
  const order: string[] = []
  const wait = (subject: string) =>
    take(subject, false, 120_000).then((place) => {
      order.push(subject)
      place.endCall('answered')
    })
  for (let at = 0; at < 15; at++) wait('busy owner')
  await time.pass(10)
  wait('another owner')
  wait('another owner')
  await time.pass(30_000)
  assert.deepEqual(order.slice(0, 4), ['another owner', 'busy owner', 'another owner', 'busy owner'])
})
