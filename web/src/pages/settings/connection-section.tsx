import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import type { ConnectionView } from '../../../../src/dashboard/contract.ts'
import { send } from '../../api.ts'
import { connectionQuery } from '../../queries.ts'
import type { ConnectableSource } from '../../sources.ts'
import { Button } from '../../ui/button.tsx'
import { ConfirmDialog } from '../../ui/dialog.tsx'
import { Section } from '../../ui/section.tsx'
import { Badge, ErrorState, Skeleton } from '../../ui/states.tsx'
import { dateOf } from '../../ui/time.tsx'
import { useToast } from '../../ui/toast.tsx'
import { WayIn } from '../connect/connect-source.tsx'
import { SwitchedOff } from '../sheet/state-banner.tsx'

const disconnectFrom = (provider: string) => send('POST /{provider}/disconnect', { names: { provider } })

export function ConnectionSection({ source }: { source: ConnectableSource }) {
  const { provider, name } = source
  const { data, error, isPending, refetch } = useQuery(connectionQuery(provider))
  return (
    <Section title={name} about={`The ${name} account Rowport uses.`}>
      <SwitchedOff off={source.connection.switchedOff} />
      {isPending && source.isOffered && <Skeleton lines={4} />}
      {error && !data && <ErrorState error={error} onRetry={() => refetch()} />}
      {!(data?.isConfigured ?? source.isOffered) && (
        <p className="text-sm text-soft">{source.connection.notSetUp}</p>
      )}
      {data?.isConfigured && !data.connection && (
        <>
          <p className="mb-3 text-sm text-soft">No {name} account is connected.</p>
          <WayIn source={source} label={`Connect ${name}`} returnTo="/settings" />
        </>
      )}
      {data?.connection && <Connection source={source} of={data.connection} />}
    </Section>
  )
}

function Connection({
  source,
  of: { email, state, reason, connectedAtMs, sheets },
}: {
  source: ConnectableSource
  of: NonNullable<ConnectionView['connection']>
}) {
  const { provider, name } = source
  const queryClient = useQueryClient()
  const toast = useToast()
  const [isAsking, setIsAsking] = useState(false)
  const disconnect = useMutation({
    mutationFn: disconnectFrom,
    onSuccess: (outcome) => {
      void queryClient.invalidateQueries()
      setIsAsking(false)
      toast(
        outcome[`isRevokedAt${name}`]
          ? `Disconnected, and access revoked in ${name}.`
          : `Disconnected here. To end the access at ${name} too, ${outcome.endItThere}.`,
      )
    },
  })
  return (
    <>
      <div className="mb-3 flex flex-wrap items-center gap-x-3 gap-y-1">
        <span className="font-medium">{email}</span>
        {state === 'valid' ? (
          <Badge tone="good">Connected</Badge>
        ) : (
          <Badge tone="warn">Reconnect needed</Badge>
        )}
      </div>
      <p className="mb-4 text-sm text-soft">
        {state === 'valid'
          ? `Since ${dateOf(connectedAtMs)}. ${sheets} ${sheets === 1 ? 'sheet uses' : 'sheets use'} it.`
          : `${reason ?? `${name} access was revoked or has expired.`} Until you reconnect, ${sheets} ${sheets === 1 ? 'sheet returns' : 'sheets return'} 503 token_expired.`}
      </p>
      <div className="flex flex-wrap items-start gap-2">
        <WayIn
          source={source}
          label="Reconnect"
          returnTo="/settings"
          hasOtherWays={state !== 'valid'}
          beside={<Button onClick={() => setIsAsking(true)}>Disconnect</Button>}
        />
      </div>
      <ConfirmDialog
        title={`Disconnect ${name}?`}
        confirm="Disconnect"
        isOpen={isAsking}
        isBusy={disconnect.isPending}
        error={disconnect.error?.message}
        onConfirm={() => disconnect.mutate(provider)}
        onClose={() => {
          setIsAsking(false)
          disconnect.reset()
        }}
      >
        <p>
          This revokes Rowport’s access in {name} and deletes the stored credentials.{' '}
          <strong>
            {sheets} {sheets === 1 ? 'sheet' : 'sheets'}
          </strong>{' '}
          will return 503 token_expired until you reconnect. URLs and keys stay the same.
        </p>
      </ConfirmDialog>
    </>
  )
}
