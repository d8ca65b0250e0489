import { type UseMutationResult, useMutation, useQueryClient } from '@tanstack/react-query'
import { useRouter } from '@tanstack/react-router'
import type { SessionView, SignInInput, SignUpInput } from '../../../../src/dashboard/contract.ts'
import { send } from '../../api.ts'
import { basePath } from '../../base-path.ts'
import { sessionQuery } from '../../session.ts'

interface Entering {
  path: '/sign-in' | '/sign-up' | '/sign-in-link'
  input: SignInInput | SignUpInput | { token: string }
}

const enter = ({ path, input }: Entering) => send<SessionView>('POST', path, input)

/** Signs in one way or another, and goes on to the page that was wanted. */
export function useEntering(next: string): UseMutationResult<SessionView, Error, Entering> {
  const queryClient = useQueryClient()
  const router = useRouter()
  return useMutation({
    mutationFn: enter,
    onSuccess: (session) => {
      queryClient.clear()
      queryClient.setQueryData(sessionQuery.queryKey, session)
      router.history.push(basePath + next)
    },
  })
}
