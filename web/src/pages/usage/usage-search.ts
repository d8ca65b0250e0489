export interface UsageSearch {
  days?: number | undefined
  sheet?: string | undefined
  key?: string | undefined
}

/** What is as ever is left out. */
export function usageSearchIn({ days, sheet, key }: Record<string, unknown>): UsageSearch {
  return {
    ...([7, 90].includes(Number(days)) && { days: Number(days) }),
    ...(typeof sheet === 'string' && sheet !== '' && { sheet }),
    ...(typeof key === 'string' && key !== '' && { key }),
  }
}
