/** What stands in the URL of the history: all of it, or that of one row, as it is numbered now or by its key (as JSON). */
export interface HistorySearch {
  row?: number | undefined
  key?: string | undefined
  /** Further back than the newest. */
  before?: string | undefined
}

export function historySearchIn({ row, key, before }: Record<string, unknown>): HistorySearch {
  return {
    ...(typeof row === 'number' && Number.isInteger(row) && row >= 2 && { row }),
    ...(typeof key === 'string' && key !== '' && { key }),
    ...((typeof before === 'string' || typeof before === 'number') && { before: String(before) }),
  }
}
