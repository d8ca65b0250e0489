import type { Clock } from '../../src/clock.ts'
import type { Register, SharedRegisters } from '../../src/shared-state/registers/shared-registers.ts'

/** Registers of several instances in one test, in a store that can be out of reach. */
export interface MemoryRegisters extends SharedRegisters {
  isAway: boolean
  /** How often it was asked. */
  asked: number
}

/** `aheadMs`: its clock differs from that of those who ask. */
export function createMemoryRegisters(clock: Clock, aheadMs = 0): MemoryRegisters {
  const registers = new Map<string, { version: string; text: string; endsAtMs: number }>()
  const found = (name: string): Register => {
    const known = registers.get(name)
    const register = known && known.endsAtMs > clock.nowMs() ? known : { version: null, text: '' }
    return { version: register.version, text: register.text, nowMs: Math.floor(clock.nowMs() + aheadMs) }
  }
  const ask = () => {
    place.asked++
    if (place.isAway) throw new Error('The store is away')
  }
  const place: MemoryRegisters = {
    isAway: false,
    asked: 0,
    async readRegister(name) {
      ask()
      return found(name)
    },
    async swapRegister(name, knownVersion, next, keepMs) {
      ask()
      const there = found(name)
      if (there.version !== knownVersion) return { isTaken: false, ...there }
      registers.set(name, { ...next, endsAtMs: clock.nowMs() + keepMs })
      return { isTaken: true, nowMs: there.nowMs }
    },
  }
  return place
}
