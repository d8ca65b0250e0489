import { useQuery } from '@tanstack/react-query'
import { useParams } from '@tanstack/react-router'
import type { SheetView } from '../../../../src/dashboard/contract.ts'
import { sheetQuery } from '../../queries.ts'

/** For the parts of a sheet's page, which are shown once the sheet is there. */
export function useSheet(): SheetView {
  const { slug } = useParams({ from: '/owners/sheets/$slug' })
  const { data } = useQuery(sheetQuery(slug))
  if (!data) throw new Error('The sheet is not there yet')
  return data
}
