import type { RateWindow, RateWindows } from '../shared-state/rate-windows/rate-windows.ts'
import { clientNetwork } from '../shares/client-network.ts'
import type { Soon } from '../soon.ts'

const windowMs = 60_000

/**
 * Bounds what strangers can try: requests that were refused before anyone knew who asked are counted for the address
 * they came from. They never touch an account's window or quota.
 */
export interface IpGuard {
  refusalsPerMinute: number
  /** Whether this address may still be refused as a stranger; who shows a good key is none, and goes on. */
  readRefusals(address: string): Soon<RateWindow>
  countRefused(address: string): Promise<void>
}

export function createIpGuard(windows: RateWindows, refusalsPerMinute: number): IpGuard {
  const nameFor = (address: string) => `ip ${clientNetwork(address)}`
  return {
    refusalsPerMinute,
    readRefusals: (address) => windows.readWindow(nameFor(address), refusalsPerMinute, windowMs),
    async countRefused(address) {
      await windows.takeFromWindow(nameFor(address), refusalsPerMinute, windowMs)
    },
  }
}
