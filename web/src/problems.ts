import { useQuery, useQueryClient } from '@tanstack/react-query'
import { useEffect } from 'react'
import type { SheetSummary } from '../../src/dashboard/contract.ts'
import { sheetsQuery, startQuery } from './queries.ts'

/** Clients get errors from it, and only its owner can change that. */
export function needsAttention({ state }: Pick<SheetSummary, 'state'>): boolean {
  return state === 'broken' || state === 'needs_reconnect'
}

/**
 * How many sheets need their owner. The list is asked for by pages that show it, the number alone on all others: whichever came
 * last holds, and a list that another number overtook is asked for again, so that nobody reads two at once.
 */
export function useProblemCount(): number {
  const queryClient = useQueryClient()
  const { data: told, dataUpdatedAt: toldAtMs } = useQuery(startQuery)
  const { data: listed, dataUpdatedAt: listedAtMs } = useQuery({
    ...sheetsQuery,
    select: (sheets) => sheets.filter(needsAttention).length,
    enabled: false,
  })
  const isOvertaken =
    told !== undefined && listed !== undefined && toldAtMs > listedAtMs && told.problems !== listed
  useEffect(() => {
    if (isOvertaken) void queryClient.invalidateQueries({ queryKey: sheetsQuery.queryKey, exact: true })
  }, [isOvertaken, queryClient])
  if (listed !== undefined && listedAtMs >= toldAtMs) return listed
  return told?.problems ?? 0
}

/** For the page of one sheet, which may be the first to see that it broke, or works again. */
export function useRecount(sheet: Pick<SheetSummary, 'state'> | undefined): void {
  const queryClient = useQueryClient()
  const isTroubled = sheet && needsAttention(sheet)
  useEffect(() => {
    if (isTroubled !== undefined) void queryClient.invalidateQueries({ queryKey: startQuery.queryKey })
  }, [isTroubled, queryClient])
}
