import type { FleetingWindows, NotOpen } from '../rate-windows/fleeting-windows.ts'
import type { RateWindow } from '../rate-windows/rate-windows.ts'
import type { RedisConnection } from './redis.ts'

/*
 * A window is a hash of its count, its end and the loss under which it was opened. It is over when Redis's clock says so,
 * not when Redis has removed it, which is a window's time later: until then its count may be asked for.
 */
const windows = `
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
local function read(key)
  local kept = redis.call('HMGET', key, 'count', 'ends', 'under')
  return { count = tonumber(kept[1]), ends = tonumber(kept[2]), under = tonumber(kept[3]) }
end
local function isOpen(window, under)
  return window.count and window.ends > now and window.under == under
end
local function text(number) return string.format('%.0f', number) end
`
/** All who use one key wish the same: the first of them are admitted, until the window is full. */
const takeTogether = `
local kept, answers = {}, {}
for at = 1, #ARGV, 6 do
  local nth, wanted = tonumber(ARGV[at]), tonumber(ARGV[at + 1])
  local limit, length = tonumber(ARGV[at + 2]), tonumber(ARGV[at + 3])
  local under, may = tonumber(ARGV[at + 4]), ARGV[at + 5]
  local window = kept[nth] or read(KEYS[nth])
  kept[nth] = window
  local open = isOpen(window, under)
  local before, ended = 0, 0
  if window.count and window.ends + length > now then before, ended = window.count, window.ends end
  local later = window.count and window.ends > now and (window.under or 0) > under
  local allowed = may == 'alone' and before == 0 or may == text(ended)
  if not open and (later or not allowed) then
    answers[#answers + 1] = '-1 ' .. text(before) .. ' ' .. text(ended)
  else
    local count, ends = 0, now + length
    if open then count, ends = window.count, window.ends end
    local admitted = math.max(0, math.min(wanted, limit - count))
    answers[#answers + 1] = text(admitted) .. ' ' .. text(count) .. ' ' .. text(ends)
    if admitted > 0 then
      window.count, window.ends, window.under, window.taken = count + admitted, ends, under, true
      if not open then window.removed = ends + length end
    end
  end
end
for nth, key in ipairs(KEYS) do
  local window = kept[nth]
  if window.taken then
    redis.call('HSET', key, 'count', window.count, 'ends', text(window.ends), 'under', text(window.under))
    if window.removed then redis.call('PEXPIREAT', key, text(window.removed)) end
  end
end
return text(now) .. ' ' .. table.concat(answers, ' ')
`
const look = `
local window, limit, length = read(KEYS[1]), tonumber(ARGV[1]), tonumber(ARGV[2])
local count, ends = 0, now + length
if isOpen(window, tonumber(ARGV[3])) then count, ends = window.count, window.ends end
return text(now) .. ' ' .. text(count) .. ' ' .. text(ends)
`
const figuresOfEach = 3

/** What those want who wish the same. */
interface PendingTakes {
  name: string
  limit: number
  /** The arguments of the script, after whose turn it is and how many want it. */
  wish: readonly (string | number)[]
  takers: Taker[]
}

interface Taker {
  answer(taken: RateWindow | NotOpen): void
  reject(error: unknown): void
}

/** Redis does nothing else meanwhile, for anyone. */
const maxTogether = 128

/**
 * Rate windows that all instances on one Redis share, by its clock. Those that are asked for in the same turn of the event loop go
 * as one script: for the client as for Redis a command costs many times what counting does.
 */
export function createRedisRateWindows(redis: Pick<RedisConnection, 'script' | 'life'>): FleetingWindows {
  const runTakes = redis.script(windows + takeTogether)
  const runLook = redis.script(windows + look)
  let waiting = new Map<string, PendingTakes>()

  return {
    life: redis.life,
    takeFromWindow(name, limit, windowMs, { underMs, may }) {
      const opens = typeof may === 'string' ? may : may.afterOneThatEndedAtMs
      return new Promise((answer, reject) => {
        if (waiting.size === 0) setImmediate(takeAll)
        const wished = `${limit} ${windowMs} ${underMs} ${opens} ${name}`
        const pending = waiting.get(wished)
        if (pending) pending.takers.push({ answer, reject })
        else
          waiting.set(wished, {
            name,
            limit,
            wish: [limit, windowMs, underMs, opens],
            takers: [{ answer, reject }],
          })
      })
    },
    async readWindow(name, limit, windowMs, underMs) {
      const asked = await runLook([keyOf(name)], [limit, windowMs, underMs])
      const [nowMs = 0, count = 0, resetAtMs = 0] = figuresIn(asked)
      return { isAdmitted: count < limit, remaining: Math.max(0, limit - count), resetAtMs, nowMs }
    },
  }

  function takeAll(): void {
    const all = [...waiting.values()]
    waiting = new Map()
    for (let at = 0; at < all.length; at += maxTogether) void take(all.slice(at, at + maxTogether))
  }

  async function take(batch: readonly PendingTakes[]): Promise<void> {
    try {
      const nths = new Map<string, number>()
      const args: (string | number)[] = []
      for (const { name, wish, takers } of batch) {
        const nth = nths.get(name) ?? nths.size + 1
        nths.set(name, nth)
        args.push(nth, takers.length, ...wish)
      }
      const [nowMs = 0, ...figures] = figuresIn(await runTakes([...nths.keys()].map(keyOf), args))
      for (const [at, pending] of batch.entries())
        tellTakers(pending, figures.slice(at * figuresOfEach, (at + 1) * figuresOfEach), nowMs)
    } catch (error) {
      for (const { reject } of batch.flatMap(({ takers }) => takers)) reject(error)
    }
  }
}

/** One text: of a list, the client would take every element apart by itself. */
function figuresIn(answered: unknown): number[] {
  return String(answered).split(' ').map(Number)
}

function tellTakers({ takers, limit }: PendingTakes, figures: readonly number[], nowMs: number): void {
  const [admitted = 0, countBefore = 0, endsAtMs = 0] = figures
  for (const [at, { answer }] of takers.entries()) {
    if (admitted === -1) answer({ isOpen: false, countBefore, endedAtMs: endsAtMs })
    else {
      const count = countBefore + Math.min(at + 1, admitted)
      const remaining = Math.max(0, limit - count)
      answer({ isAdmitted: at < admitted, remaining, resetAtMs: endsAtMs, nowMs })
    }
  }
}

function keyOf(name: string): string {
  return `rowport:window:${name}`
}
