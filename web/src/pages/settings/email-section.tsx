import { useMutation, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import type { SessionView } from '../../../../src/dashboard/contract.ts'
import { Refused, send } from '../../api.ts'
import { sessionQuery } from '../../queries.ts'
import { useSession } from '../../session.ts'
import { Button } from '../../ui/button.tsx'
import { FormError, Switch, TextField } from '../../ui/field.tsx'
import { Section } from '../../ui/section.tsx'
import { Badge } from '../../ui/states.tsx'
import { useToast } from '../../ui/toast.tsx'

const sendAgain = () => send('POST /email/verification', {})
const changeEmail = (input: { email: string }) => send('POST /email', { input })
const switchAlerts = (input: { isWanted: boolean }) => send('PATCH /alerts', { input })

/** Where this server sends mail, and for those who sign in with an address. */
export function EmailSection() {
  const { owner, server } = useSession()
  if (!server.hasMail || owner.email === null) return null
  return (
    <Section title="Email" about="For signing in, password resets and alerts.">
      <Verification email={owner.email} isVerified={owner.isEmailVerified} />
      <ChangeEmail />
      <Alerts isWanted={owner.wantsAlerts} isVerified={owner.isEmailVerified} />
    </Section>
  )
}

function Verification({ email, isVerified }: { email: string; isVerified: boolean }) {
  const toast = useToast()
  const again = useMutation({
    mutationFn: sendAgain,
    onSuccess: () => toast(`We’ve sent a link to ${email}.`),
  })
  return (
    <div className="mb-5">
      <p className="flex flex-wrap items-center gap-x-3 gap-y-2 text-sm">
        <span className="font-medium wrap-anywhere">{email}</span>
        {isVerified ? (
          <Badge tone="good">Verified</Badge>
        ) : (
          <>
            <Badge tone="warn">Not verified</Badge>
            <Button isBusy={again.isPending} onClick={() => again.mutate()}>
              Send again
            </Button>
          </>
        )}
      </p>
      {!isVerified && (
        <p className="mt-2 text-caption text-soft">
          Open the link we emailed you. Alerts are only sent to a verified email.
        </p>
      )}
      <FormError>{again.error?.message}</FormError>
    </div>
  )
}

function ChangeEmail() {
  const queryClient = useQueryClient()
  const toast = useToast()
  const [email, setEmail] = useState('')
  const change = useMutation({
    mutationFn: changeEmail,
    onSuccess: (session: SessionView) => {
      queryClient.setQueryData(sessionQuery.queryKey, session)
      setEmail('')
      toast('Email changed. Open the link we’ve sent to verify it.')
    },
  })
  const refusal = change.error instanceof Refused ? change.error : null
  return (
    <form
      className="mb-5 border-t border-line pt-5"
      onSubmit={(event) => {
        event.preventDefault()
        change.mutate({ email })
      }}
    >
      <TextField
        label="New email"
        type="email"
        autoComplete="email"
        required
        value={email}
        hint="We’ll send it a link to verify it."
        error={refusal?.field === 'email' ? refusal.message : null}
        onChange={({ target }) => setEmail(target.value)}
      />
      <FormError>{refusal?.field === 'email' ? null : change.error?.message}</FormError>
      <Button type="submit" disabled={email === ''} isBusy={change.isPending}>
        Change email
      </Button>
    </form>
  )
}

function Alerts({ isWanted, isVerified }: { isWanted: boolean; isVerified: boolean }) {
  const queryClient = useQueryClient()
  const change = useMutation({
    mutationFn: switchAlerts,
    onSuccess: (session: SessionView) => queryClient.setQueryData(sessionQuery.queryKey, session),
  })
  const shown = change.isPending ? change.variables.isWanted : isWanted
  return (
    <div className="border-t border-line pt-5">
      <Switch
        label="Email alerts"
        description={`When a connection ends, a sheet breaks or works again, and at 80% and 100% of your quota.${
          isVerified ? '' : ' They start once your email is verified.'
        }`}
        checked={shown}
        onChange={(next) => change.mutate({ isWanted: next })}
      />
      <FormError>{change.error?.message}</FormError>
    </div>
  )
}
