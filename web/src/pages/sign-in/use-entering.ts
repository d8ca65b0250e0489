import { type UseMutationResult, useMutation, useQueryClient } from '@tanstack/react-query'
import { useRouter } from '@tanstack/react-router'
import { useEffect } from 'react'
import type { SessionView } from '../../../../src/dashboard/contract.ts'
import type { OwnerVerbs } from '../../../../src/dashboard/owner-verbs.ts'
import { send } from '../../api.ts'
import { basePath } from '../../base-path.ts'
import { serverQuery, sessionQuery } from '../../queries.ts'

type Way = 'POST /sign-in' | 'POST /sign-up' | 'POST /sign-in-link' | 'POST /reset-password'
type Entering = { [Verb in Way]: { verb: Verb; input: OwnerVerbs[Verb]['input'] } }[Way]

const enter = ({ verb, input }: Entering) => send(verb, { input })

interface EnteringResult extends Pick<UseMutationResult<SessionView, Error, Entering>, 'mutate' | 'error'> {
  /** Until the page that was wanted is there: its code has to come too, and a button at rest would look as if nothing had happened. */
  isEntering: boolean
}

/** Signs in one way or another, and goes on to the page that was wanted. */
export function useEntering(next: string): EnteringResult {
  const queryClient = useQueryClient()
  const router = useRouter()
  const { mutate, error, isPending, isSuccess, reset } = useMutation({
    mutationFn: enter,
    onSuccess: (session) => {
      // Nothing of whoever was signed in before. What this page knows of the server is nobody's, and without it the form would go.
      const server = queryClient.getQueryData(serverQuery.queryKey)
      queryClient.clear()
      queryClient.setQueryData(serverQuery.queryKey, server)
      queryClient.setQueryData(sessionQuery.queryKey, session)
      // The docs are pages of the server itself, and no part of this app.
      if (/^\/docs(?:[/?#]|$)/.test(next)) location.assign(basePath + next)
      else router.history.push(basePath + next)
    },
  })
  // Whoever comes back from the docs may find this page as it was left.
  useEffect(() => {
    const onShown = ({ persisted }: PageTransitionEvent) => persisted && reset()
    addEventListener('pageshow', onShown)
    return () => removeEventListener('pageshow', onShown)
  }, [reset])
  return { mutate, error, isEntering: isPending || isSuccess }
}
