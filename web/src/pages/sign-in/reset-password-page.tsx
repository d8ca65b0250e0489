import { useSearch } from '@tanstack/react-router'
import { useState } from 'react'
import { Refused } from '../../api.ts'
import { useTitle } from '../../shell/use-title.ts'
import { Button, ButtonLink } from '../../ui/button.tsx'
import { FormError } from '../../ui/field.tsx'
import { NewPasswordField } from '../../ui/new-password-field.tsx'
import { Entrance } from './entrance.tsx'
import { useEntering } from './use-entering.ts'

/** Where the link in a mail leads. */
export function ResetPasswordPage() {
  useTitle('Reset password')
  const { token } = useSearch({ from: '/reset-password' })
  const [password, setPassword] = useState('')
  const entering = useEntering('/')
  const refusal = entering.error instanceof Refused ? entering.error : null
  const isLinkUsed = refusal?.status === 400 && refusal.field === null
  return (
    <Entrance
      title="Choose a new password"
      below={<p>You’ll be signed in here and signed out everywhere else. API keys keep working.</p>}
    >
      {isLinkUsed ? (
        <>
          <FormError>{refusal.message}</FormError>
          <ButtonLink look="primary" to="/forgot-password">
            Request a new link
          </ButtonLink>
        </>
      ) : (
        <form
          onSubmit={(event) => {
            event.preventDefault()
            entering.mutate({ verb: 'POST /reset-password', input: { token, password } })
          }}
        >
          <NewPasswordField
            label="New password"
            value={password}
            error={entering.error?.message ?? null}
            onChange={setPassword}
          />
          <Button type="submit" look="primary" className="mt-1 h-10 w-full" isBusy={entering.isEntering}>
            Save password
          </Button>
        </form>
      )}
    </Entrance>
  )
}
