import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import type { NewWebhookView, ReplayInput, WebhookView } from '../../../../src/dashboard/contract.ts'
import { send } from '../../api.ts'
import { deliveriesQuery, webhooksQuery } from '../../queries.ts'
import { Button } from '../../ui/button.tsx'
import { ConfirmDialog, Dialog } from '../../ui/dialog.tsx'
import { FormError } from '../../ui/field.tsx'
import { useToast } from '../../ui/toast.tsx'
import { Deliveries } from './deliveries.tsx'

const testWebhook = (id: string) => send('POST /webhooks/{id}/test', { names: { id } })
const turn = ({ id, isOn }: { id: string; isOn: boolean }) =>
  send('PATCH /webhooks/{id}', { names: { id }, input: { isOn } })
const rotate = (id: string) => send('POST /webhooks/{id}/rotate', { names: { id } })
const replay = ({ id, since }: { id: string } & ReplayInput) =>
  send('POST /webhooks/{id}/replay', { names: { id }, input: { since } })
const remove = (id: string) => send('POST /webhooks/{id}/remove', { names: { id } })

type Asked = { how: 'rotate' | 'remove' } | ({ how: 'replay' } & ReplayInput)

/** Beside the list: what was sent, and all that can be done with a webhook. */
export function WebhookDetails({
  of: webhook,
  onClose,
  onRotated,
}: {
  of: WebhookView | null
  onClose(): void
  onRotated(made: NewWebhookView): void
}) {
  return (
    <Dialog title="Webhook" isOpen={webhook !== null} isSide onClose={onClose}>
      {webhook && <Details key={webhook.id} webhook={webhook} onClose={onClose} onRotated={onRotated} />}
    </Dialog>
  )
}

function Details({
  webhook,
  onClose,
  onRotated,
}: {
  webhook: WebhookView
  onClose(): void
  onRotated(made: NewWebhookView): void
}) {
  const { id, url, state, offReason } = webhook
  const toast = useToast()
  const queryClient = useQueryClient()
  const deliveries = useQuery(deliveriesQuery(id))
  const [asked, setAsked] = useState<Asked | null>(null)
  const onSuccess = () => queryClient.invalidateQueries({ queryKey: webhooksQuery.queryKey })
  const testing = useMutation({ mutationFn: testWebhook, onSuccess })
  const turning = useMutation({ mutationFn: turn, onSuccess })
  const rotating = useMutation({ mutationFn: rotate, onSuccess: onRotated })
  const replaying = useMutation({
    mutationFn: replay,
    onSuccess: ({ waiting }) => {
      void onSuccess()
      setAsked(null)
      toast(`Sending ${waiting} again.`)
    },
  })
  const removing = useMutation({
    mutationFn: remove,
    onSuccess: () => {
      // Not its deliveries, which are gone with it.
      void queryClient.invalidateQueries({ queryKey: webhooksQuery.queryKey, exact: true })
      toast('Webhook removed.')
      onClose()
    },
  })
  const isOn = state === 'on'
  const asking = asked && { rotate: rotating, remove: removing, replay: replaying }[asked.how]
  return (
    <>
      <p className="font-mono text-caption wrap-anywhere">{url}</p>
      {offReason && (
        <p className="mt-2 rounded-md bg-bad-wash px-3 py-2 text-sm text-bad">
          Turned off: {offReason}. Nothing is lost while the changes are kept.
        </p>
      )}
      <div className="mt-4 flex flex-wrap gap-2">
        <Button isBusy={testing.isPending} onClick={() => testing.mutate(id)}>
          Send test event
        </Button>
        <Button isBusy={turning.isPending} onClick={() => turning.mutate({ id, isOn: !isOn })}>
          {isOn ? 'Pause' : state === 'off' ? 'Turn on' : 'Resume'}
        </Button>
        <Button onClick={() => setAsked({ how: 'replay', since: 'earliest' })}>Send all again</Button>
        <Button onClick={() => setAsked({ how: 'rotate' })}>Rotate secret</Button>
        <Button className="text-bad!" onClick={() => setAsked({ how: 'remove' })}>
          Remove
        </Button>
        <Button look="quiet" onClick={onClose}>
          Close
        </Button>
      </div>
      <p aria-live="polite" className="mt-2 min-h-5 text-caption">
        {testing.data?.failure && (
          <span className="text-bad">Test not accepted: {testing.data.failure}.</span>
        )}
        {testing.data && !testing.data.failure && (
          <span className="text-good">
            Test accepted: {testing.data.status} in {testing.data.durationMs} ms.
          </span>
        )}
      </p>
      <FormError>{(testing.error ?? turning.error)?.message}</FormError>
      <Deliveries query={deliveries} onReplay={(since) => setAsked({ how: 'replay', since })} />
      <Question
        asked={asked}
        isBusy={asking?.isPending ?? false}
        error={asking?.error?.message}
        onConfirm={() => {
          if (asked?.how === 'rotate') rotating.mutate(id)
          if (asked?.how === 'remove') removing.mutate(id)
          if (asked?.how === 'replay') replaying.mutate({ id, since: asked.since })
        }}
        onClose={() => {
          asking?.reset()
          setAsked(null)
        }}
      />
    </>
  )
}

const questions = {
  rotate: {
    title: 'Rotate the secret?',
    confirm: 'Rotate secret',
    about: 'You get a new secret. The old one signs too for 24 hours, so you have time to replace it.',
  },
  remove: {
    title: 'Remove this webhook?',
    confirm: 'Remove webhook',
    about: 'Nothing more is sent there, and its deliveries and secret are deleted. This can’t be undone.',
  },
  replay: {
    title: 'Send again?',
    confirm: 'Send again',
    about: 'Everything after this point that is still kept is sent once more, with new message ids.',
  },
}

function Question({
  asked,
  ...rest
}: {
  asked: Asked | null
  isBusy: boolean
  error: string | undefined
  onConfirm(): void
  onClose(): void
}) {
  const { title, confirm, about } = questions[asked?.how ?? 'remove']
  return (
    <ConfirmDialog title={title} confirm={confirm} isOpen={asked !== null} {...rest}>
      <p>{about}</p>
    </ConfirmDialog>
  )
}
