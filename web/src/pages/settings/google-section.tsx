import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import type { GoogleView } from '../../../../src/dashboard/contract.ts'
import { send } from '../../api.ts'
import { googleQuery } from '../../queries.ts'
import { Button } from '../../ui/button.tsx'
import { ConfirmDialog } from '../../ui/dialog.tsx'
import { Section } from '../../ui/section.tsx'
import { Badge, ErrorState, Skeleton } from '../../ui/states.tsx'
import { dateOf } from '../../ui/time.tsx'
import { useToast } from '../../ui/toast.tsx'
import { GoToGoogle } from '../connect/connect-google.tsx'

const disconnectGoogle = () => send('POST /google/disconnect', {})

export function GoogleSection() {
  const google = useQuery(googleQuery)
  return (
    <Section title="Google" about="Whose spreadsheets Rowport reads and writes.">
      {google.isPending && <Skeleton lines={4} />}
      {google.error && !google.data && <ErrorState error={google.error} onRetry={() => google.refetch()} />}
      {google.data && !google.data.isConfigured && (
        <p className="text-sm text-soft">
          This server has no Google client yet. Its operator sets GOOGLE_CLIENT_ID and GOOGLE_CLIENT_SECRET.
        </p>
      )}
      {google.data?.isConfigured && !google.data.connection && (
        <>
          <p className="mb-3 text-sm text-soft">No Google account is connected.</p>
          <GoToGoogle label="Connect Google" returnTo="/settings" />
        </>
      )}
      {google.data?.connection && <Connection of={google.data.connection} />}
    </Section>
  )
}

function Connection({
  of: { email, state, reason, connectedAtMs, sheets },
}: {
  of: NonNullable<GoogleView['connection']>
}) {
  const queryClient = useQueryClient()
  const toast = useToast()
  const [isAsking, setIsAsking] = useState(false)
  const disconnect = useMutation({
    mutationFn: disconnectGoogle,
    onSuccess: ({ isRevokedAtGoogle }) => {
      void queryClient.invalidateQueries()
      setIsAsking(false)
      toast(
        isRevokedAtGoogle
          ? 'Disconnected, and revoked at Google.'
          : 'Disconnected. Google could not be told; remove Rowport in your Google account as well.',
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
          <Badge tone="warn">Needs reconnect</Badge>
        )}
      </div>
      <p className="mb-4 text-sm text-soft">
        {state === 'valid'
          ? `Since ${dateOf(connectedAtMs)}. ${sheets} ${sheets === 1 ? 'sheet uses' : 'sheets use'} it.`
          : `${reason ?? 'Google no longer accepts the permission.'} Until you reconnect, ${sheets} ${sheets === 1 ? 'sheet answers' : 'sheets answer'} 503 token_expired.`}
      </p>
      <div className="flex flex-wrap items-start gap-2">
        <GoToGoogle label="Reconnect" returnTo="/settings" />
        <Button onClick={() => setIsAsking(true)}>Disconnect</Button>
      </div>
      <ConfirmDialog
        title="Disconnect Google?"
        confirm="Disconnect"
        isOpen={isAsking}
        isBusy={disconnect.isPending}
        error={disconnect.error?.message}
        onConfirm={() => disconnect.mutate()}
        onClose={() => {
          setIsAsking(false)
          disconnect.reset()
        }}
      >
        <p>
          The permission is revoked at Google and forgotten here.{' '}
          <strong>
            {sheets} {sheets === 1 ? 'sheet' : 'sheets'}
          </strong>{' '}
          will answer 503 token_expired until you connect again; their addresses and keys stay.
        </p>
      </ConfirmDialog>
    </>
  )
}
