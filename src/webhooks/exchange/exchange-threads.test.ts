import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { createExchangeThreads } from './exchange-threads.ts'

const wish = { url: 'https://hook.example/', addresses: [], headers: {}, body: '{}' }
const never = new AbortController().signal

/** Threads that answer when the test lets them. */
function start(t: TestContext) {
  t.mock.timers.enable({ apis: ['setInterval'] })
  let nowMs = 0
  const threads: { exchanges: string[]; isStuck: boolean; let(): void }[] = []
  const pool = createExchangeThreads({
    elapsedMs: () => nowMs,
    start() {
      const ends: (() => void)[] = []
      const answers: (() => void)[] = []
      const thread = {
        exchanges: [] as string[],
        isStuck: false,
        let() {
          thread.isStuck = false
          for (const tell of [...answers.splice(0), ...ends.splice(0)]) tell()
        },
      }
      threads.push(thread)
      return {
        exchange({ body }) {
          thread.exchanges.push(body)
          return new Promise((resolve) => ends.push(() => resolve({ failure: body })))
        },
        answered: () =>
          thread.isStuck ? new Promise((resolve) => answers.push(resolve)) : Promise.resolve(),
        close: async () => {},
      }
    },
  })
  return {
    threads,
    send: (accountId: string) => pool.exchange(accountId, { ...wish, body: accountId }, never),
    async pass(ms: number) {
      for (let passed = 0; passed < ms; passed += 250) {
        nowMs += 250
        t.mock.timers.tick(250)
        await new Promise(setImmediate)
      }
    },
  }
}

test('one thread does as long as nobody keeps it from its work', async (t) => {
  const { threads, send, pass } = start(t)
  for (const accountId of ['acc_1', 'acc_2', 'acc_3']) {
    void send(accountId)
    await pass(1_000)
  }
  assert.deepEqual(
    threads.map(({ exchanges }) => exchanges),
    [['acc_1', 'acc_2', 'acc_3']],
  )
})

test('where one account keeps a thread from its work, others go to another, and the account stays where it is', async (t) => {
  const { threads, send, pass } = start(t)
  void send('hostile')
  const [first] = threads
  assert.ok(first)
  first.isStuck = true
  await pass(500)
  void send('victim')
  void send('hostile')
  assert.deepEqual(
    threads.map(({ exchanges }) => exchanges),
    [['hostile', 'hostile'], ['victim']],
  )
})

test('those who do so again and again have a thread together, for a while', async (t) => {
  const { threads, send, pass } = start(t)
  for (let time = 0; time < 3; time++) {
    for (const accountId of ['hostile 1', 'hostile 2', 'hostile 3']) {
      void send(accountId)
      for (const thread of threads) thread.isStuck = true
      await pass(500)
    }
    await pass(1_000)
    for (const thread of threads) thread.let()
    await pass(500)
  }
  const before = threads.length
  for (const accountId of ['hostile 1', 'hostile 2', 'hostile 3']) void send(accountId)
  assert.equal(threads.length, before + 1)
  assert.deepEqual(threads.at(-1)?.exchanges, ['hostile 1', 'hostile 2', 'hostile 3'])
  void send('victim')
  assert.ok(!threads.at(-1)?.exchanges.includes('victim'))
  threads.at(-1)?.let()
  await pass(11 * 60_000)
  void send('hostile 1')
  assert.equal(threads.at(-1)?.exchanges.length, 3, 'it is forgotten')
})
