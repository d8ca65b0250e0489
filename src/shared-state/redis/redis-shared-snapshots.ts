import { randomBase62 } from '../../secrets/random-base62.ts'
import type { SharedSnapshots } from '../shared-snapshots.ts'
import type { RedisConnection } from './redis.ts'

const now = `
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
`
const ask = `${now}
local at = tonumber(redis.call('HGET', KEYS[1], 'at') or '')
if at and now - at <= tonumber(ARGV[1]) then
  return { string.format('%.0f', now - at), redis.call('HGET', KEYS[1], 'bytes') }
end
if redis.call('SET', KEYS[2], ARGV[3], 'NX', 'PX', ARGV[2]) then return { 'yours' } end
return { 'wait' }
`
const put = `${now}
local at = now - tonumber(ARGV[1])
local known = tonumber(redis.call('HGET', KEYS[1], 'at') or '')
if known and known >= at then return 0 end
redis.call('HSET', KEYS[1], 'at', string.format('%.0f', at), 'bytes', ARGV[3])
redis.call('PEXPIRE', KEYS[1], ARGV[2])
return 1
`
const end = `
if redis.call('GET', KEYS[1]) == ARGV[1] then redis.call('DEL', KEYS[1]) end
return 1
`
const turnLength = 16

/** Snapshots in Redis, by its clock: instances need not agree on the time. */
export function createRedisSharedSnapshots(redis: Pick<RedisConnection, 'script'>): SharedSnapshots {
  const runAsk = redis.script(ask)
  const runPut = redis.script(put)
  const runEnd = redis.script(end)
  return {
    async ask(name, maxAgeMs, readForMs) {
      const turn = randomBase62(turnLength)
      const answer = await runAsk([copyKey(name), readingKey(name)], [maxAgeMs, readForMs, turn])
      const [said, copy] = answer as [Buffer, Buffer | undefined]
      if (copy) return { copy, ageMs: Number(said) }
      return String(said) === 'yours' ? { turn } : 'wait'
    },
    async put(name, bytes, ageMs, keepMs) {
      const given = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
      await runPut([copyKey(name)], [Math.round(ageMs), Math.round(keepMs), given])
    },
    async endTurn(name, turn) {
      await runEnd([readingKey(name)], [turn])
    },
  }
}

/** The name is in braces, so that a Redis of several machines keeps both on one. */
function copyKey(name: string): string {
  return `rowport:snapshot:{${name}}`
}

function readingKey(name: string): string {
  return `rowport:reading:{${name}}`
}
