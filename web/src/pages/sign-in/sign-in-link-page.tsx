import { useSearch } from '@tanstack/react-router'
import { Refused } from '../../api.ts'
import { useTitle } from '../../shell/use-title.ts'
import { Button, ButtonLink } from '../../ui/button.tsx'
import { FormError } from '../../ui/field.tsx'
import { Entrance } from './entrance.tsx'
import { useEntering } from './use-entering.ts'

/** A click, and not the opening of the page, uses the link up: previews of links open pages too. */
export function SignInLinkPage() {
  useTitle('Sign in')
  const { token } = useSearch({ from: '/sign-in-link' })
  const entering = useEntering('/')
  return (
    <Entrance
      title="Welcome to Rowport"
      below={<p>This link works once. Set a password in Settings so you won’t need a link next time.</p>}
    >
      {entering.error instanceof Refused && entering.error.status === 400 ? (
        <ButtonLink look="primary" to="/sign-in">
          Go to sign in
        </ButtonLink>
      ) : (
        <Button
          look="primary"
          className="h-10 w-full"
          isBusy={entering.isEntering}
          onClick={() => entering.mutate({ verb: 'POST /sign-in-link', input: { token } })}
        >
          Sign in
        </Button>
      )}
      <FormError>{entering.error?.message}</FormError>
    </Entrance>
  )
}
