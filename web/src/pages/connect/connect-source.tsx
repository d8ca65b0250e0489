import { useMutation, useQueryClient } from '@tanstack/react-query'
import { type ReactNode, useRef, useState } from 'react'
import type { ConnectionView, ConsentInput } from '../../../../src/dashboard/contract.ts'
import { send } from '../../api.ts'
import { type ConnectableSource, useSources } from '../../sources.ts'
import { Button } from '../../ui/button.tsx'
import { FormError, TextField } from '../../ui/field.tsx'
import { Card } from '../../ui/states.tsx'

type ReturnTo = ConsentInput['returnTo']

const beginConsent = ({ provider, returnTo }: { provider: string; returnTo: ReturnTo }) =>
  send('POST /{consentProvider}/connect', { names: { consentProvider: provider }, input: { returnTo } })

const connectByKey = ({ provider, key }: { provider: string; key: string }) =>
  send('POST /{keyProvider}/key', { names: { keyProvider: provider }, input: { key } })

export function ConnectSource({
  source,
  view,
  returnTo,
}: {
  source: ConnectableSource
  view: ConnectionView
  returnTo: ReturnTo
}) {
  const { name, connection } = source
  const isAgain = view.connection !== null
  const again = `Rowport’s access to ${view.connection?.email} has expired or was revoked. Reconnect to bring your sheets back at the same URLs.`
  const first = `${name} will ask which spreadsheets Rowport can access. You can revoke access at any time, here or in your ${name} account.`
  const hint = connection.ways.includes('consent') ? first : connection.key?.hint
  return (
    <Card title={isAgain ? `Reconnect ${name}` : `Connect your ${name} account`}>
      <p className="mb-4 max-w-prose text-sm text-soft">{isAgain ? again : hint}</p>
      <WayIn source={source} label={isAgain ? `Reconnect ${name}` : `Connect ${name}`} returnTo={returnTo} />
    </Card>
  )
}

/** The button that leads to the provider's page, the field for a key, or both. */
export function WayIn({
  source,
  label,
  returnTo,
  hasOtherWays = true,
  beside,
}: {
  source: ConnectableSource
  label: string
  returnTo: ReturnTo
  /** False where nothing is wrong with the way that was taken. */
  hasOtherWays?: boolean
  /** What else can be done, in one line with the button. */
  beside?: ReactNode
}) {
  const { ways, key } = source.connection
  if (!ways.includes('consent'))
    return (
      <>
        <ByKey source={source} label={label} />
        {beside}
      </>
    )
  return (
    <>
      <GoToProvider provider={source.provider} label={label} returnTo={returnTo} />
      {beside}
      {hasOtherWays && ways.includes('key') && key && (
        <details className="mt-4 w-full">
          <summary className="cursor-pointer text-sm text-soft">Use a {key.name} instead</summary>
          <p className="my-3 max-w-prose text-sm text-soft">{key.hint}</p>
          <ByKey source={source} label={`Use this ${key.name}`} />
        </details>
      )}
    </>
  )
}

function ByKey({ source: { provider, connection }, label }: { source: ConnectableSource; label: string }) {
  const queryClient = useQueryClient()
  const fileInput = useRef<HTMLInputElement>(null)
  const [key, setKey] = useState('')
  const connect = useMutation({
    mutationFn: connectByKey,
    onSuccess: () => {
      setKey('')
      return queryClient.invalidateQueries()
    },
  })
  async function take(file: File | undefined) {
    if (file) connect.mutate({ provider, key: await file.text() })
  }
  return (
    <form
      className="max-w-md space-y-3"
      onSubmit={(event) => {
        event.preventDefault()
        connect.mutate({ provider, key })
      }}
    >
      <TextField
        label={connection.key?.label ?? 'Key'}
        type="password"
        required
        autoComplete="off"
        value={key}
        onChange={({ target }) => setKey(target.value)}
      />
      <FormError>{connect.error?.message}</FormError>
      <div className="flex flex-wrap gap-2">
        <Button type="submit" look="primary" isBusy={connect.isPending}>
          {label}
        </Button>
        {connection.key?.isFile && (
          <>
            <Button onClick={() => fileInput.current?.click()}>Choose the file…</Button>
            <input
              ref={fileInput}
              type="file"
              aria-label={connection.key.label}
              accept="application/json,.json"
              className="hidden"
              onChange={({ target }) => {
                void take(target.files?.[0])
                target.value = ''
              }}
            />
          </>
        )}
      </div>
    </form>
  )
}

export function GoToProvider({
  provider,
  label,
  returnTo,
  look = 'primary',
}: {
  provider: string
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
        onClick={() => begin.mutate({ provider, returnTo })}
      >
        {label}
      </Button>
      <FormError>{begin.error?.message}</FormError>
    </>
  )
}

const outcomes: Record<string, { isGood: boolean; text(name: string): string }> = {
  connected: { isGood: true, text: (name) => `${name} is connected.` },
  reconnected: {
    isGood: true,
    text: (name) => `${name} is connected again. All sheets are back at the same URLs.`,
  },
  chosen: { isGood: true, text: (name) => `Rowport can now use the spreadsheets you selected in ${name}.` },
  other_account: {
    isGood: true,
    text: (name) =>
      `You’re now connected with a different ${name} account. Sheets it can’t open will show an error.`,
  },
  denied: { isGood: false, text: () => 'You didn’t grant access, so nothing was changed.' },
  scope_missing: {
    isGood: false,
    text: () =>
      'Spreadsheet access wasn’t granted. Connect again and leave that box checked; Rowport can’t read your sheets without it.',
  },
  state_invalid: {
    isGood: false,
    text: () => 'That sign-in doesn’t match this session. Start again.',
  },
}
const failed = {
  isGood: false,
  text: (name: string) => `Something went wrong with ${name}. Try again in a moment.`,
}

/** With what a provider's page led back here (`?google=connected`), if it did. */
export function ConnectionOutcome({ search }: { search: Record<string, string | undefined> }) {
  const { connectable } = useSources()
  const source = connectable.find(({ provider }) => search[provider] !== undefined)
  if (!source) return null
  const told = search[source.provider] ?? ''
  const { isGood, text } = outcomes[search.picked && told === 'reconnected' ? 'chosen' : told] ?? failed
  return (
    <p
      role={isGood ? 'status' : 'alert'}
      className={`mb-5 rounded-md px-3.5 py-2.5 text-sm ${isGood ? 'bg-good-wash text-good' : 'bg-bad-wash text-bad'}`}
    >
      {text(source.name)}
    </p>
  )
}
