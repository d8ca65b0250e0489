import type { Clock } from '../../src/clock.ts'
import type { Register, SharedRegisters } from '../../src/shared-state/registers/shared-registers.ts'

/** Registers of several instances in one test, in a place that can lose them. */
export interface MemoryRegisters extends SharedRegisters {
  /** As a server that starts empty. */
  loseAll(): void
  /** As a server that starts from a copy. */
  copy(): void
  setBack(): void
  /** How often it was asked. */
  asked: number
}

/** `aheadMs`: its clock differs from that of those who ask. */
export function createMemoryRegisters(clock: Clock, aheadMs = 0): MemoryRegisters {
  let registers = new Map<string, { version: string; text: string; endsAtMs: number }>()
  let copied = new Map(registers)
  const found = (name: string): Register => {
    const known = registers.get(name)
    const register = known && known.endsAtMs > clock.nowMs() ? known : { version: null, text: '' }
    return { version: register.version, text: register.text, nowMs: Math.floor(clock.nowMs() + aheadMs) }
  }
  const place: MemoryRegisters = {
    asked: 0,
    async readRegister(name) {
      place.asked++
      return found(name)
    },
    async swapRegister(name, knownVersion, next, keepMs) {
      place.asked++
      const there = found(name)
      if (there.version !== knownVersion) return { isTaken: false, ...there }
      registers.set(name, { ...next, endsAtMs: clock.nowMs() + keepMs })
      return { isTaken: true, nowMs: there.nowMs }
    },
    loseAll: () => registers.clear(),
    copy() {
      copied = new Map(registers)
    },
    setBack() {
      registers = new Map(copied)
    },
  }
  return place
}
