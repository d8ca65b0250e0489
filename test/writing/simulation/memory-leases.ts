import type { Lease, LeaseStore } from '../../../src/store/leases/leases.ts'
import type { VirtualTime } from './virtual-time.ts'

/** The leases of all instances on one store, by the rules of `LeaseStore`; its contract suite holds the real ones to them. */
export interface MemoryLeases {
  of(instanceId: string): Pick<LeaseStore, 'takeLease' | 'renewLease' | 'endLease' | 'stayAlive'>
  isAlive(instanceId: string): boolean
  /** As an instance does at its start with those of its own machine that were killed. */
  endAllOf(instanceId: string): void
  isHeld(lease: Lease, instanceId: string): boolean
}

interface Held {
  holder: string
  fencingToken: number
  expiresAtMs: number
  wantedBy: string | null
  wantedUntilMs: number
}

export function createMemoryLeases(time: VirtualTime): MemoryLeases {
  const leases = new Map<string, Held>()
  const aliveUntilMs = new Map<string, number>()
  const isOurs = ({ name, fencingToken }: Lease, instanceId: string) => {
    const held = leases.get(name)
    return held?.fencingToken === fencingToken && held.holder === instanceId ? held : null
  }

  return {
    of: (instanceId) => ({
      async takeLease(name, forMs, wantForMs) {
        const nowMs = time.nowMs()
        const known = leases.get(name)
        const mayBeNext =
          !known || known.wantedBy === null || known.wantedBy === instanceId || known.wantedUntilMs <= nowMs
        if (known && known.expiresAtMs > nowMs) {
          if (mayBeNext) Object.assign(known, { wantedBy: instanceId, wantedUntilMs: nowMs + wantForMs })
          return null
        }
        if (!mayBeNext) return null
        const fencingToken = (known?.fencingToken ?? 0) + 1
        const unwanted = { wantedBy: null, wantedUntilMs: 0 }
        leases.set(name, { holder: instanceId, fencingToken, expiresAtMs: nowMs + forMs, ...unwanted })
        return { name, fencingToken }
      },
      async renewLease(lease, forMs) {
        const held = isOurs(lease, instanceId)
        if (held) held.expiresAtMs = time.nowMs() + forMs
        return held !== null
      },
      async endLease(lease) {
        const held = isOurs(lease, instanceId)
        if (held) held.expiresAtMs = 0
      },
      async stayAlive(forMs) {
        aliveUntilMs.set(instanceId, time.nowMs() + forMs)
      },
    }),
    isAlive: (instanceId) => (aliveUntilMs.get(instanceId) ?? 0) > time.nowMs(),
    endAllOf(instanceId) {
      aliveUntilMs.delete(instanceId)
      for (const held of leases.values()) if (held.holder === instanceId) held.expiresAtMs = 0
    },
    isHeld: (lease, instanceId) => isOurs(lease, instanceId) !== null,
  }
}
