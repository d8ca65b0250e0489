import type { RateWindows } from '../../shared-state/rate-windows/rate-windows.ts'

/**
 * What was asked for by one click is done once. A browser whose connection breaks before the answer sends the request again by
 * itself, also one that changes something, if the connection had been used before; no page can keep it from that.
 */
export interface Attempts {
  /** Whether this attempt has come before, at any instance. Each is asked for once for each time that it arrives. */
  isRepeated(attempt: string): Promise<boolean>
}

/** Browsers repeat at once. */
const rememberedMs = 60_000

export function createAttempts(windows: RateWindows): Attempts {
  return {
    async isRepeated(attempt) {
      const { isAdmitted } = await windows.takeFromWindow(`attempt ${attempt}`, 1, rememberedMs)
      return !isAdmitted
    },
  }
}
