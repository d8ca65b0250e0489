import { queryOptions, useQuery } from '@tanstack/react-query'
import { useParams } from '@tanstack/react-router'
import type { SheetView } from '../../../../src/dashboard/contract.ts'
import { get } from '../../api.ts'

export function sheetQuery(slug: string) {
  return queryOptions({
    queryKey: ['sheets', slug],
    queryFn: ({ signal }) => get<SheetView>(`/sheets/${slug}`, signal),
  })
}

/** For the parts of a sheet's page, which are shown once the sheet is there. */
export function useSheet(): SheetView {
  const { slug } = useParams({ from: '/owners/sheets/$slug' })
  const { data } = useQuery(sheetQuery(slug))
  if (!data) throw new Error('The sheet is not there yet')
  return data
}
