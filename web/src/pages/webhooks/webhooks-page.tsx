import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import type { NewWebhookView, WebhookView } from '../../../../src/dashboard/contract.ts'
import { basePath } from '../../base-path.ts'
import { webhooksQuery } from '../../queries.ts'
import { useTitle } from '../../shell/use-title.ts'
import { Button } from '../../ui/button.tsx'
import { DataTable } from '../../ui/data-table.tsx'
import { useFirst } from '../../ui/list/list-tools.tsx'
import { Badge, EmptyState, ErrorState, PageHeader, Skeleton } from '../../ui/states.tsx'
import { Ago } from '../../ui/time.tsx'
import { AddWebhook } from './add-webhook.tsx'
import { NewSecretDialog } from './new-secret-dialog.tsx'
import { WebhookDetails } from './webhook-details.tsx'

export function WebhooksPage() {
  useTitle('Webhooks')
  const webhooks = useQuery(webhooksQuery)
  const [isAdding, setIsAdding] = useState(false)
  const [made, setMade] = useState<NewWebhookView | null>(null)
  const [openId, setOpenId] = useState<string | null>(null)
  const all = webhooks.data ?? []
  const { shown, more } = useFirst(all)
  const add = (
    <Button look="primary" onClick={() => setIsAdding(true)}>
      Add webhook
    </Button>
  )
  const docs = (
    <a href={`${basePath}/docs/webhooks`} className="text-accent underline underline-offset-2">
      How receivers work
    </a>
  )
  return (
    <>
      <PageHeader title="Webhooks" action={all.length > 0 && add}>
        Rowport calls your URL when rows change or something goes wrong. {docs}
      </PageHeader>
      {webhooks.isPending && <Skeleton lines={6} />}
      {webhooks.error && !webhooks.data && (
        <ErrorState error={webhooks.error} onRetry={() => webhooks.refetch()} />
      )}
      {webhooks.data?.length === 0 && (
        <EmptyState title="No webhooks yet" action={add}>
          Every change is sent at least once and in order, signed with a secret only you know.
        </EmptyState>
      )}
      {shown.length > 0 && (
        <DataTable
          caption="Webhooks"
          rows={shown}
          keyOf={({ id }) => id}
          columns={[
            { title: 'URL', cell: (webhook) => <WebhookName of={webhook} /> },
            {
              title: 'Sends',
              isOptional: true,
              cell: (webhook) => <span className="whitespace-nowrap">{whatIsSent(webhook)}</span>,
            },
            { title: 'Waiting', isNumber: true, isOptional: true, cell: ({ waiting }) => waiting },
            {
              title: 'Actions',
              isActions: true,
              cell: ({ id, url }) => (
                <Button look="quiet" className="-mr-3" onClick={() => setOpenId(id)}>
                  Manage<span className="sr-only"> {url}</span>
                </Button>
              ),
            },
          ]}
        />
      )}
      {more}
      <AddWebhook
        isOpen={isAdding}
        onClose={() => setIsAdding(false)}
        onMade={(view) => {
          setIsAdding(false)
          setMade(view)
        }}
      />
      <WebhookDetails
        of={all.find(({ id }) => id === openId) ?? null}
        onClose={() => setOpenId(null)}
        onRotated={(view) => {
          setOpenId(null)
          setMade(view)
        }}
      />
      <NewSecretDialog made={made} onClose={() => setMade(null)} />
    </>
  )
}

function WebhookName({ of: webhook }: { of: WebhookView }) {
  const { url, offReason, nextAttemptAtMs, waiting } = webhook
  return (
    <>
      <span className="flex flex-wrap items-center gap-x-2 gap-y-1">
        <span className="font-mono text-caption wrap-anywhere">{url}</span>
        <WebhookState of={webhook} />
      </span>
      {offReason && <span className="block text-caption text-bad">Turned off: {offReason}.</span>}
      {nextAttemptAtMs !== null && (
        <span className="block text-caption text-warn">
          Next attempt <Ago atMs={nextAttemptAtMs} />
        </span>
      )}
      {/* What the columns say where there is room for them. */}
      <span className="block text-caption text-soft md:hidden">
        {whatIsSent(webhook)}, {waiting} waiting
      </span>
    </>
  )
}

function WebhookState({ of: { state, attempts } }: { of: WebhookView }) {
  if (state === 'off') return <Badge tone="bad">off</Badge>
  if (state === 'paused') return <Badge tone="plain">paused</Badge>
  return attempts > 0 ? <Badge tone="warn">failing</Badge> : <Badge tone="good">on</Badge>
}

function whatIsSent({ sheetSlug, kinds, columns }: WebhookView): string {
  if (sheetSlug === null) return 'Account events'
  const some = [kinds?.join(', '), columns && `columns ${columns.join(', ')}`].filter(Boolean).join('; ')
  return some === '' ? `Changes of ${sheetSlug}` : `Changes of ${sheetSlug} (${some})`
}
