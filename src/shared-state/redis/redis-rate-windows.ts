import type { RateWindow, RateWindows } from '../rate-windows.ts'
import type { RedisConnection } from './redis.ts'

/*
 * A window is a hash of its count and its end. It is over when Redis's clock says so, not when Redis has removed it:
 * that may be a moment later.
 */
const look = `
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
local window = redis.call('HMGET', KEYS[1], 'count', 'ends')
local count, ends = tonumber(window[1]), tonumber(window[2])
if not count or ends <= now then count, ends = 0, now + tonumber(ARGV[2]) end
local limit = tonumber(ARGV[1])
local admitted = count < limit and 1 or 0
`
const answer = `
return { admitted, count, string.format('%.0f', ends), string.format('%.0f', now) }
`
const take = `
if admitted == 1 then
  count = count + 1
  redis.call('HSET', KEYS[1], 'count', count, 'ends', string.format('%.0f', ends))
  if count == 1 then redis.call('PEXPIREAT', KEYS[1], string.format('%.0f', ends + 1000)) end
end
`

/** Rate windows that all instances on one Redis share, by its clock. */
export function createRedisRateWindows(redis: Pick<RedisConnection, 'script'>): RateWindows {
  const runTake = redis.script(look + take + answer)
  const runLook = redis.script(look + answer)
  return {
    take: (name, limit, windowMs) => ask(runTake, name, limit, windowMs),
    look: (name, limit, windowMs) => ask(runLook, name, limit, windowMs),
  }

  async function ask(
    run: ReturnType<RedisConnection['script']>,
    name: string,
    limit: number,
    windowMs: number,
  ): Promise<RateWindow> {
    const answered = (await run([keyOf(name)], [limit, windowMs])) as readonly (number | Buffer)[]
    const [isAdmitted = 0, count = 0, endsAtMs = 0, nowMs = 0] = answered.map((each) => Number(each))
    return {
      isAdmitted: isAdmitted === 1,
      remaining: Math.max(0, limit - count),
      resetAtMs: endsAtMs,
      nowMs,
    }
  }
}

export function keyOf(name: string): string {
  return `rowport:window:${name}`
}
