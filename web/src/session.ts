import { queryOptions, useQuery } from '@tanstack/react-query'
import type { ServerView, SessionView } from '../../src/dashboard/contract.ts'
import { get, Refused } from './api.ts'

/** null when nobody is signed in. */
export const sessionQuery = queryOptions({
  queryKey: ['session'],
  queryFn: ({ signal }) =>
    get<SessionView>('/session', signal).catch((error: unknown) => {
      if (error instanceof Refused && error.status === 401) return null
      throw error
    }),
  staleTime: 60_000,
})

export const serverQuery = queryOptions({
  queryKey: ['server'],
  queryFn: ({ signal }) => get<ServerView>('/server', signal),
  staleTime: Number.POSITIVE_INFINITY,
})

/** For pages behind the sign-in: there is always a session there. */
export function useSession(): SessionView {
  const { data } = useQuery(sessionQuery)
  if (!data) throw new Error('This page is shown to signed-in owners only')
  return data
}
