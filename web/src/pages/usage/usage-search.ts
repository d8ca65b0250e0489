export interface UsageSearch {
  days?: string | undefined
  sheet?: string | undefined
  key?: string | undefined
}

export function usageSearchIn({ days, sheet, key }: Record<string, unknown>): UsageSearch {
  return {
    ...(['7', '90'].includes(String(days)) && { days: String(days) }),
    ...(typeof sheet === 'string' && sheet !== '' && { sheet }),
    ...(typeof key === 'string' && key !== '' && { key }),
  }
}
