import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Refusal } from '../../errors.ts'
import { OutcomeUnknown, ProviderFailure } from '../provider-failure.ts'
import { createLane, type Entered, type LaneTurn, writeDeadlineMs } from './lane.ts'
import type { WriteAnswer, WriteOrder } from './order.ts'
import type { QueuedWrite } from './queued-write.ts'

const done: WriteAnswer = { kind: 'updated', rowNumber: 2, rowJson: '{}' }

test('orders go one batch after the other, in the order in which they came', async () => {
  const { lane, work } = start()
  const answers = ['a', 'b', 'c', 'd'].map((claim) => entered(lane.enter(order(claim))))
  await work(['a', 'b'], (batch) => {
    for (const waiting of batch) waiting.answer(done)
  })
  const late = entered(lane.enter(order('e')))
  await work(['c', 'd'], (batch) => {
    for (const waiting of batch) waiting.answer(done)
  })
  await work(['e'], ([waiting]) => waiting?.answer(done))
  assert.equal((await Promise.all([...answers, late].map(({ answered }) => answered))).length, 5)
  await lane.idle()
})

test('who comes in one of the next turns of the loop goes along, and nobody is waited for when nobody comes', async () => {
  const { lane, work } = start(undefined, turn)
  const answers = [entered(lane.enter(order('a')))]
  await turn()
  answers.push(entered(lane.enter(order('b'))))
  await work(['a', 'b'], (batch) => {
    for (const waiting of batch) waiting.answer(done)
  })
  answers.push(entered(lane.enter(order('c'))))
  await work(['c'], ([waiting]) => waiting?.answer(done))
  assert.equal((await Promise.all(answers.map(({ answered }) => answered))).length, 3)
  await lane.idle()
})

test('what a dead process left goes before what waits', async () => {
  const { lane, work } = start()
  const held = Promise.withResolvers<void>()
  const { answered } = entered(lane.enter(order('a')))
  lane.hold(() => held.promise)
  const settled: string[] = []
  void answered.then(() => settled.push('order'))
  await turn()
  assert.equal(settled.length, 0)
  settled.push('held')
  held.resolve()
  await work(['a'], ([waiting]) => waiting?.answer(done))
  await turn()
  assert.deepEqual(settled, ['held', 'order'])
})

test('who holds a lane whose turn does not come is told why', async () => {
  const why = new Error('the store takes no writes')
  for (const begin of [() => Promise.reject(why), async () => false]) {
    const { lane } = start({ begin, async pass() {}, async end() {} })
    const told = Promise.withResolvers<unknown>()
    lane.hold(() => assert.fail('it has no turn'), told.resolve)
    const reason = await told.promise
    assert.ok(reason === why || (reason instanceof ProviderFailure && /closing/.test(reason.message)))
    await lane.idle()
  }
})

test('200 orders may wait, and 64 MiB; whoever comes then is refused at once', async () => {
  const { lane } = start()
  entered(lane.enter(order('working')))
  await turn()
  await turn()
  for (let n = 0; n < 200; n++) entered(lane.enter(order(`${n}`)))
  const refused = lane.enter(order('too many'))
  assert.ok(refused instanceof Refusal)
  assert.deepEqual([refused.code, refused.facts.retryAfterSeconds], ['service_unavailable', 1])

  const other = start()
  entered(other.lane.enter(order('working')))
  await turn()
  await turn()
  for (let n = 0; n < 32; n++) entered(other.lane.enter({ ...order(`${n}`), bytes: 2 * 1024 * 1024 }))
  assert.ok(other.lane.enter({ ...order('too large'), bytes: 1 }) instanceof Refusal)
})

test('what visitors of pages have sent waits beside that: half as much, and nobody else is refused for it', async () => {
  const { lane } = start()
  entered(lane.enter(order('working')))
  await turn()
  await turn()
  const ofVisitor = (n: number, bytes = 0) => ({ ...order(`visitor ${n}`), isForVisitors: true, bytes })
  for (let n = 0; n < 100; n++) entered(lane.enter(ofVisitor(n)))
  assert.ok(lane.enter(ofVisitor(100)) instanceof Refusal)
  for (let n = 0; n < 200; n++) entered(lane.enter(order(`${n}`)))

  const other = start()
  entered(other.lane.enter(order('working')))
  await turn()
  await turn()
  entered(other.lane.enter(ofVisitor(0, 32 * 1024 * 1024)))
  assert.ok(other.lane.enter(ofVisitor(1, 1)) instanceof Refusal)
  entered(other.lane.enter({ ...order('own'), bytes: 64 * 1024 * 1024 }))
})

test('what its key took of the time of a write is gone', async () => {
  const { lane, passMs } = start()
  const { answered } = entered(lane.enter({ ...order('late'), waitedMs: 9_000 }))
  const { answered: inTime } = entered(lane.enter(order('in time')))
  passMs(writeDeadlineMs - 9_000)
  assert.ok((await answered) instanceof Refusal)
  assert.equal(await Promise.race([inTime, turn().then(() => 'waits')]), 'waits')
  passMs(9_000)
  assert.ok((await inTime) instanceof Refusal)
})

test('whoever still waits after 25 s is told that nothing was written, and its key is free by then', async () => {
  const { lane, freed, passMs, work } = start()
  entered(lane.enter(order('first')))
  await turn()
  await turn()
  const { answered } = entered(lane.enter(order('second')))
  passMs(writeDeadlineMs)
  const refused = await answered
  assert.ok(refused instanceof Refusal)
  assert.equal(refused.code, 'service_unavailable')
  assert.match(refused.facts.details ?? '', /nothing was written/)
  assert.deepEqual(freed, ['first', 'second'], 'the one at work was not sent either')
  await work(['first'], ([waiting]) => assert.equal(waiting?.isOpen, false))
  await lane.idle()
})

test('whoever was sent is told after 25 s that the outcome is unknown, and what to do', async () => {
  for (const [claim, advice] of [
    ['key', /unknown.*retry with the same Idempotency-Key/],
    [null, /unknown.*Read the sheet before you try again/],
  ] as const) {
    const { lane, freed, passMs, work } = start()
    const { answered } = entered(lane.enter(order(claim)))
    const outcome = assert.rejects(answered, (error: unknown) => {
      assert.ok(error instanceof OutcomeUnknown)
      assert.match(error.facts.details ?? '', advice)
      return true
    })
    await work([claim], ([waiting]) => {
      assert.ok(waiting)
      waiting.isSending = true
      passMs(writeDeadlineMs)
      waiting.answer(done)
    })
    await outcome
    assert.deepEqual(freed, [], 'its key is not free')
  }
})

function start(
  laneTurn: LaneTurn = { begin: async () => true, async pass() {}, async end() {} },
  nextLoopTurn?: () => Promise<void>,
) {
  const timers: { atMs: number; work: (() => void) | null }[] = []
  let nowMs = 0
  const freed: (string | null)[] = []
  const batches: { batch: readonly QueuedWrite[]; end: () => void }[] = []
  const lane = createLane({
    timers: {
      after(delayMs, work) {
        const timer: (typeof timers)[number] = { atMs: nowMs + delayMs, work }
        timers.push(timer)
        return () => {
          timer.work = null
        }
      },
    },
    ...(nextLoopTurn && { nextLoopTurn }),
    batchLength: (waiting) => Math.min(2, waiting.length),
    work: (batch) => new Promise((resolve) => void batches.push({ batch, end: resolve })),
    async free({ claim }) {
      freed.push(claim)
    },
    turn: laneTurn,
    onIdle() {},
  })

  return {
    lane,
    freed,
    passMs(byMs: number) {
      nowMs += byMs
      for (const timer of timers) if (timer.atMs <= nowMs) timer.work?.()
    },
    async work(claims: (string | null)[], then: (batch: readonly QueuedWrite[]) => void) {
      while (batches.length === 0) await turn()
      const { batch = [], end } = batches.shift() ?? {}
      assert.deepEqual(
        batch.map(({ order }) => order.claim),
        claims,
      )
      then(batch)
      end?.()
    },
  }
}

function order(claim: string | null): WriteOrder {
  return {
    sheet: { id: 'sheet', writeSeq: 0 },
    accountId: 'account',
    wish: { kind: 'add', rows: [] },
    claim,
    bytes: 10,
    stillAdmitted: async () => null,
  }
}

function entered(outcome: Entered | Refusal): Entered {
  assert.ok(!(outcome instanceof Refusal))
  outcome.answered.catch(() => {})
  return outcome
}

function turn(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve))
}
