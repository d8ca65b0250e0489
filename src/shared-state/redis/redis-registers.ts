import type { Register, SharedRegisters } from '../registers/shared-registers.ts'
import type { RedisConnection } from './redis.ts'

const find = `
local time = redis.call('TIME')
local now = string.format('%.0f', time[1] * 1000 + math.floor(time[2] / 1000))
local version = redis.call('HGET', KEYS[1], 'version') or ''
`
const tell = `
return { now, version, redis.call('HGET', KEYS[1], 'text') or '' }
`
const put = `
if version == ARGV[1] then
  redis.call('HSET', KEYS[1], 'version', ARGV[2], 'text', ARGV[3])
  redis.call('PEXPIRE', KEYS[1], ARGV[4])
  return { now }
end
`

/** By Redis's clock: instances need not agree on the time. */
export function createRedisRegisters(redis: Pick<RedisConnection, 'script'>): SharedRegisters {
  const runLook = redis.script(find + tell)
  const runSwap = redis.script(find + put + tell)
  return {
    async readRegister(name) {
      return cellOf(await runLook([keyOf(name)], []))
    },
    async swapRegister(name, knownVersion, { version, text }, keepMs) {
      const answer = await runSwap([keyOf(name)], [knownVersion ?? '', version, text, keepMs])
      const isTaken = (answer as Buffer[]).length === 1
      return isTaken ? { isTaken, nowMs: cellOf(answer).nowMs } : { isTaken, ...cellOf(answer) }
    },
  }
}

function cellOf(answer: unknown): Register {
  const [nowMs, version = '', text = ''] = (answer as Buffer[]).map((each) => each.toString())
  return { nowMs: Number(nowMs), version: version || null, text }
}

function keyOf(name: string): string {
  return `rowport:register:${name}`
}
