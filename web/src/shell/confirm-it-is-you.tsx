import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { useRouterState } from '@tanstack/react-router'
import { useEffect, useRef, useState } from 'react'
import type { ConfirmInput } from '../../../src/dashboard/contract.ts'
import type { OwnerVerb } from '../../../src/dashboard/owner-verbs.ts'
import { confirmWith, send } from '../api.ts'
import { basePath } from '../base-path.ts'
import { sessionQuery } from '../queries.ts'
import { useSession } from '../session.ts'
import { Button } from '../ui/button.tsx'
import { CopyLine } from '../ui/copy.tsx'
import { Dialog } from '../ui/dialog.tsx'
import { TextField } from '../ui/field.tsx'
import { GoogleLink } from '../ui/google-link.tsx'

const watchMs = 1_500
/** A sign-in that comes later was for something else: what was asked for this long ago is not done any more. */
const lapseMs = 5 * 60_000

interface Asked {
  verb: OwnerVerb
  /** The page that asked, which has to be the one on the screen when it goes on. */
  page: string
  askedAtMs: number
  formerSignInAtMs: number
  answer(isConfirmed: boolean): void
}

const confirmByPassword = (input: ConfirmInput) => send('POST /confirm', { input })

/**
 * Before something ends for good, where the sign-in is a while ago. It opens over whatever asked for it; what was typed
 * there stays, and what was asked is done as soon as it is clear who asks.
 */
export function ConfirmItIsYou() {
  const [asked, setAsked] = useState<Asked | null>(null)
  const { signedInAtMs } = useSession()
  const page = useRouterState({ select: ({ location }) => location.pathname })
  useEffect(
    () =>
      confirmWith((verb) => {
        const { promise, resolve } = Promise.withResolvers<boolean>()
        setAsked({ verb, page, askedAtMs: Date.now(), formerSignInAtMs: signedInAtMs, answer: resolve })
        return promise
      }),
    [page, signedInAtMs],
  )
  const isConfirmed = asked !== null && signedInAtMs > asked.formerSignInAtMs
  const isLeft = asked !== null && page !== asked.page
  useEffect(() => {
    if (!asked || !(isConfirmed || isLeft)) return
    asked.answer(!isLeft && Date.now() - asked.askedAtMs < lapseMs)
    setAsked(null)
  }, [isConfirmed, isLeft, asked])
  useEffect(() => {
    if (!asked) return
    const timer = setTimeout(() => {
      asked.answer(false)
      setAsked(null)
    }, lapseMs)
    return () => clearTimeout(timer)
  }, [asked])
  function cancel() {
    asked?.answer(false)
    setAsked(null)
  }
  return (
    <Dialog title="Confirm it’s you" isOpen={asked !== null} onClose={cancel}>
      <Ways isSettingPassword={asked?.verb === 'POST /password'} onCancel={cancel} />
    </Dialog>
  )
}

/** Each of them ends in a newer session, which is all that the dialog waits for. */
function Ways({ isSettingPassword, onCancel }: { isSettingPassword: boolean; onCancel(): void }) {
  const { owner, server } = useSession()
  const canUseGoogle = server.hasGoogle && owner.hasGoogle
  return (
    <>
      <p className="mb-4 text-sm text-soft">
        You signed in more than 15 minutes ago. Confirm your identity to continue.
      </p>
      {canUseGoogle && <ByGoogle />}
      {owner.hasPassword && canUseGoogle && <p className="my-3 text-center text-caption text-soft">or</p>}
      {owner.hasPassword ? (
        <ByPassword email={owner.email ?? ''} onCancel={onCancel} />
      ) : (
        <>
          {!canUseGoogle && <ByLink isSettingPassword={isSettingPassword} />}
          <div className="mt-4 flex justify-end">
            <Button onClick={onCancel}>Cancel</Button>
          </div>
        </>
      )}
    </>
  )
}

function ByPassword({ email, onCancel }: { email: string; onCancel(): void }) {
  const queryClient = useQueryClient()
  const [password, setPassword] = useState('')
  const confirm = useMutation({
    mutationFn: confirmByPassword,
    onSuccess: (session) => queryClient.setQueryData(sessionQuery.queryKey, session),
  })
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault()
        confirm.mutate({ password })
      }}
    >
      {/* For password managers: whose password it is. */}
      <input type="hidden" name="username" autoComplete="username" value={email} readOnly />
      <TextField
        label={`Password for ${email}`}
        autoFocus
        type="password"
        autoComplete="current-password"
        required
        value={password}
        error={confirm.error?.message ?? null}
        onChange={({ target }) => setPassword(target.value)}
      />
      <div className="mt-2 flex justify-end gap-2">
        <Button onClick={onCancel}>Cancel</Button>
        <Button type="submit" look="primary" isBusy={confirm.isPending}>
          Confirm
        </Button>
      </div>
    </form>
  )
}

/** In a tab of its own, so that nothing is lost in this one. */
function ByGoogle() {
  const isWatching = useWatchedSession()
  return (
    <>
      <GoogleLink next="/confirmed" isNewTab />
      <p role="status" className="mt-2 text-caption text-soft">
        {isWatching && 'Google opens in a new tab. Come back here when you’re done.'}
      </p>
    </>
  )
}

function ByLink({ isSettingPassword }: { isSettingPassword: boolean }) {
  const { account, server } = useSession()
  useWatchedSession()
  return (
    <>
      <p className="mb-2 text-sm">
        You signed in with a link. Ask your administrator to create a new one by running:
      </p>
      <CopyLine text={`${server.operatorCommand} account link ${account.slug}`} label="the command" />
      <p className="mt-3 text-caption text-soft">
        Open the new link in this browser. This page will continue automatically.
        {!isSettingPassword && ' With a password, which you can set in Settings, you won’t need a link.'}
      </p>
    </>
  )
}

/** Looks whether somebody has signed in anew meanwhile; with another account, this page is not theirs. */
function useWatchedSession(): boolean {
  const { account } = useSession()
  const first = useRef(account.id)
  const { isSuccess } = useQuery({
    ...sessionQuery,
    refetchInterval: watchMs,
    refetchOnWindowFocus: 'always',
  })
  useEffect(() => {
    if (account.id !== first.current) window.location.assign(`${basePath}/`)
  }, [account.id])
  return isSuccess
}
