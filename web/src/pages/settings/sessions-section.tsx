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
    <Section title="Sessions" about="Lost a device?">
      <p className="mb-4 text-sm text-soft">
        This signs you out of every browser, including this one. API keys keep working.
      </p>
      <Button isBusy={end.isPending} onClick={() => end.mutate()}>
        Sign out everywhere
      </Button>
      <FormError>{end.error?.message}</FormError>
    </Section>
  )
}
