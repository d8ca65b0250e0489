import { useMutation, useQueryClient } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { send } from '../api.ts'
import { sessionQuery } from '../queries.ts'
import { useToast } from '../ui/toast.tsx'

const leave = () => send('POST /sign-out', {})

export function SignOut() {
  const queryClient = useQueryClient()
  const navigate = useNavigate()
  const toast = useToast()
  const signOut = useMutation({
    mutationFn: leave,
    onSuccess: async () => {
      await navigate({ to: '/sign-in' })
      queryClient.clear()
      queryClient.setQueryData(sessionQuery.queryKey, null)
    },
    onError: ({ message }) => toast(message),
  })
  return (
    <button
      type="button"
      onClick={() => signOut.mutate()}
      className="rounded-md text-caption text-soft underline-offset-2 hover:text-ink hover:underline"
    >
      Sign out
    </button>
  )
}
