import { useSearch } from '@tanstack/react-router'
import { useTitle } from '../../shell/use-title.ts'
import { Button } from '../../ui/button.tsx'
import { Entrance } from './entrance.tsx'
import { useEntering } from './use-entering.ts'

/** A click, and not the opening of the page, uses the link up: previews of links open pages too. */
export function SignInLinkPage() {
  useTitle('Sign in')
  const { token } = useSearch({ from: '/sign-in-link' })
  const entering = useEntering<{ token: string }>('/sign-in-link', '/')
  return (
    <Entrance
      title="Welcome to Rowport"
      below="The link works once. Afterwards you can set a password in Settings."
    >
      <Button
        look="primary"
        className="h-10 w-full"
        isBusy={entering.isPending}
        onClick={() => entering.mutate({ token })}
      >
        Sign in
      </Button>
      <p role="alert" className="min-h-6 pt-2 text-[13px] text-bad">
        {entering.error?.message}
      </p>
    </Entrance>
  )
}
