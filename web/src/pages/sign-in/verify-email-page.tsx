import { useMutation, useQueryClient } from '@tanstack/react-query'
import { useSearch } from '@tanstack/react-router'
import { send } from '../../api.ts'
import { sessionQuery } from '../../queries.ts'
import { useTitle } from '../../shell/use-title.ts'
import { Button, ButtonLink } from '../../ui/button.tsx'
import { FormError } from '../../ui/field.tsx'
import { Entrance } from './entrance.tsx'

const verifyEmail = (input: { token: string }) => send('POST /verify-email', { input })

/** A click, and not the opening of the page, uses the link up: previews of links open pages too. */
export function VerifyEmailPage() {
  useTitle('Verify email')
  const { token } = useSearch({ from: '/verify-email' })
  const queryClient = useQueryClient()
  const verify = useMutation({
    mutationFn: verifyEmail,
    onSuccess: () => void queryClient.invalidateQueries({ queryKey: sessionQuery.queryKey }),
  })
  return (
    <Entrance title={verify.isSuccess ? 'Email verified' : 'Verify your email'}>
      {verify.isSuccess ? (
        <>
          <p role="status" className="mb-5 text-sm text-soft">
            <strong className="wrap-anywhere text-ink">{verify.data.email}</strong> is verified. Rowport will
            email you when something needs your attention.
          </p>
          <ButtonLink look="primary" to="/">
            Go to your dashboard
          </ButtonLink>
        </>
      ) : (
        <>
          <Button
            look="primary"
            className="h-10 w-full"
            isBusy={verify.isPending}
            onClick={() => verify.mutate({ token })}
          >
            Verify email
          </Button>
          <FormError>{verify.error?.message}</FormError>
        </>
      )}
    </Entrance>
  )
}
