import type { Soon } from '../../soon.ts'

/**
 * Fixed windows that count requests, shared by all who use the same name. A window opens with its first request and is
 * gone when it ends; a refused request is not counted, so waiting as told always helps.
 */
export interface RateWindows {
  /** Counts one request against `limit`, unless the window is full. One atomic step. */
  takeFromWindow(name: string, limit: number, windowMs: number): Soon<RateWindow>
  /** What `takeFromWindow` would answer, without counting. */
  readWindow(name: string, limit: number, windowMs: number): Soon<RateWindow>
}

export interface RateWindow {
  isAdmitted: boolean
  /** Requests left in the window after this one. */
  remaining: number
  /** When the window ends; for one that is not open yet, when it would if it opened now. */
  resetAtMs: number
  /** Now, by the clock that the window goes by: another machine's may differ, so how long to wait is told by this one. */
  nowMs: number
}
