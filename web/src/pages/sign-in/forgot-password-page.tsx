import { useMutation } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { useState } from 'react'
import { send } from '../../api.ts'
import { useTitle } from '../../shell/use-title.ts'
import { Button } from '../../ui/button.tsx'
import { TextField } from '../../ui/field.tsx'
import { Entrance, linkLook } from './entrance.tsx'

const askForLink = (input: { email: string }) => send('POST /forgot-password', { input })

export function ForgotPasswordPage() {
  useTitle('Reset password')
  const [email, setEmail] = useState('')
  const ask = useMutation({ mutationFn: askForLink })
  return (
    <Entrance
      title="Reset your password"
      below={
        <p>
          <Link to="/sign-in" className={linkLook}>
            Back to sign in
          </Link>
        </p>
      }
    >
      {ask.isSuccess ? (
        <p role="status" className="text-sm text-soft">
          If there’s an account for <strong className="wrap-anywhere text-ink">{ask.variables.email}</strong>,
          we’ve sent it an email with a link. The link works once, within an hour. Nothing there? Check your
          spam folder.
        </p>
      ) : (
        <form
          onSubmit={(event) => {
            event.preventDefault()
            ask.mutate({ email })
          }}
        >
          <TextField
            label="Email"
            type="email"
            autoComplete="username"
            required
            value={email}
            hint="We’ll email you a link to choose a new password."
            error={ask.error?.message ?? null}
            onChange={({ target }) => setEmail(target.value)}
          />
          <Button type="submit" look="primary" className="mt-1 h-10 w-full" isBusy={ask.isPending}>
            Send link
          </Button>
        </form>
      )}
    </Entrance>
  )
}
