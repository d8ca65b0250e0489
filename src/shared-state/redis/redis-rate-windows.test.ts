import { after, before } from 'node:test'
import { Redis } from 'ioredis'
import { findRedis, startRedis } from '../../../test/servers/redis.ts'
import { rateWindowsContract } from '../rate-windows.contract.ts'
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
    const url = server?.url ?? ''
    const redis = connectRedis(url, () => {})
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
      async passMs(ms) {
        for (const key of await direct.keys('*')) await direct.hincrby(key, 'ends', -ms)
      },
    }
  },
  skip,
)
