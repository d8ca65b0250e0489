/** The store's part for limits on requests: fixed windows, each opened by its first request. Time is the store's own. */
export interface WindowStore {
  /** Counts one request against `limit`, unless the window is full; a refused one is not counted. One atomic step. */
  takeWindow(name: string, limit: number, windowMs: number): Promise<StoredWindow>
  /** Takes from a window as `takeWindow` does, unless it is `opensBeforeMs` or later: then null, and nothing is counted. */
  takeWindowBefore(
    name: string,
    limit: number,
    windowMs: number,
    opensBeforeMs: number,
  ): Promise<StoredWindow | null>
  /** Takes from a window that is open already; null where none is. */
  takeFromOpenWindow(name: string, limit: number): Promise<StoredWindow | null>
  /** How many were counted in the window that ended less than `withinMs` ago, a minute at most; 0 where there was none. */
  countOfLastWindow(name: string, withinMs: number): Promise<number>
  /** What `takeWindow` would answer, without counting. */
  lookWindow(name: string, limit: number, windowMs: number): Promise<StoredWindow>
  /** Those that ended more than a minute ago. */
  forgetOldWindows(): Promise<void>
}

export interface StoredWindow {
  isAdmitted: boolean
  /** Requests left in the window after this one. */
  remaining: number
  /** When the window ends; for one that is not open yet, when it would if it opened now. */
  resetAtMs: number
  /** By the same clock. */
  nowMs: number
}
