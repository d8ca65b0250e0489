import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import fc from 'fast-check'
import { createMovableClock } from '../clock.ts'
import { StoreFailure } from '../errors.ts'
import { createQuota, type QuotaAccount } from './quota.ts'

const startMs = Date.UTC(2026, 10, 15, 9, 30)
const anchorMs = Date.UTC(2026, 0, 31)
const cycleStartMs = Date.UTC(2026, 9, 31)
const cycleEndMs = Date.UTC(2026, 10, 30)
const account = { id: 'acc', anchorMs }

test('a thousand reservations are charged in blocks: few writes, and small ones when little is left', async (t) => {
  const { store, quota } = start(t)
  for (let n = 0; n < 1_000; n++) assert.equal((await quota.reserve(account, 100_000)).isAdmitted, true)
  assert.ok(store.calls.length <= 10, `${store.calls.length} writes for 1,000 reservations`)
  const many = store.calls.length

  const small = { id: 'small', anchorMs }
  for (let n = 0; n < 1_000; n++) assert.equal((await quota.reserve(small, 1_000)).isAdmitted, true)
  const blocks = store.calls.slice(many)
  assert.ok(blocks.length < 300, `${blocks.length} writes for a month of 1,000`)
  assert.ok(Math.max(...blocks) <= 20, 'a block is at most a fiftieth of what is left')
  assert.deepEqual(blocks.slice(-10), new Array(10).fill(1), 'the last ones go out one by one')
  assert.equal((await quota.reserve(small, 1_000)).isAdmitted, false)
})

test('what is left counts down to 0, and the month ends when it should', async (t) => {
  const { quota } = start(t)
  const states = []
  for (let n = 0; n < 4; n++) states.push((await quota.reserve(account, 3)).state)
  assert.deepEqual(
    states.map(({ remaining }) => remaining),
    [2, 1, 0, 0],
  )
  for (const { limit, resetAtMs } of states) assert.deepEqual([limit, resetAtMs], [3, cycleEndMs])
})

test('what is released can be used again, once, and only if it was held', async (t) => {
  const { quota } = start(t)
  const first = await quota.reserve(account, 1)
  const refused = await quota.reserve(account, 1)
  assert.deepEqual([first.isAdmitted, refused.isAdmitted], [true, false])
  refused.release()
  assert.equal((await quota.reserve(account, 1)).isAdmitted, false, 'a refusal held nothing')
  first.release()
  first.release()
  assert.equal((await quota.reserve(account, 1)).isAdmitted, true)
  assert.equal((await quota.reserve(account, 1)).isAdmitted, false, 'released twice counts once')
})

test('however many ask at once, exactly the limit is admitted, by one process or by three', async (t) => {
  for (const processes of [1, 3]) {
    const { store, another } = start(t)
    const quotas = Array.from({ length: processes }, another)
    const asked = Array.from({ length: 700 }, (_, n) => pick(quotas, n).reserve(account, 230))
    const admitted = (await Promise.all(asked)).filter(({ isAdmitted }) => isAdmitted)
    assert.equal(admitted.length, 230, `${processes} processes`)
    assert.equal(store.chargedIn(cycleStartMs), 230)
  }
})

test('accounts do not know each other', async (t) => {
  const { quota } = start(t)
  assert.equal((await quota.reserve(account, 1)).isAdmitted, true)
  assert.equal((await quota.reserve(account, 1)).isAdmitted, false)
  assert.equal((await quota.reserve({ id: 'other', anchorMs }, 1)).isAdmitted, true)
})

test('a new month starts in full; what the old one had left over is given back to it', async (t) => {
  const { store, quota, clock } = start(t)
  clock.advanceMs(cycleEndMs - startMs - 1)
  const last = await quota.reserve(account, 500)
  const held = await quota.reserve(account, 500)
  assert.equal(last.state.resetAtMs, cycleEndMs)
  assert.equal(store.chargedIn(cycleStartMs), 10, 'a block')
  clock.advanceMs(1)
  const first = await quota.reserve(account, 500)
  assert.equal(first.state.remaining, 499)
  assert.equal(first.state.resetAtMs, Date.UTC(2026, 11, 31))
  assert.equal(store.chargedIn(cycleStartMs), 2, 'two were reserved in the old month')
  held.release()
  assert.equal((await quota.reserve(account, 500)).state.remaining, 498, 'it was not of this month')
})

test('a month that was used up is over at its end, not before', async (t) => {
  const { quota, clock } = start(t)
  await quota.reserve(account, 1)
  clock.advanceMs(cycleEndMs - startMs - 1)
  assert.equal((await quota.reserve(account, 1)).isAdmitted, false)
  clock.advanceMs(1)
  assert.equal((await quota.reserve(account, 1)).isAdmitted, true)
})

test('a lowered limit holds for the next reservation, a raised one too', async (t) => {
  const { quota } = start(t)
  for (let n = 0; n < 5; n++) await quota.reserve(account, 1_000)
  const refused = await quota.reserve(account, 5)
  assert.deepEqual([refused.isAdmitted, refused.state.remaining], [false, 0])
  assert.equal((await quota.reserve(account, 6)).isAdmitted, true)
  assert.equal((await quota.reserve(account, 6)).isAdmitted, false)
  assert.equal((await quota.reserve(account, 1_000)).state.remaining, 993)
})

test('a lowered limit holds for what was charged before it, also if another process used it up', async (t) => {
  const { quota, another, store } = start(t)
  assert.equal((await quota.reserve(account, 1_000)).isAdmitted, true)
  const other = another()
  for (let n = 0; n < 600; n++) assert.equal((await other.reserve(account, 1_000)).isAdmitted, true)
  const refused = await quota.reserve(account, 500)
  assert.deepEqual([refused.isAdmitted, refused.state.remaining], [false, 0])
  await other.close()
  assert.equal(store.chargedIn(cycleStartMs), 601)
  assert.equal((await quota.reserve(account, 602)).isAdmitted, true)
})

test('a store that fails is the answer to those who wait for it; the next try works', async (t) => {
  const { store, quota } = start(t)
  store.failNext = true
  const outcomes = await Promise.allSettled([quota.reserve(account, 3), quota.reserve(account, 3)])
  for (const outcome of outcomes) {
    assert.ok(outcome.status === 'rejected' && outcome.reason instanceof StoreFailure)
  }
  const admitted = await Promise.all(Array.from({ length: 5 }, () => quota.reserve(account, 3)))
  assert.equal(admitted.filter(({ isAdmitted }) => isAdmitted).length, 3, 'the failure cost nothing')
})

test('a failure in the middle of a block is not noticed', async (t) => {
  const { store, quota } = start(t)
  await quota.reserve(account, 1_000)
  store.failNext = true
  for (let n = 1; n < 20; n++) assert.equal((await quota.reserve(account, 1_000)).isAdmitted, true)
  await assert.rejects(async () => quota.reserve(account, 1_000), StoreFailure)
  assert.equal((await quota.reserve(account, 1_000)).state.remaining, 979)
})

test('a process that ends gives back what it did not use', async (t) => {
  const { store, quota } = start(t)
  const released = await quota.reserve(account, 1_000)
  for (let n = 0; n < 6; n++) await quota.reserve(account, 1_000)
  await quota.reserve({ id: 'other', anchorMs }, 1_000)
  released.release()
  assert.equal(store.chargedIn(cycleStartMs), 20)
  await quota.close()
  assert.equal(store.chargedIn(cycleStartMs), 6)
  assert.equal(store.chargedIn(cycleStartMs, 'other'), 1)
})

test('what nobody asked for in a while goes back, so that another process can serve it', async (t) => {
  t.mock.timers.enable({ apis: ['setInterval'] })
  const { store, quota, another } = start(t)
  const other = another()
  await other.reserve(account, 1_000)
  const slow = await other.reserve(account, 1_000)
  while ((await quota.reserve(account, 1_000)).isAdmitted);
  assert.equal(store.chargedIn(cycleStartMs), 1_000)
  await passMs(t, 2_000)
  assert.equal(store.chargedIn(cycleStartMs), 982)
  const rest = []
  for (let n = 0; n < 30; n++) rest.push(await quota.reserve(account, 1_000))
  assert.equal(rest.filter(({ isAdmitted }) => isAdmitted).length, 18)
  slow.release()
  await passMs(t, 2_000)
  assert.equal((await quota.reserve(account, 1_000)).isAdmitted, true, 'also what is released late')
})

test('who is asked all the time keeps the block', async (t) => {
  t.mock.timers.enable({ apis: ['setInterval'] })
  const { store, quota } = start(t)
  for (let n = 0; n < 10; n++) {
    await quota.reserve(account, 1_000)
    await passMs(t, 1_000)
  }
  assert.equal(store.calls.length, 1)
})

test('a store that fails while something goes back is not a malfunction; the month is charged, never free', async (t) => {
  t.mock.timers.enable({ apis: ['setInterval'] })
  const { store, quota } = start(t)
  await quota.reserve(account, 1_000)
  store.failNext = true
  await passMs(t, 2_000)
  assert.equal(store.chargedIn(cycleStartMs), 20)
  assert.equal((await quota.reserve(account, 1_000)).isAdmitted, true)
})

test('any order of requests, limits, stops and kills: one process is exact, several never serve too much', async (t) => {
  const step = fc.oneof(
    { weight: 20, arbitrary: fc.record({ do: fc.constant('serve' as const), by: fc.nat(2) }) },
    { weight: 6, arbitrary: fc.record({ do: fc.constant('fail' as const), by: fc.nat(2) }) },
    { weight: 3, arbitrary: fc.record({ do: fc.constant('burst' as const), by: fc.nat(2) }) },
    {
      weight: 2,
      arbitrary: fc.record({ do: fc.constant('limit' as const), by: fc.integer({ min: 1, max: 300 }) }),
    },
    { weight: 1, arbitrary: fc.record({ do: fc.constant('stop' as const), by: fc.nat(2) }) },
    { weight: 1, arbitrary: fc.record({ do: fc.constant('kill' as const), by: fc.nat(2) }) },
  )
  let steps = 0
  const seed = 20261115
  for (const processes of [1, 3]) {
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 50, maxLength: 250, size: 'max' }), async (plan) => {
        const { store, another } = start(t)
        const quotas = Array.from({ length: processes }, another)
        let limit = 120
        let served = 0
        let mayBeLost = 0
        const blockOfAll = 6
        for (const { do: what, by } of plan) {
          steps++
          const at = by % processes
          if (what === 'limit') limit = by
          else if (what === 'stop' || what === 'kill') {
            if (what === 'stop') await pick(quotas, at).close()
            else mayBeLost += blockOfAll
            quotas[at] = another()
          } else {
            const asked = what === 'burst' ? 15 : 1
            const answers = await Promise.all(
              Array.from({ length: asked }, () => pick(quotas, at).reserve(account, limit)),
            )
            const admitted = answers.filter(({ isAdmitted }) => isAdmitted)
            const room = Math.max(0, limit - served)
            assert.ok(admitted.length <= room, 'never more than the limit')
            if (processes === 1) assert.ok(admitted.length >= Math.min(asked, room - mayBeLost), 'all of it')
            if (what === 'fail') for (const { release } of admitted) release()
            else served += admitted.length
          }
          const lost = store.chargedIn(cycleStartMs) - served
          assert.ok(lost >= 0 && lost <= mayBeLost + processes * blockOfAll, `charged ${lost} too many`)
        }
      }),
      { numRuns: 40, seed },
    )
  }
  process.stdout.write(`quota: ${steps} steps against the model, seed ${seed}\n`)
})

function start(t: TestContext) {
  const clock = createMovableClock(startMs)
  const store = createFakeStore()
  function another() {
    const quota = createQuota(store, clock)
    t.after(() => quota.close())
    return {
      ...quota,
      reserve: (of: Omit<QuotaAccount, 'nowMs'>, limit: number) =>
        quota.reserve({ ...of, nowMs: clock.nowMs() }, limit),
    }
  }
  return { store, clock, quota: another(), another }
}

/** Takes a turn of the event loop for each answer, like a real one. */
function createFakeStore() {
  const charged = new Map<string, number>()
  const name = (accountId: string, monthMs: number) => `${accountId} ${monthMs}`
  const store = {
    /** What was granted, call by call. */
    calls: [] as number[],
    failNext: false,
    chargedIn: (monthMs: number, accountId = account.id) => charged.get(name(accountId, monthMs)) ?? 0,
    async chargeAhead(accountId: string, monthMs: number, limit: number, wanted: number) {
      await turn()
      const before = store.chargedIn(monthMs, accountId)
      const granted = Math.min(wanted, Math.max(0, limit - before))
      charged.set(name(accountId, monthMs), before + granted)
      if (granted > 0) store.calls.push(granted)
      return { granted, charged: before + granted }
    },
    async refundCharge(accountId: string, monthMs: number, unused: number) {
      await turn()
      charged.set(name(accountId, monthMs), store.chargedIn(monthMs, accountId) - unused)
    },
  }
  async function turn(): Promise<void> {
    await new Promise(setImmediate)
    if (!store.failNext) return
    store.failNext = false
    throw new StoreFailure('The test said so')
  }
  return store
}

/** Moves the timers, and lets what they began come to its end. */
async function passMs(t: TestContext, ms: number): Promise<void> {
  for (let passed = 0; passed < ms; passed += 1_000) {
    t.mock.timers.tick(1_000)
    for (let n = 0; n < 3; n++) await new Promise(setImmediate)
  }
}

function pick<T>(items: readonly T[], at: number): T {
  const item = items[at % items.length]
  if (item === undefined) throw new Error('There is none')
  return item
}
