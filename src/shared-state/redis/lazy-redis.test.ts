import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createLazyRedis } from './lazy-redis.ts'

test('it connects when it is first asked, once for all who ask, and closes what it opened', async () => {
  const { redis, counted } = setUp()
  const run = redis.script('return 1')
  assert.equal(counted.connected, 0)
  assert.equal(redis.life(), null)
  assert.deepEqual(await Promise.all([run(['a'], [1]), run(['b'], [2]), redis.ping(), redis.settled()]), [
    ['return 1', 'a', 1],
    ['return 1', 'b', 2],
    undefined,
    undefined,
  ])
  assert.deepEqual(await run(['c'], [3]), ['return 1', 'c', 3])
  assert.deepEqual(counted, { connected: 1, defined: 1, closed: 0 })
  assert.equal(redis.life(), 'one')
  await redis.close()
  assert.equal(counted.closed, 1)
})

test('who never asked has nothing to close, and who comes after the end opens nothing', async () => {
  const { redis, counted } = setUp()
  const run = redis.script('return 1')
  await redis.close()
  await assert.rejects(run([], []))
  await assert.rejects(redis.ping())
  assert.deepEqual(counted, { connected: 0, defined: 0, closed: 0 })
})

function setUp() {
  const counted = { connected: 0, defined: 0, closed: 0 }
  const redis = createLazyRedis(async () => {
    counted.connected++
    return {
      script(source) {
        counted.defined++
        return async (keys, args) => [source, ...keys, ...args]
      },
      async ping() {},
      life: () => 'one',
      settled: Promise.resolve(),
      async close() {
        counted.closed++
      },
    }
  })
  return { redis, counted }
}
