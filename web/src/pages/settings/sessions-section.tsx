import { useMutation, useQueryClient } from '@tanstack/react-query'
import { send } from '../../api.ts'
import { sessionQuery } from '../../queries.ts'
import { Button } from '../../ui/button.tsx'
import { FormError } from '../../ui/field.tsx'
import { Section } from '../../ui/section.tsx'

const signOutEverywhere = () => send('POST /sign-out-everywhere', {})

export function SessionsSection() {
  const queryClient = useQueryClient()
  const end = useMutation({
    mutationFn: signOutEverywhere,
    onSuccess: () => queryClient.setQueryData(sessionQuery.queryKey, null),
  })
  return (
    <Section title="Sessions" about="For when a computer was lost, or left open somewhere.">
      <p className="mb-4 text-sm text-soft">
        Every browser that is signed in to this account has to sign in again, this one too. API keys go on.
      </p>
      <Button isBusy={end.isPending} onClick={() => end.mutate()}>
        Sign out everywhere
      </Button>
      <FormError>{end.error?.message}</FormError>
    </Section>
  )
}
