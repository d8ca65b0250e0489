/** The store's part for looking at spreadsheets by ourselves: which are due, and who of all instances looks. */
export interface LookStore {
  /** Somebody follows these sheets, for so long at least; to be repeated before it is over. Those that are gone are left out. */
  noteFollowed(sheetIds: readonly string[], forMs: number): Promise<void>
  /** Whether anybody does, at any instance. */
  isFollowed(sheetId: string): Promise<boolean>
  /**
   * Looks that are due by a sheet's `watch_seconds`, or by `followedEveryMs` while it is followed, the longest overdue first. Each is
   * one caller's alone, who looks at once: the next is due that much later, whatever becomes of this one. Not of sheets that are
   * paused, keep no log, or whose access has ended.
   */
  takeDueLooks(most: number, followedEveryMs: number): Promise<DueLook[]>
}

export interface DueLook {
  sheetId: string
  accountId: string
}
