import assert from 'node:assert/strict'
import { after, before, type TestContext, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { Redis } from 'ioredis'
import { findRedis, startRedis } from '../../../test/servers/redis.ts'
import { asRateWindows, fleetingWindowsContract } from '../rate-windows/fleeting-windows.contract.ts'
import { rateWindowsContract } from '../rate-windows/rate-windows.contract.ts'
import { connectRedis } from './redis.ts'
import { createRedisRateWindows } from './redis-rate-windows.ts'

const skip = findRedis() ? false : 'Redis is not on this machine'
let server: Awaited<ReturnType<typeof startRedis>> | null = null

before(async () => {
  if (!skip) server = await startRedis()
})
after(() => server?.stop())

rateWindowsContract(
  'Redis',
  async (t) => {
    const { windows, ...rest } = await setUp(t)
    return { windows: asRateWindows(windows), ...rest }
  },
  skip,
)

fleetingWindowsContract('Redis', setUp, skip)

test('Redis: each start is a life of its own, and there is none while it is away', { skip }, async (t) => {
  const { windows } = await setUp(t)
  const before = windows.life()
  assert.match(String(before), /^\w{40}$/)
  await server?.kill()
  await until(() => windows.life() === null)
  await server?.restart()
  await until(() => windows.life() !== null)
  assert.notEqual(windows.life(), before)
})

async function setUp(t: TestContext) {
  const url = server?.url ?? ''
  const redis = connectRedis(url, () => {}, 20_000)
  const direct = new Redis(url)
  direct.on('error', () => {})
  t.after(async () => {
    await redis.close()
    direct.disconnect()
  })
  await redis.settled
  await direct.flushall()
  return {
    windows: createRedisRateWindows(redis),
    async nowMs() {
      const [seconds = 0, microseconds = 0] = (await direct.time()).map(Number)
      return seconds * 1_000 + Math.floor(microseconds / 1_000)
    },
    // Its clock cannot be moved, so the windows are.
    async passMs(ms: number) {
      for (const key of await direct.keys('*')) await direct.hincrby(key, 'ends', -ms)
    },
  }
}

async function until(isTrue: () => boolean): Promise<void> {
  while (!isTrue()) await sleep(10)
}
