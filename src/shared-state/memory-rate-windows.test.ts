import { createMovableClock } from '../clock.ts'
import { createMemoryRateWindows } from './memory-rate-windows.ts'
import { rateWindowsContract } from './rate-windows.contract.ts'

rateWindowsContract(
  'memory',
  async () => {
    const clock = createMovableClock(Date.UTC(2026, 10, 15))
    return {
      windows: createMemoryRateWindows(clock),
      nowMs: async () => clock.nowMs(),
      passMs: async (ms) => clock.advanceMs(ms),
    }
  },
  false,
)
