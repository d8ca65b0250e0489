import assert from 'node:assert/strict'
import { once } from 'node:events'
import { getPriority } from 'node:os'
import { type TestContext, test } from 'node:test'
import { Worker } from 'node:worker_threads'
import { systemClock } from '../../clock.ts'
import type { ThreadJob } from './thread-jobs.ts'
import { createThreadPool, type ThreadDoor } from './thread-pool.ts'
import type { ThreadSource } from './threads.ts'

const large = 1024 * 1024

test('whatever the work, it is done by the same few threads', async (t) => {
  const { reading, writing } = start(t)
  const done = await Promise.all(
    [reading, writing].flatMap((door) =>
      Array.from({ length: 12 }, (_, n) => run(door, `acc_${n}`, n % 2 ? 1 : large, tellThread)),
    ),
  )
  const idsOf = (isLarge: boolean) =>
    new Set(done.filter((_, n) => (n % 2 === 0) === isLarge).map(({ threadId }) => threadId))
  assert.equal(idsOf(false).size, 2)
  assert.equal(idsOf(true).size, 1)
  assert.ok(!idsOf(false).isSupersetOf(idsOf(true)), 'nothing large comes to the short ones')
})

test('at the threads accounts take turns, whichever door they come by', async (t) => {
  const { reading, writing } = start(t)
  const order: string[] = []
  const one = (door: ThreadDoor, accountId: string, name: string) =>
    run(door, accountId, large, tellThread).then(() => order.push(name))
  await Promise.all([
    one(reading, 'acc_1', 'first of 1'),
    ...Array.from({ length: 4 }, (_, n) => one(reading, 'acc_1', `more of 1: ${n}`)),
    one(writing, 'acc_2', 'write of 2'),
    one(reading, 'acc_3', 'read of 3'),
  ])
  assert.deepEqual(order.slice(0, 3).sort(), ['first of 1', 'read of 3', 'write of 2'])
})

test('what goes on with something large in memory goes before what has yet to begin', async (t) => {
  const { reading } = start(t)
  const order: string[] = []
  const one = (name: string, isGoingOn = false) =>
    run(reading, 'acc_1', large, tellThread, { isGoingOn }).then(() => order.push(name))
  await Promise.all([one('first'), one('second'), one('third'), one('going on', true)])
  assert.deepEqual(order, ['first', 'going on', 'second', 'third'])
})

test('where a thread is lost, another is ready, and nobody waits for it to start', {
  timeout: 20_000,
}, async (t) => {
  const { reading } = start(t)
  // With both in use at once, a third one is made ready; it has time to come up.
  await Promise.all(['acc_1', 'acc_2'].map((accountId) => run(reading, accountId, 1, waitFor(300))))
  // Threads are numbered as they are started.
  const later = new Worker('', { eval: true })
  const laterId = later.threadId
  await once(later, 'exit')
  const lost = ['acc_1', 'acc_2'].map((accountId) => run(reading, accountId, 20_000, keepBusyFor(700)))
  const { threadId } = await run(reading, 'acc_3', 1, tellThread)
  assert.ok(threadId < laterId, `thread ${threadId} was started after thread ${laterId}`)
  await Promise.all(lost)
})

test('who asks and leaves again and again costs few threads, and is not waited for', async (t) => {
  let started = 0
  const { reading } = start(t, {
    start(script, options) {
      started++
      return new Worker(script, options)
    },
    takeBack: (worker) => worker.terminate(),
  })
  await run(reading, 'acc_1', large, tellThread)
  const untilMs = performance.now() + 1_500
  while (performance.now() < untilMs) {
    const leaving = new AbortController()
    setTimeout(() => leaving.abort(new Error('left')), 20)
    await assert.rejects(run(reading, 'acc_1', large, keepBusyFor(60_000), { left: leaving.signal }), /left/)
  }
  assert.ok(started >= 2, 'what nobody waits for is not done to its end')
  assert.ok(started <= 5, `${started} threads were started`)
  // The account itself waits for a moment, others do not.
  const order: string[] = []
  const one = (accountId: string, left?: AbortSignal) =>
    run(reading, accountId, large, tellThread, left && { left }).then(() => order.push(accountId))
  const leaving = new AbortController()
  setTimeout(() => leaving.abort(new Error('left')), 1_500)
  await assert.rejects(run(reading, 'acc_1', large, keepBusyFor(60_000), { left: leaving.signal }), /left/)
  await Promise.all([one('acc_1', new AbortController().signal), one('acc_2')])
  assert.deepEqual(order, ['acc_2', 'acc_1'])
})

test('who has left before it begins costs no thread', async (t) => {
  const { reading } = start(t)
  const { threadId } = await run(reading, 'acc_1', large, tellThread)
  const leaving = new AbortController()
  const turn = reading.turnOf('acc_1', leaving.signal)
  await turn.begin(large)
  leaving.abort(new Error('left'))
  await assert.rejects(turn.run(tellThread, null, []), /left/)
  turn.end()
  assert.equal((await run(reading, 'acc_1', large, tellThread)).threadId, threadId)
})

test('those who answer go before threads, and short work before large', {
  skip: process.platform === 'linux' ? false : 'threads have a priority of their own on Linux alone',
}, async (t) => {
  const { reading } = start(t)
  const here = getPriority()
  const [short, long] = [
    await run(reading, 'acc', 1, tellThread),
    await run(reading, 'acc', large, tellThread),
  ]
  assert.equal(getPriority(), here, 'this thread is as it was')
  assert.ok(here < short.priority && short.priority < long.priority, JSON.stringify([here, short, long]))
})

interface Told {
  threadId: number
  priority: number
}

const tellThread = jobOf('')
const waitFor = (ms: number) => jobOf(`await new Promise((done) => setTimeout(done, ${ms}))`)
const keepBusyFor = (ms: number) => jobOf(`const end = Date.now() + ${ms}; while (Date.now() < end);`)

function jobOf(work: string): ThreadJob<null, Told> {
  const source = `import { threadId } from 'node:worker_threads'
    import { getPriority } from 'node:os'
    export async function tell() {
      ${work}
      return { reply: { threadId, priority: getPriority() }, handOver: [] }
    }`
  return { module: `data:text/javascript,${encodeURIComponent(source)}`, name: 'tell' }
}

async function run(
  door: ThreadDoor,
  accountId: string,
  bytes: number,
  job: ThreadJob<null, Told>,
  { isGoingOn = false, left }: { isGoingOn?: boolean; left?: AbortSignal } = {},
): Promise<Told> {
  const turn = door.turnOf(accountId, left)
  try {
    await turn.begin(bytes, isGoingOn)
    return (await turn.run(job, null, [])).reply
  } finally {
    turn.end()
  }
}

function start(t: TestContext, source?: ThreadSource) {
  const pool = createThreadPool({ clock: systemClock, observe: () => {}, source })
  t.after(() => pool.close())
  const ofAccount = { placesOfAccount: 1, waitingOfAccount: 100 }
  return {
    reading: pool.openDoor({ share: 'decoding_waiting', ...ofAccount }),
    writing: pool.openDoor({ share: 'editing_at_once', ...ofAccount }),
  }
}
