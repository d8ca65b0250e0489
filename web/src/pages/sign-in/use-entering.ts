import { type UseMutationResult, useMutation, useQueryClient } from '@tanstack/react-query'
import { useRouter } from '@tanstack/react-router'
import type { SessionView } from '../../../../src/dashboard/contract.ts'
import { send } from '../../api.ts'
import { basePath } from '../../base-path.ts'
import { sessionQuery } from '../../session.ts'

/** Signs in one way or another, and goes on to the page that was wanted. */
export function useEntering<Input>(path: string, next: string): UseMutationResult<SessionView, Error, Input> {
  const queryClient = useQueryClient()
  const router = useRouter()
  return useMutation({
    mutationFn: (input: Input) => send<SessionView>('POST', path, input),
    onSuccess: (session) => {
      queryClient.clear()
      queryClient.setQueryData(sessionQuery.queryKey, session)
      router.history.push(basePath + next)
    },
  })
}
