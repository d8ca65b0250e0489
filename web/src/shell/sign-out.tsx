import { useMutation, useQueryClient } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { send } from '../api.ts'
import { sessionQuery } from '../session.ts'

export function SignOut() {
  const queryClient = useQueryClient()
  const navigate = useNavigate()
  const signOut = useMutation({
    mutationFn: () => send('POST', '/sign-out'),
    onSuccess: async () => {
      await navigate({ to: '/sign-in' })
      queryClient.clear()
      queryClient.setQueryData(sessionQuery.queryKey, null)
    },
  })
  return (
    <button
      type="button"
      onClick={() => signOut.mutate()}
      className="rounded-md text-[13px] text-soft underline-offset-2 hover:text-ink hover:underline"
    >
      Sign out
    </button>
  )
}
