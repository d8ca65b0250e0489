import type { FleetingWindows } from '../rate-windows/fleeting-windows.ts'
import type { RateWindow } from '../rate-windows/rate-windows.ts'
import type { RedisConnection } from './redis.ts'

/*
 * A window is a hash of its count, its end and the loss under which it was opened. It is over when Redis's clock says so,
 * not when Redis has removed it, which is a window's time later: until then its count may be asked for.
 */
const look = `
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
local window = redis.call('HMGET', KEYS[1], 'count', 'ends', 'under')
local count, ends, under = tonumber(window[1]), tonumber(window[2]), tonumber(window[3])
local limit, length, mine = tonumber(ARGV[1]), tonumber(ARGV[2]), tonumber(ARGV[3])
local open = count and ends > now and under == mine
`
const mayOpen = `
if not open then
  local before, ended = 0, 0
  if count and ends + length > now then before, ended = count, ends end
  local later = count and ends > now and (under or 0) > mine
  local given = ARGV[4]
  local allowed = given == 'alone' and before == 0 or given == string.format('%.0f', ended)
  if later or not allowed then return { -1, before, string.format('%.0f', ended), string.format('%.0f', now) } end
end
`
const fresh = `
if not open then count, ends = 0, now + length end
local admitted = count < limit and 1 or 0
`
const take = `
if admitted == 1 then
  count = count + 1
  redis.call('HSET', KEYS[1], 'count', count, 'ends', string.format('%.0f', ends), 'under', ARGV[3])
  if count == 1 then redis.call('PEXPIREAT', KEYS[1], string.format('%.0f', ends + length)) end
end
`
const answer = `
return { admitted, count, string.format('%.0f', ends), string.format('%.0f', now) }
`

type Script = ReturnType<RedisConnection['script']>

/** Rate windows that all instances on one Redis share, by its clock. */
export function createRedisRateWindows(redis: Pick<RedisConnection, 'script' | 'life'>): FleetingWindows {
  const runTake = redis.script(look + mayOpen + fresh + take + answer)
  const runLook = redis.script(look + fresh + answer)
  return {
    life: redis.life,
    async takeFromWindow(name, limit, windowMs, { underMs, may }) {
      const opens = typeof may === 'string' ? may : may.afterOneThatEndedAtMs
      const answered = await ask(runTake, name, [limit, windowMs, underMs, opens])
      const [state = 0, countBefore = 0, endedAtMs = 0] = answered
      return state === -1 ? { isOpen: false, countBefore, endedAtMs } : windowOf(answered, limit)
    },
    async readWindow(name, limit, windowMs, underMs) {
      return windowOf(await ask(runLook, name, [limit, windowMs, underMs]), limit)
    },
  }
}

async function ask(run: Script, name: string, args: (string | number)[]): Promise<number[]> {
  const answered = (await run([keyOf(name)], args)) as readonly (number | Buffer)[]
  return answered.map((each) => Number(each))
}

function windowOf(answered: number[], limit: number): RateWindow {
  const [isAdmitted = 0, count = 0, resetAtMs = 0, nowMs = 0] = answered
  return { isAdmitted: isAdmitted === 1, remaining: Math.max(0, limit - count), resetAtMs, nowMs }
}

function keyOf(name: string): string {
  return `rowport:window:${name}`
}
