import type { Clock } from '../clock.ts'
import type { Config } from '../config.ts'
import type { Observe } from '../reporting/observe.ts'
import { createFallOver, longestPatienceMs } from '../shared-state/fall-over.ts'
import { createFallingOverWindows } from '../shared-state/rate-windows/falling-over-windows.ts'
import { createLossRecord } from '../shared-state/rate-windows/loss-record.ts'
import { createMemoryRateWindows } from '../shared-state/rate-windows/memory-rate-windows.ts'
import type { RateWindows } from '../shared-state/rate-windows/rate-windows.ts'
import { createLazyRedis, type LazyRedis } from '../shared-state/redis/lazy-redis.ts'
import { createRedisRateWindows } from '../shared-state/redis/redis-rate-windows.ts'
import { createRegisterValue } from '../shared-state/registers/register-value.ts'
import type { SharedRegisters } from '../shared-state/registers/shared-registers.ts'
import type { ShareValue } from '../shared-state/registers/shared-value.ts'
import type { Store } from '../store/store.ts'
import type { SharedState } from './workshop.ts'

/**
 * What instances share. Values are in the store, which loses nothing (docs/decisions/025); rate windows in Redis, or in the store
 * where there is none or it is away, and on the embedded default in this process. Redis is connected when it is first needed.
 */
export function createSharedState(
  { redisUrl, store: { kind } }: Config,
  store: Store,
  clock: Clock,
  observe: Observe,
): SharedState {
  const windows: RateWindows = { takeFromWindow: store.takeWindow, readWindow: store.lookWindow }
  const registers: SharedRegisters = { readRegister: store.readRegister, swapRegister: store.swapRegister }
  const share: ShareValue = (name, form) =>
    createRegisterValue({ name, form, registers, clock, random: Math.random })
  if (redisUrl === null) {
    const own = kind === 'sqlite' ? createMemoryRateWindows(clock) : windows
    return { windows: own, share, async settled() {}, async close() {} }
  }
  // How long it is waited for here is decided by who falls over.
  const redis = redisAt(redisUrl, observe, 2 * longestPatienceMs)
  const { settled, ping, life } = redis
  const fallOver = createFallOver({ ping, settled, clock, observe })
  return {
    windows: createFallingOverWindows({
      first: createRedisRateWindows(redis),
      second: {
        takeFromWindow: store.takeWindowBefore,
        takeFromOpen: store.takeFromOpenWindow,
        readWindow: store.lookWindow,
        countOfLast: store.countOfLastWindow,
      },
      registers,
      losses: createLossRecord({ registers, clock, life }),
      fallOver,
    }),
    share,
    settled,
    async close() {
      fallOver.close()
      await redis.close()
    },
  }
}

/** Connected when it is first needed. */
export function redisAt(url: string, observe: Observe, answerWithinMs?: number): LazyRedis {
  return createLazyRedis(async () => {
    const redis = await import('../shared-state/redis/redis.ts')
    return redis.connectRedis(url, observe, answerWithinMs)
  })
}
