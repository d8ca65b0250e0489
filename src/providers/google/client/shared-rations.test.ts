import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { createQuotas, googleLimits } from '../../../../emulator/rations/quotas.ts'
import { createMemoryRegisters, type MemoryRegisters } from '../../../../test/cluster/memory-registers.ts'
import { createVirtualTime, type VirtualTime } from '../../../../test/google/virtual-time.ts'
import { createRegisterValue } from '../../../shared-state/registers/register-value.ts'
import { ProviderFailure } from '../../../sheets/provider-failure.ts'
import { createDeadline } from '../../remote/deadline.ts'
import type { Budget, BudgetPlace } from '../../remote/rations/budget.ts'
import { createGoogleBudget, googleRations } from './google-budget.ts'

const owner = 'owner'
const minuteMs = 60_000
const patientMs = 10 * minuteMs

test('three servers at full demand on one owner: no refusal, nine tenths of the ration, a fair share for each', async (t) => {
  const { servers, keepBusy, google, time } = setUp(t, 3)
  const given = servers.map((server) => keepBusy(server, 20, () => owner))
  const minutes = 3
  await time.pass(minutes * minuteMs)
  const shares = given.map(({ calls }) => calls)
  t.diagnostic(
    `${google.taken} of ${minutes * 60} reads in ${minutes} min, ${google.refused} × 429, each: ${shares}`,
  )
  assert.equal(google.refused, 0)
  assert.ok(google.taken >= minutes * 60 * 0.9, `${google.taken} calls`)
  assert.ok(Math.max(...shares) <= 1.25 * Math.min(...shares), `${shares}`)
})

test('two servers with many owners stay inside the ration of the project, and use it', async (t) => {
  const { servers, keepBusy, google, time } = setUp(t, 2)
  for (const server of servers) keepBusy(server, 24, (client) => `owner ${client % 12}`)
  await time.pass(1.5 * minuteMs)
  t.diagnostic(`${google.taken} of 450 reads in 1.5 min, ${google.refused} × 429`)
  assert.equal(google.refused, 0)
  assert.ok(google.taken >= 450 * 0.9, `${google.taken} calls`)
})

test('who waits for a write comes before the readers of other servers; among equals the first comes first', async (t) => {
  const { servers, take, time } = setUp(t, 2)
  const [one, two] = servers
  assert.ok(one && two)
  for (let at = 0; at < 31; at++) (await take(one)).endCall('answered')
  const order: string[] = []
  const wait = async (server: Budget, name: string, isUrgent: boolean) => {
    take(server, { isUrgent }).then((place) => {
      order.push(name)
      place.endCall('answered')
    })
    await time.pass(10)
  }
  await wait(one, 'reader 1 of one', false)
  await wait(two, 'reader 2 of two', false)
  await wait(one, 'reader 3 of one', false)
  await wait(two, 'writer 1 of two', true)
  await wait(one, 'writer 2 of one', true)
  await time.pass(20_000)
  assert.deepEqual(order, [
    'writer 1 of two',
    'writer 2 of one',
    'reader 1 of one',
    'reader 2 of two',
    'reader 3 of one',
  ])
})

test('an account that goes first at one server takes the turn of that server, and nobody’s at another', async (t) => {
  const { servers, take, time } = setUp(t, 2)
  const [one, two] = servers
  assert.ok(one && two)
  for (let at = 0; at < 31; at++) (await take(one, { accountId: 'heavy' })).endCall('answered')
  const order: string[] = []
  const wait = async (server: Budget, name: string, accountId: string) => {
    take(server, { accountId, allowedMs: 60_000 }).then((place) => {
      order.push(name)
      place.endCall('answered')
    })
    await time.pass(10)
  }
  for (const name of ['heavy 1', 'heavy 2', 'heavy 3']) await wait(one, name, 'heavy')
  await wait(two, 'other', 'other')
  await wait(one, 'light', 'light')
  await time.pass(30_000)
  assert.deepEqual(order, ['light', 'heavy 1', 'heavy 2', 'other', 'heavy 3'])
})

test('the store is away again and again under full demand: still no refusal, and the count goes on where it was', async (t) => {
  const { servers, keepBusy, google, time, store } = setUp(t, 3)
  for (const server of servers) keepBusy(server, 20, () => owner)
  await time.pass(20_000)
  for (let round = 0; round < 3; round++) {
    store.isAway = true
    await time.pass(2_000)
    store.isAway = false
    await time.pass(40_000)
  }
  t.diagnostic(`${google.taken} reads in 2.4 min with three absences, ${google.refused} × 429`)
  assert.equal(google.refused, 0)
  assert.ok(google.taken >= 2.4 * 60 * 0.9, `${google.taken} calls`)
})

test('while the store is away nobody is let through, and afterwards all that was taken before still counts', async (t) => {
  const { servers, take, time, store } = setUp(t, 2)
  const [one, two] = servers
  assert.ok(one && two)
  ;(await take(two)).endCall('answered')
  await time.pass(10)
  for (let at = 0; at < 30; at++) (await take(one)).endCall('answered')
  store.isAway = true
  await assert.rejects(take(two), /away/)
  store.isAway = false
  let given = 0
  const count = () => given++
  for (let at = 0; at < 40; at++) take(two, { allowedMs: 50_000 }).then(count, () => {})
  await time.pass(59_000)
  assert.ok(given > 20 && given <= 60 - 31, `${given} more than the 31 before`)
})

for (const lost of ['the taking', 'the end'] as const) {
  test(`${lost} of a place is written down, but the answer is lost and others go on from it: it counts once at most`, async (t) => {
    const { servers, take, time, store } = setUp(t, 2)
    const [one, two] = servers
    assert.ok(one && two)
    // So many are there at once; then they are given out one by one.
    const atOnce = 31
    const used = lost === 'the end' ? 2 : 1
    if (lost === 'the taking') {
      loseNextAnswer(store)
      await assert.rejects(take(one), /lost/)
    } else {
      const place = await take(one)
      await time.pass(10)
      loseNextAnswer(store)
      place.endCall('answered')
    }
    ;(await take(two)).endCall('answered')
    await time.pass(2_500)
    let given = 0
    for (let at = 0; at < 40; at++) {
      take(two).then(
        () => given++,
        () => {},
      )
    }
    await time.pass(100)
    assert.equal(given, atOnce - used)
  })
}

test('a server that is killed takes the places of its running calls along, for two minutes and no more', async (t) => {
  const { servers, take, keepBusy, google, time } = setUp(t, 2)
  const [killed, left] = servers
  assert.ok(killed && left)
  const running = 20
  for (let at = 0; at < running; at++) await take(killed)
  killed.close()
  keepBusy(left, 20, () => owner)
  const perMinute: number[] = []
  for (let minute = 0; minute < 4; minute++) {
    const before = google.taken
    await time.pass(minuteMs)
    perMinute.push(google.taken - before)
  }
  const [first = 0, second = 0, , last = 0] = perMinute
  t.diagnostic(`${running} calls were running: then ${perMinute} a minute`)
  for (const calls of [first, second])
    assert.ok(calls <= 60 - running && calls >= 60 - running - 4, `${perMinute}`)
  assert.ok(last >= 57, `${perMinute}`)
})

test('what Google refuses to one server is closed for all, for as long as Google says, and one of all tries', async (t) => {
  const { servers, take, time } = setUp(t, 3)
  const [one, two, three] = servers
  assert.ok(one && two && three)
  for (const server of servers) (await take(server)).endCall('answered')
  one.noteRefusal({ subject: owner, kind: 'read', per: 'user', retryAfterMs: 7_000 })
  await time.pass(10)
  const startMs = time.clock.elapsedMs()
  const given: { atMs: number; server: Budget }[] = []
  for (const server of [two, three, two, three]) {
    take(server).then(() => given.push({ atMs: time.clock.elapsedMs() - startMs, server }))
  }
  await time.pass(6_900)
  assert.equal(given.length, 0)
  await time.pass(2_000)
  assert.equal(given.length, 1, 'one tries')
  given[0]?.server.noteAcceptance({ subject: owner, kind: 'read' })
  await time.pass(2_000)
  assert.equal(given.length, 4)
})

for (const per of ['user', 'project'] as const) {
  const whose = per === 'user' ? 'the owner' : 'the project'
  const refusal = { subject: owner, kind: 'read', per } as const

  test(`servers are killed in the middle of calls, then Google refuses ${whose} once: the next call leaves a second later`, async (t) => {
    const { servers, take, time } = setUp(t, 4)
    const [left, ...killed] = servers
    assert.ok(left)
    for (const server of killed) {
      await take(server)
      server.close()
    }
    ;(await take(left)).endCall('answered')
    left.noteRefusal(refusal)
    assert.deepEqual(await takenAfterMs(time, [take(left, { allowedMs: 25_000 })]), [1_000])
  })

  test(`servers are killed one after the other in the middle of their trials (${whose}): each costs two seconds`, async (t) => {
    const { servers, take, time } = setUp(t, 4)
    const [left] = servers
    assert.ok(left)
    ;(await take(left)).endCall('answered')
    left.noteRefusal(refusal)
    await time.pass(10)
    const startMs = time.clock.elapsedMs()
    for (const server of servers.slice(1)) {
      await takenAfterMs(time, [take(server)], 100)
      server.close()
    }
    await takenAfterMs(time, [take(left)], 100)
    assert.ok(time.clock.elapsedMs() - startMs <= 7_500, `${time.clock.elapsedMs() - startMs} ms`)
  })
}

test('the call on trial hangs, because Google is frozen: another one tries every two seconds, and no more', async (t) => {
  const { servers, take, time } = setUp(t, 2)
  const [one, two] = servers
  assert.ok(one && two)
  ;(await take(one)).endCall('answered')
  one.noteRefusal({ subject: owner, kind: 'read', per: 'user' })
  const taken = await takenAfterMs(time, [take(one), take(two), take(one), take(two)])
  assert.deepEqual(
    taken.map((ms) => Math.round(ms / 100) / 10),
    [1, 3, 5, 7],
  )
})

/** When each of these was let through, in order, from now on; all of them must be. */
async function takenAfterMs(
  { clock, pass }: VirtualTime,
  taking: readonly Promise<BudgetPlace>[],
  stepMs = 25_000,
): Promise<number[]> {
  const startMs = clock.elapsedMs()
  const atMs: number[] = []
  const all = taking.map((each) => each.then(() => atMs.push(clock.elapsedMs() - startMs)))
  for (let passed = 0; passed < 25_000 && atMs.length < all.length; passed += stepMs) await pass(stepMs)
  await Promise.all(all)
  return atMs
}

test('a server knows how scarce places are though others took them, and says so at once', async (t) => {
  const { servers, take, time } = setUp(t, 2)
  const [one, two] = servers
  assert.ok(one && two)
  ;(await take(two)).endCall('answered')
  for (let at = 0; at < 59; at++) {
    take(one, { allowedMs: patientMs }).then((place) => place.endCall('answered'))
  }
  await time.pass(57_000)
  assert.equal(two.isTight(owner), true)
  for (let at = 0; at < 100; at++) take(one, { allowedMs: patientMs }).catch(() => {})
  await time.pass(2_000)
  assert.ok(two.opensInMs({ subject: owner, kind: 'read' }) > 0)
  // The first come back one after the other; a hundred others were there before.
  await assert.rejects(take(two, { allowedMs: 100 }), ProviderFailure)
})

function loseNextAnswer(registers: MemoryRegisters): void {
  const { swapRegister } = registers
  registers.swapRegister = async (...given) => {
    registers.swapRegister = swapRegister
    await swapRegister(...given)
    throw new Error('lost')
  }
}

interface TakeWish {
  subject?: string
  isUrgent?: boolean
  accountId?: string
  allowedMs?: number
}

function setUp(t: TestContext, count: number) {
  const time = createVirtualTime()
  // Its clock is another one.
  const store = createMemoryRegisters(time.clock, 40_000)
  const { clock, timers } = time
  const servers = Array.from({ length: count }, () =>
    createGoogleBudget({
      timers,
      observe: () => {},
      random: () => 1,
      limits: googleRations,
      share: (name, form) =>
        createRegisterValue({ name, form, registers: store, clock, after: timers.after }),
    }),
  )
  t.after(() => {
    for (const server of servers) server.close()
  })
  const quotas = createQuotas(time.clock.nowMs)
  const google = { taken: 0, refused: 0 }

  async function take(
    server: Budget,
    { subject = owner, isUrgent = false, accountId = '', allowedMs = 15_000 }: TakeWish = {},
  ): Promise<BudgetPlace> {
    const deadline = createDeadline(time.clock, time.timers, allowedMs)
    try {
      return await server.take({ subject, kind: 'read', isUrgent, accountId, deadline })
    } finally {
      deadline.end()
    }
  }

  /** So many clients who ask again as soon as they have an answer, and whoever is told to wait does. */
  function keepBusy(server: Budget, clients: number, ownerOf: (client: number) => string) {
    const counted = { calls: 0 }
    const call = async (subject: string): Promise<void> => {
      const place = await take(server, { subject, allowedMs: patientMs }).catch(() => null)
      if (!place) {
        if (store.isAway) time.timers.after(500, () => call(subject))
        return
      }
      time.timers.after(100, () => {
        const refused = quotas.take({ kind: 'read', user: subject, projectNumber: '1' }, googleLimits)
        if (refused) google.refused++
        else google.taken++
        counted.calls++
        time.timers.after(200, () => {
          place.endCall('answered')
          call(subject)
        })
      })
    }
    for (let client = 0; client < clients; client++) call(ownerOf(client))
    return counted
  }

  return { time, store, servers, google, take, keepBusy }
}
