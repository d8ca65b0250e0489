import type { Clock } from '../../src/clock.ts'
import type { Cell, SharedCells } from '../../src/shared-state/cells/shared-cells.ts'

/** Cells of several instances in one test, in a place that can lose them. */
export interface MemoryCells extends SharedCells {
  /** As a server that starts empty. */
  loseAll(): void
  /** As a server that starts from a copy. */
  copy(): void
  setBack(): void
  /** How often it was asked. */
  asked: number
}

/** `aheadMs`: its clock differs from that of those who ask. */
export function createMemoryCells(clock: Clock, aheadMs = 0): MemoryCells {
  let cells = new Map<string, { version: string; text: string; endsAtMs: number }>()
  let copied = new Map(cells)
  const found = (name: string): Cell => {
    const known = cells.get(name)
    const cell = known && known.endsAtMs > clock.nowMs() ? known : { version: null, text: '' }
    return { version: cell.version, text: cell.text, nowMs: Math.floor(clock.nowMs() + aheadMs) }
  }
  const place: MemoryCells = {
    asked: 0,
    async look(name) {
      place.asked++
      return found(name)
    },
    async swap(name, knownVersion, next, keepMs) {
      place.asked++
      const there = found(name)
      if (there.version !== knownVersion) return { isTaken: false, ...there }
      cells.set(name, { ...next, endsAtMs: clock.nowMs() + keepMs })
      return { isTaken: true, nowMs: there.nowMs }
    },
    loseAll: () => cells.clear(),
    copy() {
      copied = new Map(cells)
    },
    setBack() {
      cells = new Map(copied)
    },
  }
  return place
}
