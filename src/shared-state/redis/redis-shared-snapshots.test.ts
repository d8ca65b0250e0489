import assert from 'node:assert/strict'
import { after, before, type TestContext, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { findRedis, startRedis } from '../../../test/servers/redis.ts'
import { connectRedis } from './redis.ts'
import { createRedisSharedSnapshots } from './redis-shared-snapshots.ts'

const skip = findRedis() ? false : 'Redis is not on this machine'
const minuteMs = 60_000
let server: Awaited<ReturnType<typeof startRedis>> | null = null
let names = 0

before(async () => {
  if (!skip) server = await startRedis()
})
after(() => server?.stop())

test('of any number of instances one is told to read, and the others to wait', { skip }, async (t) => {
  const { instances, name } = await setUp(t, 5)
  const answers = await Promise.all(instances.map((shared) => shared.ask(name, minuteMs, minuteMs)))
  assert.equal(answers.filter((answer) => answer !== 'wait' && 'turn' in answer).length, 1)
  assert.equal(answers.filter((answer) => answer === 'wait').length, 4)
})

test('what was put there is had by all, with its age, until it is too old', { skip }, async (t) => {
  const { instances, name } = await setUp(t, 2)
  const [one, two] = instances
  assert.ok(one && two)
  const bytes = Buffer.from([0, 1, 2, 250, 251, 255])
  await one.put(name, bytes, 4_000, minuteMs)
  const answer = await two.ask(name, 30_000, minuteMs)
  assert.ok(answer !== 'wait' && 'copy' in answer)
  assert.deepEqual(Buffer.from(answer.copy), bytes)
  assert.ok(answer.ageMs >= 4_000 && answer.ageMs < 10_000, String(answer.ageMs))
  const tooOld = await two.ask(name, 3_000, minuteMs)
  assert.ok(tooOld !== 'wait' && 'turn' in tooOld)
})

test('an older read does not take the place of a newer one', { skip }, async (t) => {
  const { instances, name } = await setUp(t, 1)
  const [one] = instances
  assert.ok(one)
  await one.put(name, Buffer.from('new'), 0, minuteMs)
  await one.put(name, Buffer.from('old'), 5_000, minuteMs)
  const answer = await one.ask(name, minuteMs, minuteMs)
  assert.ok(answer !== 'wait' && 'copy' in answer)
  assert.equal(Buffer.from(answer.copy).toString(), 'new')
})

test('a turn ends when its holder says so, or when its time is over; not by another', { skip }, async (t) => {
  const { instances, name } = await setUp(t, 2)
  const [one, two] = instances
  assert.ok(one && two)
  const first = await one.ask(name, minuteMs, minuteMs)
  assert.ok(first !== 'wait' && 'turn' in first)
  await two.endTurn(name, 'of another')
  assert.equal(await two.ask(name, minuteMs, minuteMs), 'wait')
  await one.endTurn(name, first.turn)
  const second = await two.ask(name, minuteMs, 30)
  assert.ok(second !== 'wait' && 'turn' in second)
  await sleep(60)
  assert.notEqual(await one.ask(name, minuteMs, minuteMs), 'wait')
})

test('while Redis is away every question fails at once', { skip }, async (t) => {
  const own = await startRedis()
  t.after(() => own.stop())
  const redis = connectRedis(own.url, () => {})
  t.after(() => redis.close())
  await redis.settled
  const shared = createRedisSharedSnapshots(redis)
  await shared.put('a', Buffer.from('x'), 0, minuteMs)
  await own.kill()
  await sleep(50)
  const begunMs = performance.now()
  await assert.rejects(shared.ask('a', minuteMs, minuteMs))
  assert.ok(performance.now() - begunMs < 500)
})

async function setUp(t: TestContext, count: number) {
  const instances = []
  for (let n = 0; n < count; n++) {
    const redis = connectRedis(server?.url ?? '', () => {})
    t.after(() => redis.close())
    await redis.settled
    instances.push(createRedisSharedSnapshots(redis))
  }
  return { instances, name: `sheet ${++names}` }
}
