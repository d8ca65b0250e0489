import type { RateWindow, RateWindows } from '../shared-state/rate-windows.ts'
import type { Soon } from '../soon.ts'

const windowMs = 60_000

/**
 * Bounds what strangers can try: requests that were refused before anyone knew who asked are counted for the address
 * they came from. They never touch an account's window or quota.
 */
export interface IpGuard {
  refusalsPerMinute: number
  /** Whether this address may ask at all. */
  look(address: string): Soon<RateWindow>
  countRefused(address: string): Promise<void>
}

export function createIpGuard(windows: RateWindows, refusalsPerMinute: number): IpGuard {
  return {
    refusalsPerMinute,
    look: (address) => windows.look(nameFor(address), refusalsPerMinute, windowMs),
    async countRefused(address) {
      await windows.take(nameFor(address), refusalsPerMinute, windowMs)
    },
  }
}

/** Whoever has one IPv6 address has a whole /64 of them, and may spell it in many ways. */
function nameFor(address: string): string {
  if (!address.includes(':')) return `ip ${address}`
  const [left = '', right = ''] = address.split('::', 2)
  const first = groupsOf(left)
  const last = groupsOf(right)
  const between = new Array<number>(Math.max(0, 8 - first.length - last.length)).fill(0)
  const groups = [...first, ...between, ...last]
  const [high = 0, low = 0] = groups.slice(6)
  const isMappedIpv4 = groups[5] === 0xffff && groups.slice(0, 5).every((group) => group === 0)
  if (isMappedIpv4) return `ip ${high >> 8}.${high & 0xff}.${low >> 8}.${low & 0xff}`
  return `ip ${groups
    .slice(0, 4)
    .map((group) => group.toString(16))
    .join(':')}`
}

function groupsOf(part: string): number[] {
  if (part === '') return []
  return part.split(':').flatMap((group) => {
    if (!group.includes('.')) return Number.parseInt(group, 16)
    const [a = 0, b = 0, c = 0, d = 0] = group.split('.').map(Number)
    return [a * 256 + b, c * 256 + d]
  })
}
