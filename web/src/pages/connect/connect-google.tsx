import { useMutation } from '@tanstack/react-query'
import type { GoogleView } from '../../../../src/dashboard/contract.ts'
import { send } from '../../api.ts'
import { Button } from '../../ui/button.tsx'
import { FormError } from '../../ui/field.tsx'
import { Card } from '../../ui/states.tsx'

type ReturnTo = '/connect' | '/settings'

const beginConsent = (input: { returnTo: ReturnTo }) => send('POST /google/connect', { input })

export function ConnectGoogle({ view, returnTo }: { view: GoogleView; returnTo: ReturnTo }) {
  const isAgain = view.connection !== null
  return (
    <Card title={isAgain ? 'Connect Google again' : 'Connect your Google account'}>
      <p className="mb-4 max-w-prose text-sm text-soft">
        {isAgain
          ? `Google no longer accepts the permission of ${view.connection?.email}. Connect again and every sheet goes on under its old address.`
          : 'Google asks you which spreadsheets Rowport may use. You can take the permission back at any time, here or at Google.'}
      </p>
      <GoToGoogle label={isAgain ? 'Reconnect Google' : 'Connect Google'} returnTo={returnTo} />
    </Card>
  )
}

export function GoToGoogle({
  label,
  returnTo,
  look = 'primary',
}: {
  label: string
  returnTo: ReturnTo
  look?: 'primary' | 'secondary'
}) {
  const begin = useMutation({
    mutationFn: beginConsent,
    onSuccess: ({ url }) => window.location.assign(url),
  })
  return (
    <>
      <Button
        look={look}
        isBusy={begin.isPending || begin.isSuccess}
        onClick={() => begin.mutate({ returnTo })}
      >
        {label}
      </Button>
      <FormError>{begin.error?.message}</FormError>
    </>
  )
}

const outcomes: Record<string, { isGood: boolean; text: string }> = {
  connected: { isGood: true, text: 'Google is connected.' },
  reconnected: {
    isGood: true,
    text: 'Google is connected again. All sheets are served under their old addresses.',
  },
  chosen: { isGood: true, text: 'Rowport may now use what you chose at Google.' },
  other_account: {
    isGood: true,
    text: 'Another Google account is connected now. Sheets that it may not open will say so.',
  },
  denied: { isGood: false, text: 'Google was not given the permission. Nothing was changed.' },
  scope_missing: {
    isGood: false,
    text: 'The box for your spreadsheets was not ticked. Connect again and leave it ticked: without it Rowport cannot read any row.',
  },
  state_invalid: {
    isGood: false,
    text: 'That answer of Google was not meant for this session. Please start again.',
  },
  failed: { isGood: false, text: 'Google did not answer as it should. Please try again in a moment.' },
}

export function GoogleOutcome({ code }: { code: string }) {
  const outcome = outcomes[code] ?? outcomes.failed
  return (
    <p
      role={outcome?.isGood ? 'status' : 'alert'}
      className={`mb-5 rounded-md px-3.5 py-2.5 text-sm ${outcome?.isGood ? 'bg-good-wash text-good' : 'bg-bad-wash text-bad'}`}
    >
      {outcome?.text}
    </p>
  )
}
