import { useQuery } from '@tanstack/react-query'
import type { SessionView } from '../../src/dashboard/contract.ts'
import { sessionQuery } from './queries.ts'

/** For pages behind the sign-in: there is always a session there. */
export function useSession(): SessionView {
  const { data } = useQuery(sessionQuery)
  if (!data) throw new Error('This page is shown to signed-in owners only')
  return data
}
