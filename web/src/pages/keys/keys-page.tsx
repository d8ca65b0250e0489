import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import type { KeyView, NewKeyView } from '../../../../src/dashboard/contract.ts'
import { keysQuery } from '../../queries.ts'
import { useTitle } from '../../shell/use-title.ts'
import { Button } from '../../ui/button.tsx'
import { DataTable } from '../../ui/data-table.tsx'
import { Badge, EmptyState, ErrorState, PageHeader, Skeleton } from '../../ui/states.tsx'
import { Ago, dateOf } from '../../ui/time.tsx'
import { CreateKey } from './create-key.tsx'
import { EndKey, type KeyEnding } from './end-key.tsx'
import { NewKeyDialog } from './new-key-dialog.tsx'

export function KeysPage() {
  useTitle('API keys')
  const keys = useQuery(keysQuery)
  const [isCreating, setIsCreating] = useState(false)
  const [made, setMade] = useState<NewKeyView | null>(null)
  const [ending, setEnding] = useState<KeyEnding | null>(null)
  const active = keys.data?.filter(({ revokedAtMs }) => revokedAtMs === null) ?? []
  const revoked = keys.data?.filter(({ revokedAtMs }) => revokedAtMs !== null) ?? []
  const create = (
    <Button look="primary" onClick={() => setIsCreating(true)}>
      Create key
    </Button>
  )
  return (
    <>
      <PageHeader title="API keys" action={active.length > 0 && create}>
        A key opens your sheets to a program. Keep it in an environment variable, never in a web page or a
        repository.
      </PageHeader>
      {keys.isPending && <Skeleton lines={6} />}
      {keys.error && !keys.data && <ErrorState error={keys.error} onRetry={() => keys.refetch()} />}
      {keys.data && active.length === 0 && (
        <EmptyState title="No API key yet" action={create}>
          Clients send a key with every request. Make one for each program, so that you can end one without
          the others.
        </EmptyState>
      )}
      {active.length > 0 && (
        <DataTable
          caption="Active API keys"
          rows={active}
          keyOf={({ id }) => id}
          columns={[
            { title: 'Key', cell: (key) => <KeyName of={key} /> },
            { title: 'Opens', cell: ({ sheetSlug }) => sheetSlug ?? 'all sheets', isOptional: true },
            { title: 'Created', cell: ({ createdAtMs }) => dateOf(createdAtMs), isOptional: true },
            {
              title: 'Last used',
              cell: ({ lastUsedAtMs }) => <Ago atMs={lastUsedAtMs} />,
              isOptional: true,
            },
            {
              title: 'Actions',
              isActions: true,
              cell: (key) => (
                <div className="-mr-3 flex flex-col items-end md:flex-row md:justify-end">
                  <Button look="quiet" onClick={() => setEnding({ key, how: 'regenerate' })}>
                    Regenerate<span className="sr-only"> {key.name}</span>
                  </Button>
                  <Button
                    look="quiet"
                    className="text-bad!"
                    onClick={() => setEnding({ key, how: 'revoke' })}
                  >
                    Revoke<span className="sr-only"> {key.name}</span>
                  </Button>
                </div>
              ),
            },
          ]}
        />
      )}
      {revoked.length > 0 && (
        <details className="mt-6">
          <summary className="rounded-md text-sm text-soft">{revoked.length} revoked</summary>
          <ul className="mt-2 space-y-1 text-sm text-soft">
            {revoked.map((key) => (
              <li key={key.id}>
                {key.name} <ShownKey of={key} /> revoked {dateOf(key.revokedAtMs ?? 0)}
              </li>
            ))}
          </ul>
        </details>
      )}
      <CreateKey
        isOpen={isCreating}
        onClose={() => setIsCreating(false)}
        onMade={(view) => {
          setIsCreating(false)
          setMade(view)
        }}
      />
      <EndKey
        ending={ending}
        onClose={() => setEnding(null)}
        onMade={(view) => {
          setEnding(null)
          setMade(view)
        }}
      />
      <NewKeyDialog made={made} onClose={() => setMade(null)} />
    </>
  )
}

function KeyName({ of: key }: { of: KeyView }) {
  const { name, mode, scope, sheetSlug, createdAtMs, lastUsedAtMs } = key
  return (
    <>
      <span className="flex flex-wrap items-center gap-x-2 gap-y-1">
        <span className="font-medium wrap-anywhere">{name}</span>
        <Badge tone={mode === 'live' ? 'good' : 'plain'}>{mode}</Badge>
        <Badge tone="plain">{scope === 'read' ? 'read' : 'read and write'}</Badge>
      </span>
      <span className="text-soft">
        <ShownKey of={key} />
      </span>
      {/* What the columns say where there is room for them. */}
      <span className="block text-[13px] text-soft md:hidden">
        Opens {sheetSlug ?? 'all sheets'}. Created {dateOf(createdAtMs)}, last used{' '}
        <Ago atMs={lastUsedAtMs} />.
      </span>
    </>
  )
}

function ShownKey({ of: { shownStart, shownEnd } }: { of: KeyView }) {
  return (
    <code className="font-mono text-[13px]">
      {shownStart}…{shownEnd}
    </code>
  )
}
