import { type UseMutationResult, useMutation, useQueryClient } from '@tanstack/react-query'
import { useRouter } from '@tanstack/react-router'
import type { SessionView } from '../../../../src/dashboard/contract.ts'
import type { OwnerVerbs } from '../../../../src/dashboard/owner-verbs.ts'
import { send } from '../../api.ts'
import { basePath } from '../../base-path.ts'
import { sessionQuery } from '../../queries.ts'

type Way = 'POST /sign-in' | 'POST /sign-up' | 'POST /sign-in-link' | 'POST /reset-password'
type Entering = { [Verb in Way]: { verb: Verb; input: OwnerVerbs[Verb]['input'] } }[Way]

const enter = ({ verb, input }: Entering) => send(verb, { input })

/** Signs in one way or another, and goes on to the page that was wanted. */
export function useEntering(next: string): UseMutationResult<SessionView, Error, Entering> {
  const queryClient = useQueryClient()
  const router = useRouter()
  return useMutation({
    mutationFn: enter,
    onSuccess: (session) => {
      queryClient.clear()
      queryClient.setQueryData(sessionQuery.queryKey, session)
      // The docs are pages of the server itself, and no part of this app.
      if (/^\/docs(?:[/?#]|$)/.test(next)) location.assign(basePath + next)
      else router.history.push(basePath + next)
    },
  })
}
