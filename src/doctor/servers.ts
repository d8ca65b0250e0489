import type { ServerInspection } from '../assemble/inspection.ts'
import { type Finding, fine, wrong } from './finding.ts'

/** What lasts does not go by this machine's time; what people are told does. */
const farApartMs = 10_000

export async function examineRedis(url: string, inspection: ServerInspection): Promise<Finding[]> {
  const { host } = new URL(url)
  try {
    const { aheadMs } = await inspection.redis(url)
    return [fine('Redis', `Redis at ${host} can be reached.`), examineClock('Redis', aheadMs)]
  } catch (error) {
    // A host of several addresses fails without words of its own.
    const { message = '', code = '' } = error as NodeJS.ErrnoException
    const says = `Redis at ${host} cannot be used: ${message || code}.`
    const advice =
      'See that it runs, and that REDIS_URL names it. Until then requests are counted in the store.'
    return [wrong('Redis', says, advice)]
  }
}

export function examineClock(server: 'PostgreSQL' | 'Redis', aheadMs: number): Finding {
  const seconds = Math.abs(aheadMs) / 1_000
  const by = `${seconds < 10 ? seconds.toFixed(1) : Math.round(seconds)} s ${aheadMs < 0 ? 'behind' : 'ahead of'}`
  const says = `The clock of ${server} is ${by} this machine's.`
  if (Math.abs(aheadMs) <= farApartMs) return fine('Clock', says)
  return wrong(
    'Clock',
    says,
    'Nothing breaks by it, but times that people are told are wrong: let NTP set both.',
  )
}
